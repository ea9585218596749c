"""Cases: results of two owners that their ratings do not explain; clearer words for the usual entry policy; the order of tables by certain Elo."""

import django.db.models.deletion
from django.db import migrations, models

from league.service.migrating import AddIndexMeanwhile


class Migration(migrations.Migration):

    atomic = False
    dependencies = [
        ('league', '0015_ratings_nobody_bends'),
    ]

    operations = [
        AddIndexMeanwhile("rating", models.Index(fields=["pool", "-certain"], name="rating_by_certain")),
        AddIndexMeanwhile(
            "rating",
            models.Index(
                condition=models.Q(listed=True),
                fields=["pool", "-certain", "version", "provisional"],
                name="rating_listed_certain",
            ),
        ),
        AddIndexMeanwhile(
            "rating",
            models.Index(
                condition=models.Q(idle=False, listed=True),
                fields=["pool", "-certain", "version"],
                name="rating_active_certain",
            ),
        ),
        migrations.AlterField(
            model_name='bot',
            name='entry_policy',
            field=models.CharField(choices=[('usual', 'default: anyone in public leagues; with your permission in other events'), ('anybody', 'anyone'), ('ask', 'only with your permission'), ('nobody', 'nobody')], db_default='usual', default='usual', max_length=10),
        ),
        migrations.CreateModel(
            name='Case',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('boards', models.PositiveIntegerField()),
                ('points', models.FloatField()),
                ('expected', models.FloatField()),
                ('deviations', models.FloatField()),
                ('created', models.DateTimeField()),
                ('conclusion', models.CharField(blank=True, choices=[('honest', 'harmless difference'), ('bent', 'outside help suspected'), ('unclear', 'unexplained')], db_default='', max_length=10)),
                ('why', models.TextField(blank=True, db_default='')),
                ('closed_by', models.CharField(blank=True, db_default='', max_length=80)),
                ('closed', models.DateTimeField(null=True)),
                ('loser', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='league.player')),
                ('pool', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='cases', to='league.pool')),
                ('winner', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='league.player')),
            ],
            options={
                'indexes': [models.Index(condition=models.Q(('closed', None)), fields=['-deviations'], name='case_open')],
                'constraints': [models.UniqueConstraint(condition=models.Q(('closed', None)), fields=('pool', 'loser', 'winner'), name='case_open_once'), models.CheckConstraint(condition=models.Q(('conclusion__in', ['honest', 'bent', 'unclear', ''])), name='case_conclusion_word')],
            },
        ),
    ]
