"""Studies of variants, their parts as work, and opening choices counted by workers."""

import functools
import operator

import django.db.models.deletion
from django.db import migrations, models
from django.db.models import Q

ID = models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')
SUBJECTS = ('judgement', 'consultation', 'table', 'build', 'fetch', 'tuning', 'mistake_search', 'study')
CASCADE, SET_NULL = django.db.models.deletion.CASCADE, django.db.models.deletion.SET_NULL


def _only(subject: str) -> Q:
    return Q(**{f'{name}__isnull': name != subject for name in SUBJECTS})


def _forget(apps, schema_editor) -> None:
    """Remove, on the way back, what the release before does not know."""
    apps.get_model('league', 'Job').objects.filter(kind='study').delete()


class Migration(migrations.Migration):

    dependencies = [('league', '0012_puzzles')]

    operations = [
        migrations.CreateModel(
            name='Study',
            fields=[
                ('id', ID),
                ('key', models.CharField(max_length=24, unique=True)),
                ('game', models.CharField(max_length=30)),
                ('revision', models.PositiveIntegerField()),
                ('players', models.PositiveSmallIntegerField()),
                ('options', models.JSONField()),
                ('inputs', models.JSONField()),
                ('boards', models.PositiveIntegerField()),
                ('played', models.PositiveIntegerField(default=0)),
                ('spent_s', models.FloatField(default=0.0)),
                ('cpu_s', models.FloatField(default=0.0)),
                ('report', models.JSONField(null=True)),
                ('begun', models.DateTimeField()),
                ('decided', models.DateTimeField(null=True)),
                ('why', models.TextField(blank=True, default='')),
                (
                    'parent',
                    models.ForeignKey(null=True, on_delete=SET_NULL, related_name='variants', to='league.study'),
                ),
                (
                    'player',
                    models.ForeignKey(null=True, on_delete=SET_NULL, related_name='studies', to='league.player'),
                ),
            ],
            options={
                'indexes': [
                    models.Index(fields=['game', '-begun'], name='study_of_game'),
                    models.Index(condition=Q(decided=None), fields=['id'], name='study_running'),
                ],
            },
        ),
        migrations.CreateModel(
            name='StudyPart',
            fields=[
                ('id', ID.clone()),
                ('first', models.PositiveIntegerField()),
                ('data', models.BinaryField(null=True)),
                ('digest', models.CharField(blank=True, default='', max_length=64)),
                ('seconds', models.FloatField(default=0.0)),
                ('cpu_s', models.FloatField(default=0.0)),
                ('why', models.TextField(blank=True, default='')),
                ('finished', models.DateTimeField(null=True)),
                ('counted', models.BooleanField(default=False)),
                ('study', models.ForeignKey(on_delete=CASCADE, related_name='parts', to='league.study')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('study', 'first'), name='study_part_once')],
                'indexes': [
                    models.Index(
                        condition=Q(counted=False, finished__isnull=False), fields=['finished'], name='study_part_new'
                    )
                ],
            },
        ),
        migrations.AddField(
            'job',
            'study',
            models.ForeignKey(
                db_index=False, null=True, on_delete=CASCADE, related_name='jobs', to='league.studypart'
            ),
        ),
        migrations.RemoveConstraint('job', 'job_one_subject'),
        migrations.AddConstraint(
            'job',
            models.UniqueConstraint(condition=Q(study__isnull=False), fields=('kind', 'study'), name='job_once_study'),
        ),
        migrations.AddConstraint(
            'job',
            models.CheckConstraint(condition=functools.reduce(operator.or_, map(_only, SUBJECTS)), name='job_one_subject'),
        ),
        migrations.AddField('matchlog', 'choices', models.JSONField(null=True)),
        migrations.RunPython(migrations.RunPython.noop, _forget),
    ]
