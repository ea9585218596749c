"""Opening choices of matches, and their sums by hand type."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [('league', '0010_volunteers')]

    operations = [
        migrations.CreateModel(
            name='MatchChoices',
            fields=[
                (
                    'match',
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name='choices',
                        serialize=False,
                        to='league.match',
                    ),
                ),
                ('counts', models.JSONField()),
            ],
        ),
        migrations.CreateModel(
            name='ChoiceSum',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(max_length=12)),
                ('hand', models.CharField(max_length=20)),
                ('band', models.PositiveSmallIntegerField()),
                ('choice', models.CharField(max_length=20)),
                ('matches', models.IntegerField()),
                ('number', models.BigIntegerField()),
                ('worth', models.BigIntegerField()),
                ('worth_worth', models.BigIntegerField()),
                ('worth_number', models.BigIntegerField()),
                ('number_number', models.BigIntegerField()),
                ('number_all', models.BigIntegerField()),
                ('bots', models.BigIntegerField()),
                (
                    'pool',
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name='+',
                        to='league.pool',
                    ),
                ),
            ],
            options={
                'constraints': [
                    models.UniqueConstraint(
                        fields=('pool', 'kind', 'hand', 'band', 'choice'), name='choice_sum_once'
                    )
                ],
            },
        ),
    ]
