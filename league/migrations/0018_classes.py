"""Classes, their members, assignments, and what students hand in; matches that measure it."""

import django.db.models.deletion
from django.db import migrations, models

from league.service.migrating import AddConstraintUnchecked, CheckOldRows


class Migration(migrations.Migration):

    atomic = False
    dependencies = [
        ('league', '0017_people_at_tables'),
    ]

    operations = [
        migrations.CreateModel(
            name='SchoolClass',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('slug', models.SlugField(max_length=60, unique=True)),
                ('name', models.CharField(max_length=60)),
                ('link', models.CharField(blank=True, max_length=40)),
                ('closes', models.DateTimeField(null=True)),
                ('places', models.PositiveSmallIntegerField()),
                ('roster', models.JSONField(default=list)),
                ('created', models.DateTimeField()),
                ('archived', models.DateTimeField(null=True)),
                ('event', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='league.event')),
            ],
        ),
        migrations.CreateModel(
            name='ClassMember',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('role', models.CharField(choices=[('teacher', 'teacher'), ('student', 'student')], max_length=10)),
                ('name', models.CharField(max_length=80)),
                ('number', models.CharField(blank=True, max_length=40)),
                ('helped', models.BooleanField(default=False)),
                ('joined', models.DateTimeField()),
                ('player', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='classes', to='league.player')),
                ('school_class', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='members', to='league.schoolclass')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('school_class', 'player'), name='class_member_once'), models.CheckConstraint(condition=models.Q(('role__in', ['teacher', 'student'])), name='class_member_role_word')],
            },
        ),
        migrations.CreateModel(
            name='Assignment',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveSmallIntegerField()),
                ('title', models.CharField(max_length=80)),
                ('rule', models.CharField(choices=[('better', 'better than a house bot, 95 % sure, without a fault'), ('clean', 'no fault')], max_length=10)),
                ('opens', models.DateTimeField()),
                ('due', models.DateTimeField()),
                ('attempts', models.PositiveSmallIntegerField()),
                ('marks', models.PositiveSmallIntegerField()),
                ('clean_marks', models.PositiveSmallIntegerField()),
                ('place_marks', models.PositiveSmallIntegerField()),
                ('late_percent', models.PositiveSmallIntegerField()),
                ('is_extra', models.BooleanField()),
                ('secret', models.BinaryField(max_length=32)),
                ('created', models.DateTimeField()),
                ('pool', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='league.pool')),
                ('rival', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='league.botversion')),
                ('school_class', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='assignments', to='league.schoolclass')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('school_class', 'number'), name='assignment_once'), models.CheckConstraint(condition=models.Q(('rule__in', ['better', 'clean'])), name='assignment_rule_word')],
            },
        ),
        migrations.CreateModel(
            name='HandIn',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('attempt', models.PositiveSmallIntegerField()),
                ('created', models.DateTimeField()),
                ('is_late', models.BooleanField()),
                ('matches', models.PositiveSmallIntegerField(default=0)),
                ('counted', models.PositiveSmallIntegerField(default=0)),
                ('won', models.PositiveIntegerField(default=0)),
                ('drawn', models.PositiveIntegerField(default=0)),
                ('lost', models.PositiveIntegerField(default=0)),
                ('points', models.FloatField(default=0.0)),
                ('squares', models.FloatField(default=0.0)),
                ('llr', models.FloatField(default=0.0)),
                ('verdict', models.CharField(blank=True, choices=[('passed', 'passed'), ('not_better', 'not better'), ('unsure', 'not sure'), ('fault', 'fault')], max_length=10)),
                ('why', models.TextField(blank=True)),
                ('decided', models.DateTimeField(null=True)),
                ('assignment', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='hand_ins', to='league.assignment')),
                ('member', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='hand_ins', to='league.classmember')),
                ('version', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='league.botversion')),
            ],
            options={
                'indexes': [models.Index(condition=models.Q(('verdict', '')), fields=['matches', 'id'], name='hand_in_open')],
                'constraints': [models.UniqueConstraint(fields=('assignment', 'member', 'attempt'), name='hand_in_once'), models.CheckConstraint(condition=models.Q(('verdict__in', ['passed', 'not_better', 'unsure', 'fault', ''])), name='hand_in_verdict_word')],
            },
        ),
        migrations.RemoveConstraint(
            model_name='match',
            name='match_kind_word',
        ),
        migrations.AlterField(
            model_name='match',
            name='kind',
            field=models.CharField(choices=[('tournament', 'tournament'), ('validation', 'validation'), ('challenge', 'unrated challenge'), ('ladder', 'standing ladder'), ('try', 'try'), ('assignment', 'class assignment'), ('audit', 'audit')], max_length=12),
        ),
        AddConstraintUnchecked(
            'match',
            models.CheckConstraint(condition=models.Q(('kind__in', ['tournament', 'validation', 'challenge', 'ladder', 'try', 'assignment', 'audit'])), name='match_kind_word'),
        ),
        CheckOldRows('match', 'match_kind_word'),
    ]
