"""Volunteers: their keys, and what they have not finished or nobody has confirmed."""

import django.db.models.deletion
from django.db import migrations, models

SCOPES = [
    ('read', 'read: see what your account can see'),
    ('submit', 'submit: also upload bots, enter and withdraw them'),
    ('manage', 'manage: everything that you can do on the site'),
    ('volunteer', 'volunteer: only compute for the league'),
]


class Migration(migrations.Migration):

    dependencies = [('league', '0009_tuning')]

    operations = [
        migrations.RemoveConstraint(model_name='apitoken', name='token_scope_is_known'),
        migrations.AlterField(
            model_name='apitoken',
            name='scope',
            field=models.CharField(choices=SCOPES, db_default='manage', default='manage', max_length=10),
        ),
        migrations.AddConstraint(
            model_name='apitoken',
            constraint=models.CheckConstraint(
                condition=models.Q(('scope__in', [scope for scope, _ in SCOPES])), name='token_scope_is_known'
            ),
        ),
        migrations.AddField(
            model_name='judgement',
            name='by_volunteer',
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.CreateModel(
            name='Volunteer',
            fields=[
                (
                    'token',
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name='volunteer',
                        serialize=False,
                        to='league.apitoken',
                    ),
                ),
                ('agreed', models.PositiveIntegerField(default=0)),
                ('accepted', models.PositiveIntegerField(default=0)),
                ('shut_out', models.DateTimeField(null=True)),
                ('evidence', models.TextField(blank=True)),
            ],
        ),
        migrations.CreateModel(
            name='VolunteerTask',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(max_length=20)),
                ('created', models.DateTimeField()),
                ('reported', models.DateTimeField(null=True)),
                ('body', models.BinaryField(default=bytes)),
                (
                    'judgement',
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name='tasks',
                        to='league.judgement',
                    ),
                ),
                (
                    'volunteer',
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name='tasks', to='league.volunteer'
                    ),
                ),
            ],
            options={
                'constraints': [
                    models.UniqueConstraint(fields=('judgement', 'kind'), name='volunteer_task_once'),
                ],
            },
        ),
    ]
