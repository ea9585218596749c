"""Ratings and streaks of puzzles, players' own mistakes as puzzles, and notices of the puzzle of the day."""

import functools
import operator

import django.db.models.deletion
from django.db import migrations, models
from django.db.models import Q

from league.service.migrating import AddConstraintUnchecked, CheckOldRows

ID = models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')
RATING = [
    ('rating', models.FloatField(default=1500.0)),
    ('deviation', models.FloatField(default=350.0)),
    ('volatility', models.FloatField(default=0.06)),
    ('answers', models.PositiveIntegerField(default=0)),
]
KINDS = [
    ('failed', 'One of my bots fails'),
    ('overtaken', 'One of my bots is overtaken'),
    ('asked', 'Somebody asks for one of my bots or challenges it'),
    ('table', 'A table waits for me'),
    ('event', 'A tournament that I play in or follow starts or ends'),
    ('assignment', 'An assignment of my class is due'),
    ('followed', 'A bot or player that I follow has news'),
    ('talk', 'Somebody comments on what is mine, or answers me'),
    ('puzzle', 'The puzzle of the day'),
]
WORDS = (('notice', 'notice_kind_word'), ('noticechoice', 'notice_choice_kind_word'))
SUBJECTS = ('judgement', 'consultation', 'table', 'build', 'fetch', 'tuning', 'mistake_search')
CASCADE = django.db.models.deletion.CASCADE


def _widened(model: str, name: str) -> list:
    words = models.CheckConstraint(condition=Q(kind__in=list(dict(KINDS))), name=name)
    return [
        migrations.RemoveConstraint(model_name=model, name=name),
        migrations.AlterField(model, 'kind', models.CharField(choices=KINDS, max_length=12)),
        AddConstraintUnchecked(model, words),
    ]


def _only(subject: str) -> Q:
    return Q(**{f'{name}__isnull': name != subject for name in SUBJECTS})


def _forget(apps, schema_editor) -> None:
    """Remove, on the way back, what the release before does not know."""
    apps.get_model('league', 'Job').objects.filter(kind='mistakes').delete()
    for model in ('Notice', 'NoticeChoice'):
        apps.get_model('league', model).objects.filter(kind='puzzle').delete()


class Migration(migrations.Migration):

    atomic = False
    dependencies = [('league', '0011_explorer')]

    operations = [
        *(step for model, name in WORDS for step in _widened(model, name)),
        migrations.CreateModel(
            name='PuzzleRating',
            fields=[
                *((name, field.clone()) for name, field in RATING),
                ('puzzle', models.CharField(max_length=12, primary_key=True, serialize=False)),
            ],
            options={'abstract': False},
        ),
        migrations.CreateModel(
            name='Solver',
            fields=[
                *((name, field.clone()) for name, field in RATING),
                (
                    'player',
                    models.OneToOneField(
                        on_delete=CASCADE,
                        primary_key=True,
                        related_name='solver',
                        serialize=False,
                        to='league.player',
                    ),
                ),
                ('zone', models.CharField(default='UTC', max_length=60)),
                ('day', models.DateField(null=True)),
                ('streak', models.PositiveIntegerField(default=0)),
                ('longest', models.PositiveIntegerField(default=0)),
            ],
            options={'abstract': False},
        ),
        migrations.CreateModel(
            name='MistakeSearch',
            fields=[
                ('id', ID),
                ('created', models.DateTimeField()),
                ('finished', models.DateTimeField(null=True)),
                (
                    'player',
                    models.ForeignKey(
                        db_index=False, on_delete=CASCADE, related_name='mistake_searches', to='league.player'
                    ),
                ),
                (
                    'table',
                    models.ForeignKey(null=True, on_delete=CASCADE, related_name='mistake_searches', to='league.table'),
                ),
                (
                    'judgement',
                    models.ForeignKey(
                        null=True, on_delete=CASCADE, related_name='mistake_searches', to='league.judgement'
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name='Mistake',
            fields=[
                ('id', ID.clone()),
                ('puzzle', models.CharField(max_length=12)),
                ('line', models.TextField()),
                ('created', models.DateTimeField()),
                ('answers', models.PositiveIntegerField(default=0)),
                ('box', models.PositiveSmallIntegerField(default=0)),
                ('due', models.DateField(null=True)),
                (
                    'player',
                    models.ForeignKey(db_index=False, on_delete=CASCADE, related_name='mistakes', to='league.player'),
                ),
                (
                    'search',
                    models.ForeignKey(on_delete=CASCADE, related_name='mistakes', to='league.mistakesearch'),
                ),
            ],
        ),
        migrations.AddConstraint(
            'mistakesearch', models.UniqueConstraint(fields=('player', 'table'), name='mistake_search_table')
        ),
        migrations.AddConstraint(
            'mistakesearch', models.UniqueConstraint(fields=('player', 'judgement'), name='mistake_search_judgement')
        ),
        migrations.AddConstraint(
            'mistakesearch',
            models.CheckConstraint(
                condition=Q(judgement__isnull=False, table=None) | Q(judgement=None, table__isnull=False),
                name='mistake_search_of_one',
            ),
        ),
        migrations.AddConstraint(
            'mistake', models.UniqueConstraint(fields=('player', 'puzzle'), name='mistake_once')
        ),
        migrations.AddField(
            'job',
            'mistake_search',
            models.ForeignKey(
                db_index=False, null=True, on_delete=CASCADE, related_name='jobs', to='league.mistakesearch'
            ),
        ),
        migrations.RemoveConstraint('job', 'job_one_subject'),
        migrations.AddConstraint(
            'job',
            models.UniqueConstraint(
                condition=Q(mistake_search__isnull=False),
                fields=('kind', 'mistake_search'),
                name='job_once_mistake_search',
            ),
        ),
        migrations.AddConstraint(
            'job',
            models.CheckConstraint(condition=functools.reduce(operator.or_, map(_only, SUBJECTS)), name='job_one_subject'),
        ),
        *(CheckOldRows(model, name) for model, name in WORDS),
        migrations.RunPython(migrations.RunPython.noop, _forget),
    ]
