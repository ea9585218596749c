"""Tunings of parameters, and their steps as work."""

import functools
import operator

import django.db.models.deletion
from django.db import migrations, models
from django.db.models import Q

ID = models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')
SUBJECTS = ('judgement', 'consultation', 'table', 'build', 'fetch', 'tuning')
VERDICTS = [
    ('stronger', 'better than the previous version'),
    ('not_stronger', 'not better than the previous version'),
    ('cap', 'no difference found'),
    ('superseded', 'ended by a newer version'),
]


def _only(subject: str) -> Q:
    return Q(**{f'{name}__isnull': name != subject for name in SUBJECTS})


def _to(model: str, name: str, **more: object) -> models.ForeignKey:
    return models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name=name, to=f'league.{model}', **more)


def _forget(apps, schema_editor) -> None:
    """Remove, on the way back, what the release before does not know."""
    apps.get_model('league', 'Job').objects.filter(kind='tuning').delete()


class Migration(migrations.Migration):

    dependencies = [('league', '0008_webhooks')]

    operations = [
        migrations.CreateModel(
            name='Tuning',
            fields=[
                ('id', ID),
                ('game', models.CharField(max_length=30)),
                ('won', models.PositiveIntegerField(default=0)),
                ('drawn', models.PositiveIntegerField(default=0)),
                ('lost', models.PositiveIntegerField(default=0)),
                ('llr', models.FloatField(default=0.0)),
                ('matches', models.PositiveIntegerField(default=0)),
                ('verdict', models.CharField(blank=True, choices=VERDICTS, max_length=20)),
                ('begun', models.DateTimeField()),
                ('decided', models.DateTimeField(null=True)),
                ('parameters', models.JSONField()),
                ('values', models.JSONField()),
                ('course', models.JSONField(default=list)),
                ('boards', models.PositiveIntegerField()),
                ('played', models.PositiveIntegerField(default=0)),
                ('spent_s', models.FloatField(default=0.0)),
                ('tested', models.DateTimeField(null=True)),
                ('why', models.TextField(blank=True, default='')),
                ('opponent', _to('botversion', '+', null=True)),
                ('player', _to('player', 'tunings')),
                ('version', _to('botversion', 'tunings')),
            ],
            options={
                'constraints': [
                    models.UniqueConstraint(condition=Q(decided=None), fields=('player',), name='tuning_one_at_a_time'),
                    models.CheckConstraint(
                        condition=Q(verdict__in=[*(word for word, _ in VERDICTS), '']), name='tuning_verdict_word'
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name='TuningStep',
            fields=[
                ('id', ID.clone()),
                ('number', models.PositiveIntegerField()),
                ('secret', models.BinaryField(max_length=32)),
                ('plus', models.JSONField()),
                ('minus', models.JSONField()),
                ('change', models.JSONField()),
                ('result', models.JSONField(null=True)),
                ('finished', models.DateTimeField(null=True)),
                ('tuning', _to('tuning', 'steps')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('tuning', 'number'), name='tuning_step_once')],
                'indexes': [
                    models.Index(
                        condition=Q(finished__isnull=False), fields=['finished'], name='tuning_step_finished'
                    )
                ],
            },
        ),
        migrations.AddField('job', 'tuning', _to('tuningstep', 'jobs', db_index=False, null=True)),
        migrations.RemoveConstraint('job', 'job_one_subject'),
        migrations.AddConstraint(
            'job',
            models.UniqueConstraint(condition=Q(tuning__isnull=False), fields=('kind', 'tuning'), name='job_once_tuning'),
        ),
        migrations.AddConstraint(
            'job',
            models.CheckConstraint(condition=functools.reduce(operator.or_, map(_only, SUBJECTS)), name='job_one_subject'),
        ),
        migrations.RunPython(migrations.RunPython.noop, _forget),
    ]
