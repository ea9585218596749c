"""One table of work, and defaults of the database for the columns that it replaces: this release writes them no more, the release before does."""

from typing import Any

import django.db.models.deletion
from django.db import migrations, models
from django.db.models import Q

SUBJECTS = ("judgement", "consultation", "table")
COUNT = models.PositiveIntegerField(default=0, db_default=0)
SMALL_COUNT = models.PositiveSmallIntegerField(default=0, db_default=0)
NAME = models.CharField(blank=True, max_length=80, db_default="")
REQUEST = {"place": COUNT, "token": COUNT, "worker": NAME, "attempts": SMALL_COUNT, "progress": SMALL_COUNT}
REPLACED: dict[str, dict[str, models.Field]] = {
    "judgement": REQUEST,
    "consultation": REQUEST,
    "puzzlesearch": {
        "worker": models.CharField(blank=True, default="", max_length=80, db_default=""),
        "attempts": SMALL_COUNT,
    },
    "table": {"token": COUNT, "worker": NAME, "attempts": SMALL_COUNT},
}
POSTGRESQL = (
    # The role of the workers may not read the column, so a function returns the secret of a table to the holder of the lease of its job.
    """
CREATE OR REPLACE FUNCTION league_secret_of_table_job(held bigint, lease integer) RETURNS bytea
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT t.secret FROM league_job j JOIN league_table t ON t.id = j.table_id WHERE j.id = held AND j.token = lease AND j.state = 'leased'
$$;
REVOKE ALL ON FUNCTION league_secret_of_table_job(bigint, integer) FROM PUBLIC;
""",
    # Rows come and go, and a heartbeat changes no indexed column
    "ALTER TABLE league_job SET (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 200)",
)


def tend(apps: Any, editor: Any) -> None:
    """Add what only PostgreSQL has."""
    if editor.connection.vendor == "postgresql":
        for statement in POSTGRESQL:
            editor.execute(statement, None)


def untend(apps: Any, editor: Any) -> None:
    """Take the function away."""
    if editor.connection.vendor == "postgresql":
        editor.execute("DROP FUNCTION IF EXISTS league_secret_of_table_job(bigint, integer)", None)


def only(subject: str) -> Q:
    """Select the jobs that are about this kind of subject."""
    return Q(**{f"{name}__isnull": name != subject for name in SUBJECTS})


def key(model: str) -> models.ForeignKey:
    """Return the column that names a subject."""
    return models.ForeignKey(
        db_index=False, null=True, on_delete=django.db.models.deletion.CASCADE, related_name="jobs", to=f"league.{model}"
    )


class Migration(migrations.Migration):
    dependencies = [("league", "0004_contests")]

    operations = [
        migrations.CreateModel(
            name="Job",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("kind", models.CharField(max_length=20)),
                ("judgement", key("judgement")),
                ("consultation", key("consultation")),
                ("table", key("table")),
                (
                    "owner",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to="league.player"
                    ),
                ),
                ("position", models.PositiveIntegerField(default=0)),
                ("created", models.DateTimeField()),
                (
                    "state",
                    models.CharField(
                        choices=[("queued", "queued"), ("leased", "running")], default="queued", max_length=10
                    ),
                ),
                ("not_before", models.DateTimeField(null=True)),
                ("reason", models.TextField(blank=True)),
                ("token", models.PositiveIntegerField(default=0)),
                ("worker", models.CharField(blank=True, max_length=80)),
                ("lease_until", models.DateTimeField(null=True)),
                ("ends_by", models.DateTimeField(null=True)),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                ("progress", models.PositiveSmallIntegerField(default=0)),
            ],
            options={
                "indexes": [
                    models.Index(fields=["kind", "position", "id"], condition=Q(state="queued"), name="job_ready"),
                    models.Index(fields=["kind", "id"], condition=Q(state="leased"), name="job_leased"),
                ],
                "constraints": [
                    *(
                        models.UniqueConstraint(
                            fields=["kind", name], condition=Q(**{f"{name}__isnull": False}), name=f"job_once_{name}"
                        )
                        for name in SUBJECTS
                    ),
                    models.CheckConstraint(
                        condition=only("judgement") | only("consultation") | only("table"), name="job_one_subject"
                    ),
                    models.CheckConstraint(condition=Q(state__in=["queued", "leased"]), name="job_state_word"),
                ],
            },
        ),
        *(
            migrations.AlterField(model, name, field)
            for model, columns in REPLACED.items()
            for name, field in columns.items()
        ),
        migrations.RunPython(tend, untend),
    ]
