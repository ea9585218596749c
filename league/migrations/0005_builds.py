"""Builds: versions that are source, and the fault of one that the compiler refuses."""

import django.db.models.deletion
from django.db import migrations, models
from django.db.models import Q

from league.service.migrating import AddConstraintUnchecked, CheckOldRows

FAULTS = [
    ('crash', 'crash'),
    ('timeout', 'timeout'),
    ('start_timeout', 'start timeout'),
    ('memory', 'memory limit'),
    ('output_flood', 'output flood'),
    ('protocol', 'protocol error'),
    ('illegal_action', 'illegal action'),
    ('pondering', 'pondering'),
    ('disconnect', 'disconnect'),
    ('unplayable', 'unplayable'),
    ('build', 'build failed'),
    ('infrastructure', 'infrastructure'),
]
WORDS = (('botversion', 'version'), ('check', 'check'), ('party', 'party'), ('sitting', 'sitting'), ('table', 'table'))
SUBJECTS = ('judgement', 'consultation', 'table', 'build')


def _widened(model: str, table: str) -> list:
    name = f'{table}_fault_word'
    words = models.CheckConstraint(condition=Q(fault__in=[*dict(FAULTS), '']), name=name)
    return [
        migrations.RemoveConstraint(model_name=model, name=name),
        migrations.AlterField(model, 'fault', models.CharField(blank=True, choices=FAULTS, max_length=20)),
        AddConstraintUnchecked(model, words),
    ]


def _only(subject: str) -> Q:
    return Q(**{f'{name}__isnull': name != subject for name in SUBJECTS})


def _forget(apps, schema_editor) -> None:
    """Remove, on the way back, what the release before does not know."""
    apps.get_model('league', 'Job').objects.filter(kind='build').delete()
    apps.get_model('league', 'BotVersion').objects.filter(fault='build').update(fault='crash')


class Migration(migrations.Migration):

    atomic = False
    dependencies = [('league', '0004_remote')]

    operations = [
        *(step for model, table in WORDS for step in _widened(model, table)),
        migrations.AddField(
            'botversion',
            'source',
            models.ForeignKey(
                null=True, on_delete=django.db.models.deletion.PROTECT, related_name='built_versions', to='league.package'
            ),
        ),
        migrations.CreateModel(
            name='Build',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('language', models.CharField(max_length=10)),
                ('log', models.TextField(blank=True, default='')),
                ('why', models.TextField(blank=True, default='')),
                ('toolchain', models.TextField(blank=True, default='')),
                ('digest', models.CharField(blank=True, default='', max_length=64)),
                ('result', models.BinaryField(null=True)),
                ('created', models.DateTimeField()),
                ('finished', models.DateTimeField(null=True)),
                (
                    'version',
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE, related_name='build', to='league.botversion'
                    ),
                ),
            ],
        ),
        migrations.AddField(
            'job',
            'build',
            models.ForeignKey(
                db_index=False, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='jobs', to='league.build'
            ),
        ),
        migrations.RemoveConstraint('job', 'job_one_subject'),
        migrations.AddConstraint(
            'job',
            models.UniqueConstraint(condition=Q(build__isnull=False), fields=('kind', 'build'), name='job_once_build'),
        ),
        migrations.AddConstraint(
            'job',
            models.CheckConstraint(
                condition=_only('judgement') | _only('consultation') | _only('table') | _only('build'), name='job_one_subject'
            ),
        ),
        *(CheckOldRows(model, f'{table}_fault_word') for model, table in WORDS),
        migrations.RunPython(migrations.RunPython.noop, _forget),
    ]
