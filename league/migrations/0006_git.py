"""Fetches from Git repositories, and the links of bots with them."""

import functools
import operator

import django.db.models.deletion
from django.db import migrations, models
from django.db.models import Q

SUBJECTS = ('judgement', 'consultation', 'table', 'build', 'fetch')


def _only(subject: str) -> Q:
    return Q(**{f'{name}__isnull': name != subject for name in SUBJECTS})


def _forget(apps, schema_editor) -> None:
    """Remove, on the way back, what the release before does not know."""
    apps.get_model('league', 'Job').objects.filter(kind='fetch').delete()


class Migration(migrations.Migration):

    dependencies = [('league', '0005_builds')]

    operations = [
        migrations.CreateModel(
            name='GitLink',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('url', models.CharField(max_length=300)),
                ('folder', models.CharField(blank=True, default='', max_length=120)),
                ('salt', models.CharField(blank=True, default='', max_length=32)),
                ('created', models.DateTimeField()),
                (
                    'bot',
                    models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='git_link', to='league.bot'),
                ),
                (
                    'player',
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name='git_links', to='league.player'
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name='Fetch',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('bot_name', models.CharField(max_length=40)),
                ('url', models.CharField(max_length=300)),
                ('folder', models.CharField(blank=True, default='', max_length=120)),
                ('tag', models.CharField(max_length=100)),
                ('pushed', models.CharField(blank=True, default='', max_length=64)),
                ('commit', models.CharField(blank=True, default='', max_length=40)),
                ('why', models.TextField(blank=True, default='')),
                ('result', models.BinaryField(null=True)),
                ('created', models.DateTimeField()),
                ('finished', models.DateTimeField(null=True)),
                (
                    'player',
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name='fetches', to='league.player'
                    ),
                ),
                (
                    'version',
                    models.OneToOneField(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name='fetch',
                        to='league.botversion',
                    ),
                ),
            ],
            options={
                'indexes': [
                    models.Index(fields=['bot_name', 'id'], name='fetch_of_bot'),
                    models.Index(condition=Q(version=None), fields=['created'], name='fetch_without_version'),
                ],
                'constraints': [
                    models.UniqueConstraint(
                        condition=~Q(pushed=''),
                        fields=('bot_name', 'url', 'folder', 'tag', 'pushed'),
                        name='fetch_delivery_once',
                    )
                ],
            },
        ),
        migrations.AddField(
            'job',
            'fetch',
            models.ForeignKey(
                db_index=False, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='jobs', to='league.fetch'
            ),
        ),
        migrations.RemoveConstraint('job', 'job_one_subject'),
        migrations.AddConstraint(
            'job',
            models.UniqueConstraint(condition=Q(fetch__isnull=False), fields=('kind', 'fetch'), name='job_once_fetch'),
        ),
        migrations.AddConstraint(
            'job',
            models.CheckConstraint(condition=functools.reduce(operator.or_, map(_only, SUBJECTS)), name='job_one_subject'),
        ),
        migrations.RunPython(migrations.RunPython.noop, _forget),
    ]
