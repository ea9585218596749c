from typing import Any

import django.db.models.deletion
from django.db import migrations, models


def as_they_are(apps: Any, editor: Any) -> None:
    """PostgreSQL need not try to compress what is compressed."""
    if editor.connection.vendor == "postgresql":
        editor.execute("ALTER TABLE league_matchlog ALTER COLUMN data SET STORAGE EXTERNAL")


class Migration(migrations.Migration):

    dependencies = [
        ('league', '0043_requests_end'),
    ]

    operations = [
        migrations.CreateModel(
            name='LogDictionary',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('sha256', models.CharField(max_length=64, unique=True)),
                ('data', models.BinaryField()),
            ],
        ),
        migrations.AlterField(
            model_name='sitting',
            name='replay',
            field=models.BinaryField(default=bytes),
        ),
        migrations.CreateModel(
            name='MatchLog',
            fields=[
                ('match', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='log', serialize=False, to='league.match')),
                ('data', models.BinaryField()),
                ('digest', models.CharField(max_length=64)),
                ('dictionary', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='league.logdictionary')),
            ],
        ),
        migrations.RunPython(as_they_are, migrations.RunPython.noop),
    ]
