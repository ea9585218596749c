import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('league', '0020_processes'),
    ]

    operations = [
        migrations.AddField(
            model_name='match',
            name='expected_s',
            field=models.FloatField(db_default=1.0, default=1.0),
        ),
        migrations.AddField(
            model_name='match',
            name='owner',
            field=models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='league.player'),
        ),
        migrations.AddField(
            model_name='match',
            name='virtual_s',
            field=models.FloatField(db_default=0.0, default=0.0),
        ),
    ]
