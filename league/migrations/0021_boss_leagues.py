"""Boss leagues: the bosses of each season, the tests against them, and the league of each bot on a ladder."""

import django.db.models.deletion
from django.db import migrations, models

from league.service.migrating import AddIndexMeanwhile

VERDICTS = [
    ("stronger", "better than the previous version"),
    ("not_stronger", "not better than the previous version"),
    ("cap", "no difference found"),
    ("superseded", "ended by a newer version"),
]


def some_version(**arguments: object) -> models.ForeignKey:
    """Return a column that names a version."""
    return models.ForeignKey(to="league.botversion", **arguments)


class Migration(migrations.Migration):
    atomic = False
    dependencies = [('league', '0020_teams')]

    operations = [
        migrations.CreateModel(
            name="Boss",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("game", models.CharField(max_length=30)),
                ("season", models.PositiveIntegerField()),
                ("league", models.PositiveSmallIntegerField()),
                ("version", some_version(on_delete=django.db.models.deletion.CASCADE, related_name="bosses")),
                (
                    "house",
                    some_version(
                        null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", db_index=False
                    ),
                ),
                (
                    "stand_in",
                    some_version(
                        null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", db_index=False
                    ),
                ),
                ("secret", models.BinaryField(max_length=32)),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("season", "game", "league"), name="boss_once")],
            },
        ),
        migrations.CreateModel(
            name="BossTest",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("game", models.CharField(max_length=30)),
                ("won", models.PositiveIntegerField(default=0)),
                ("drawn", models.PositiveIntegerField(default=0)),
                ("lost", models.PositiveIntegerField(default=0)),
                ("llr", models.FloatField(default=0.0)),
                ("matches", models.PositiveIntegerField(default=0)),
                ("verdict", models.CharField(blank=True, choices=VERDICTS, max_length=20)),
                ("begun", models.DateTimeField()),
                ("decided", models.DateTimeField(null=True)),
                ("version", some_version(on_delete=django.db.models.deletion.CASCADE, related_name="boss_tests")),
                (
                    "boss",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="tests", to="league.boss"
                    ),
                ),
                ("opponent", some_version(on_delete=django.db.models.deletion.CASCADE, related_name="+")),
                ("attempt", models.PositiveSmallIntegerField()),
            ],
            options={
                "indexes": [
                    models.Index(condition=models.Q(verdict=""), fields=["id"], name="boss_test_open"),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("boss", "version", "opponent"), name="boss_test_once"),
                    models.CheckConstraint(
                        condition=models.Q(verdict__in=[*(word for word, _text in VERDICTS), ""]),
                        name="boss_test_verdict_word",
                    ),
                ],
            },
        ),
        migrations.AddField("bot", "offered_as_boss", models.BooleanField(db_default=False, default=False)),
        migrations.AddField("rung", "contends", models.DateTimeField(null=True)),
        migrations.AddField(
            "rung", "league", models.PositiveSmallIntegerField(db_default=0, default=0)
        ),
        migrations.AddField("rung", "risen", models.DateTimeField(null=True)),
        AddIndexMeanwhile(
            "rung",
            models.Index(
                condition=models.Q(contends__isnull=False), fields=["league", "contends"], name="rung_contends"
            ),
        ),
        AddIndexMeanwhile("rung", models.Index(fields=["game", "-league", "id"], name="rung_league")),
    ]
