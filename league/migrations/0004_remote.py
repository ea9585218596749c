"""Remote bots: their connections, lines and pools."""

import django.db.models.deletion
from django.db import migrations, models

from league.service.migrating import AddConstraintUnchecked, CheckOldRows


class Migration(migrations.Migration):

    atomic = False
    dependencies = [
        ('league', '0003_open_bots'),
    ]

    operations = [
        migrations.CreateModel(
            name='RemoteLine',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveIntegerField()),
                ('request', models.TextField()),
                ('answer', models.TextField(null=True)),
                ('party', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='lines', to='league.party')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('party', 'number'), name='remote_line_once')],
            },
        ),
        migrations.CreateModel(
            name='RemoteLink',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('since', models.DateTimeField()),
                ('seen', models.DateTimeField(db_index=True)),
                ('matches', models.PositiveSmallIntegerField(default=1)),
                ('bot', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='link', to='league.bot')),
            ],
        ),
        migrations.RemoveConstraint(
            model_name='botversion',
            name='version_status_word',
        ),
        migrations.RemoveConstraint(
            model_name='match',
            name='match_kind_word',
        ),
        migrations.AddField(
            model_name='bot',
            name='is_remote',
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AddField(
            model_name='pool',
            name='remote',
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AlterField(
            model_name='botversion',
            name='status',
            field=models.CharField(choices=[('validating', 'validating'), ('accepted', 'accepted'), ('rejected', 'rejected'), ('remote', 'remote')], default='validating', max_length=12),
        ),
        migrations.AlterField(
            model_name='match',
            name='kind',
            field=models.CharField(choices=[('tournament', 'tournament'), ('validation', 'validation'), ('challenge', 'unrated challenge'), ('ladder', 'standing ladder'), ('remote', 'remote match'), ('try', 'try'), ('assignment', 'class assignment'), ('audit', 'audit')], max_length=12),
        ),
        AddConstraintUnchecked(
            'botversion',
            models.CheckConstraint(condition=models.Q(('status__in', ['validating', 'accepted', 'rejected', 'remote'])), name='version_status_word'),
        ),
        CheckOldRows('botversion', 'version_status_word'),
        AddConstraintUnchecked(
            'match',
            models.CheckConstraint(condition=models.Q(('kind__in', ['tournament', 'validation', 'challenge', 'ladder', 'remote', 'try', 'assignment', 'audit'])), name='match_kind_word'),
        ),
        CheckOldRows('match', 'match_kind_word'),
    ]
