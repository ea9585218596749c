"""The lobby: tables open to all, challenges by name, and clocks with increment."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('league', '0029_watch'),
    ]

    operations = [
        migrations.AddField(
            model_name='player',
            name='challengeable',
            field=models.BooleanField(db_default=True, default=True),
        ),
        migrations.AddField(
            model_name='table',
            name='barred',
            field=models.JSONField(db_default=[], default=list),
        ),
        migrations.AddField(
            model_name='table',
            name='increment_s',
            field=models.PositiveSmallIntegerField(db_default=0, default=0),
        ),
        migrations.AddField(
            model_name='table',
            name='listed',
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AddField(
            model_name='tableperson',
            name='left_ms',
            field=models.PositiveIntegerField(db_default=0, default=0),
        ),
        migrations.CreateModel(
            name='TableChallenge',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('created', models.DateTimeField()),
                ('answer', models.CharField(blank=True, choices=[('accepted', 'accepted'), ('declined', 'declined'), ('withdrawn', 'withdrawn')], default='', max_length=10)),
                ('challenger', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='league.player')),
                ('player', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='table_challenges', to='league.player')),
                ('table', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='challenges', to='league.table')),
            ],
            options={
                'indexes': [models.Index(fields=['challenger', 'created'], name='table_challenge_sent'), models.Index(fields=['player', 'created'], name='table_challenge_received')],
                'constraints': [models.UniqueConstraint(fields=('table', 'player'), name='table_challenge_once'), models.CheckConstraint(condition=models.Q(('answer__in', ['accepted', 'declined', 'withdrawn', ''])), name='table_challenge_answer_word')],
            },
        ),
    ]
