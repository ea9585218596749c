"""Open data: who accepted its licence, and the files with their parts."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [('league', '0006_git')]

    operations = [
        migrations.AddField('player', 'open_data', models.DateTimeField(null=True)),
        migrations.CreateModel(
            name='DataFile',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('game', models.CharField(max_length=40)),
                ('month', models.DateField()),
                ('matches', models.PositiveIntegerField(default=0)),
                ('replays', models.PositiveIntegerField(default=0)),
                ('bytes', models.BigIntegerField(default=0)),
                ('sha256', models.CharField(blank=True, default='', max_length=64)),
                ('renewed', models.DateTimeField()),
                ('written', models.DateTimeField(null=True)),
            ],
            options={'constraints': [models.UniqueConstraint(fields=('month', 'game'), name='data_file_once')]},
        ),
        migrations.CreateModel(
            name='DataPart',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveIntegerField()),
                ('data', models.BinaryField()),
                (
                    'file',
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name='parts',
                        to='league.datafile',
                    ),
                ),
            ],
            options={'constraints': [models.UniqueConstraint(fields=('file', 'number'), name='data_part_once')]},
        ),
    ]
