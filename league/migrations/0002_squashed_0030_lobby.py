"""The 29 migrations between commit 215356c0 and release 1.0.0, as parts of one.

A database carries out those whose names it has not recorded. A new one gets them all from the first migration.
"""

from collections.abc import Iterator
from typing import Any

from django.contrib.contenttypes.management import RenameContentType
from django.db import migrations, models
from django.db.migrations.operations import (
    AddConstraint,
    AddField,
    AlterField,
    AlterModelOptions,
    AlterModelTable,
    CreateModel,
    RemoveConstraint,
    RenameModel,
    RunPython,
)
from django.db.models import F, Q
from django.utils.text import slugify

from league.service.migrating import (
    AddConstraintUnchecked,
    AddIndexMeanwhile,
    CheckOldRows,
    Forget,
    FormerMigration,
    RenameFieldOnly,
    RunOnPostgres,
)

ID = models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")


def note_advice(apps: Any, schema_editor: Any) -> None:
    """Mark the tables with a bot at the person's own seat."""
    apps.get_model("league", "Table").objects.filter(seats__number=models.F("seat")).update(rated=False)


def remove_guests(apps: Any, schema_editor: Any) -> None:
    """Remove the tables of guests, which the release before has no place for."""
    apps.get_model("league", "Table").objects.filter(player=None).delete()
    if schema_editor.connection.vendor == "postgresql":  # The columns change next, and no check of a removed row may wait.
        schema_editor.execute("SET CONSTRAINTS ALL IMMEDIATE")


JOBS_ON_POSTGRESQL = (
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


def add_job_function(apps: Any, editor: Any) -> None:
    """Add what only PostgreSQL has."""
    for statement in JOBS_ON_POSTGRESQL:
        editor.execute(statement, None)


def drop_job_function(apps: Any, editor: Any) -> None:
    """Take the function away."""
    editor.execute("DROP FUNCTION IF EXISTS league_secret_of_table_job(bigint, integer)", None)


LEASE = ("token", "worker", "lease_until", "attempts")
REQUESTS = (("analysis", "judgement"), ("consultation", "consultation"))


def of_requests(apps: Any, kind: str, name: str) -> Iterator[dict[str, Any]]:
    """Yield the jobs of what players have asked for."""
    rows = apps.get_model("league", name).objects.filter(status__in=["asked", "working"]).order_by("id")
    columns = ("id", "status", "asked_by_id", "place", "created", "progress", "reason", *LEASE)
    for row in rows.values(*columns):
        state = "leased" if row.pop("status") == "working" else "queued"
        subject = {f"{name}_id": row.pop("id"), "owner_id": row.pop("asked_by_id"), "position": row.pop("place")}
        yield {"kind": kind, "state": state, **subject, **row}


def of_puzzles(apps: Any) -> Iterator[dict[str, Any]]:
    """Yield the jobs of matches that are to be searched."""
    rows = apps.get_model("league", "PuzzleSearch").objects.filter(finished=None).order_by("judgement")
    for row in rows.values("judgement_id", "worker", "lease_until", "attempts", created=F("judgement__created")):
        if not row["worker"]:  # it waits until then
            row["not_before"] = row.pop("lease_until")
        yield {"kind": "puzzles", "state": "leased" if row["worker"] else "queued", **row}


def of_tables(apps: Any) -> Iterator[dict[str, Any]]:
    """Yield the jobs of tables whose bots are to move."""
    rows = apps.get_model("league", "Table").objects.filter(status__in=["waiting", "held"]).order_by("since", "id")
    for row in rows.values("id", "status", "since", "not_before", *LEASE):
        state = "leased" if row.pop("status") == "held" else "queued"
        yield {"kind": "table", "state": state, "table_id": row.pop("id"), "created": row.pop("since"), **row}


def add_jobs(apps: Any, editor: Any) -> None:
    """Give everything that waits or is being done its job, with its lease."""
    model = apps.get_model("league", "Job")
    jobs = [*(job for kind, name in REQUESTS for job in of_requests(apps, kind, name)), *of_puzzles(apps), *of_tables(apps)]
    model.objects.bulk_create([model(**job) for job in jobs], batch_size=500)


def remove_jobs(apps: Any, editor: Any) -> None:
    """Write the leases into the columns of the release before."""
    for job in apps.get_model("league", "Job").objects.order_by("id"):
        lease = {name: getattr(job, name) for name in LEASE}
        if job.kind == "table":
            apps.get_model("league", "Table").objects.filter(pk=job.table_id).update(not_before=job.not_before, **lease)
        elif job.kind == "puzzles":
            lease["lease_until"] = job.lease_until or job.not_before
            del lease["token"]
            apps.get_model("league", "PuzzleSearch").objects.filter(pk=job.judgement_id).update(**lease)
        else:
            model, pk = next((name, getattr(job, f"{name}_id")) for kind, name in REQUESTS if kind == job.kind)
            rows = apps.get_model("league", model).objects.filter(pk=pk)
            rows.update(place=job.position, progress=job.progress, **lease)
    apps.get_model("league", "Job").objects.all().delete()


def call_removed_withdrawn(apps, schema_editor):
    """Call what the owner removed withdrawn, for the release before."""
    apps.get_model("league", "EntryRequest").objects.filter(status="removed").update(status="withdrawn")


BATCH, MOST_WORDS = 1000, 12


def split_names(apps, schema_editor):
    """Write the words of each name, in batches. Repeatable."""
    SearchWord = apps.get_model("league", "SearchWord")
    sources = [
        ("player", ("name",), {}),
        ("bot", ("slug",), {}),
        ("tournament", ("name", "slug"), {"event": None, "season": None}),
        ("event", ("name", "slug"), {"private": False}),
        ("circuit", ("name", "slug"), {}),
    ]
    for kind, columns, which in sources:
        rows = apps.get_model("league", kind).objects.filter(**which).order_by("pk")
        last = 0
        while batch := list(rows.filter(pk__gt=last).values_list("pk", *columns)[:BATCH]):
            last = batch[-1][0]
            SearchWord.objects.bulk_create(
                (SearchWord(kind=kind, word=word, row=pk) for pk, *names in batch for word in words_of(names)),
                ignore_conflicts=True,
            )


def words_of(names):
    """Return the words of a subject's names, each once."""
    words = (word[:60] for name in names for word in slugify(name).split("-") if word)
    return list(dict.fromkeys(words))[:MOST_WORDS]


def remove_tries_of_guests(apps: Any, schema_editor: Any) -> None:
    """Remove what the release before has no place for: tries of guests, and second drafts of a bot."""
    tries = apps.get_model("league", "Try").objects.filter(owner=None)
    apps.get_model("league", "Match").objects.filter(pk__in=list(tries.values_list("work", flat=True))).delete()
    apps.get_model("league", "Draft").objects.exclude(language="python").delete()
    if schema_editor.connection.vendor == "postgresql":  # The columns change next, and no check of a removed row may wait.
        schema_editor.execute("SET CONSTRAINTS ALL IMMEDIATE")


MARGINS = 2.5  # As in league.pure.rating.leaderboard.CERTAIN at the time of this migration.


def fill_in_certain(apps: Any, schema_editor: Any) -> None:
    """Order the tables until they are ranked again, which this asks for; let events count that did, or that the league runs."""
    apps.get_model("league", "Rating").objects.update(certain=F("elo") - MARGINS * F("margin"))
    apps.get_model("league", "PoolSums").objects.update(ranked=1)
    by_league = Q(owner__name="house") | Q(owner__user__is_staff=True)
    for name in ("Event", "Tournament"):
        model = apps.get_model("league", name)
        rows = model.objects.filter(by_league | Q(status="finished"))
        model.objects.filter(pk__in=rows.values("pk")).update(counts=True)


OWN = ("legal", "hand", "seen", "advice_asked", "advice")
LIVE = ("waiting", "held", "resting")
CHUNK = 200


def to_people(apps: Any, _: Any) -> None:
    """Give each table a row for its person."""
    person_model, rows = apps.get_model("league", "TablePerson"), []
    keys = ("pk", "seat", "player_id", "guest", "guest_from", "status", *OWN)
    for table in apps.get_model("league", "Table").objects.order_by("pk").values(*keys).iterator(CHUNK):
        row = {"table_id": table.pop("pk"), "number": table.pop("seat"), "seated": table.pop("status") in LIVE, **table}
        rows.append(person_model(**row))
        if len(rows) == CHUNK:
            person_model.objects.bulk_create(rows)
            rows = []
    person_model.objects.bulk_create(rows)


def to_tables(apps: Any, _: Any) -> None:
    """Write the person's part into the table again, and remove the tables of several people, which the previous release cannot show."""
    tables = apps.get_model("league", "Table").objects
    tables.filter(shared=True).delete()
    for row in apps.get_model("league", "TablePerson").objects.order_by("pk").values("table_id", "number", *OWN).iterator(CHUNK):
        tables.filter(pk=row.pop("table_id")).update(seat=row.pop("number"), **row)


def remove_follows_of_circuits(apps, schema_editor):
    """Remove the follows of recurring leagues."""
    apps.get_model("league", "Follow").objects.filter(circuit__isnull=False).delete()


def remove_talk(apps, schema_editor) -> None:
    """Remove, on the way back, the rows whose kind the release before does not know."""
    for model in ("Notice", "NoticeChoice"):
        apps.get_model("league", model).objects.filter(kind="talk").delete()


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("league", "0001_squashed_0079_consultations")]

    operations = [
        # Tables of guests, who have no account. Tables with advice, which never counted, say so themselves.
        FormerMigration(
            "0002_guests",
            AlterField("table", "player", models.ForeignKey(db_index=False, null=True, on_delete=models.CASCADE, related_name="tables", to="league.player")),
            AddField("table", "guest", models.CharField(blank=True, db_default="", default="", max_length=64)),
            AddField("table", "guest_from", models.CharField(blank=True, db_default="", default="", max_length=32)),
            AddField("table", "rated", models.BooleanField(db_default=True, default=True)),
            RunPython(note_advice, remove_guests),
            AddConstraintUnchecked("table", models.CheckConstraint(condition=Q(Q(("player", None), ("rated", False), Q(("guest", ""), _negated=True)), Q(("guest", ""), ("guest_from", ""), ("player__isnull", False)), _connector="OR"), name="table_has_one_person")),
        ),
        # Drafts of bots in the editor.
        FormerMigration(
            "0003_drafts",
            CreateModel(
                "Draft",
                [
                    ("id", ID),
                    ("bot", models.CharField(blank=True, max_length=40)),
                    ("text", models.TextField()),
                    ("updated", models.DateTimeField()),
                    ("player", models.ForeignKey(db_index=False, on_delete=models.CASCADE, related_name="drafts", to="league.player")),
                ],
                {
                    "constraints": [
                        models.UniqueConstraint(fields=("player", "bot"), name="draft_once"),
                    ],
                },
            ),
        ),
        # Contests: descriptions, who may enter, and disqualified entries.
        FormerMigration(
            "0004_contests",
            AddField("circuit", "description", models.TextField(blank=True, db_default="", default="")),
            AddField("entry", "disqualified", models.DateTimeField(null=True)),
            AddField("entry", "disqualified_for", models.CharField(blank=True, db_default="", default="", max_length=300)),
            AddField("event", "description", models.TextField(blank=True, db_default="", default="")),
            AddField("event", "entrance", models.CharField(choices=[("anybody", "anyone with a bot"), ("owner", "only bots that I choose")], db_default="owner", default="owner", max_length=10)),
            AddField("event", "entries_from", models.DateTimeField(null=True)),
            AddField("tournament", "description", models.TextField(blank=True, db_default="", default="")),
            AddField("tournament", "entrance", models.CharField(choices=[("anybody", "anyone with a bot"), ("owner", "only bots that I choose")], db_default="anybody", default="anybody", max_length=10)),
            AddConstraintUnchecked("event", models.CheckConstraint(condition=Q(("entrance__in", ["anybody", "owner"])), name="event_entrance_word")),
            AddConstraintUnchecked("tournament", models.CheckConstraint(condition=Q(("entrance__in", ["anybody", "owner"])), name="tournament_entrance_word")),
        ),
        # One table of work, and defaults of the database for the columns that it replaces: this release writes them no more, the release before does.
        FormerMigration(
            "0005_jobs",
            CreateModel(
                "Job",
                [
                    ("id", ID),
                    ("kind", models.CharField(max_length=20)),
                    ("judgement", models.ForeignKey(db_index=False, null=True, on_delete=models.CASCADE, related_name="jobs", to="league.judgement")),
                    ("consultation", models.ForeignKey(db_index=False, null=True, on_delete=models.CASCADE, related_name="jobs", to="league.consultation")),
                    ("table", models.ForeignKey(db_index=False, null=True, on_delete=models.CASCADE, related_name="jobs", to="league.table")),
                    ("owner", models.ForeignKey(null=True, on_delete=models.SET_NULL, related_name="+", to="league.player")),
                    ("position", models.PositiveIntegerField(default=0)),
                    ("created", models.DateTimeField()),
                    ("state", models.CharField(choices=[("queued", "queued"), ("leased", "running")], default="queued", max_length=10)),
                    ("not_before", models.DateTimeField(null=True)),
                    ("reason", models.TextField(blank=True)),
                    ("token", models.PositiveIntegerField(default=0)),
                    ("worker", models.CharField(blank=True, max_length=80)),
                    ("lease_until", models.DateTimeField(null=True)),
                    ("ends_by", models.DateTimeField(null=True)),
                    ("attempts", models.PositiveSmallIntegerField(default=0)),
                    ("progress", models.PositiveSmallIntegerField(default=0)),
                ],
                {
                    "indexes": [
                        models.Index(condition=Q(("state", "queued")), fields=["kind", "position", "id"], name="job_ready"),
                        models.Index(condition=Q(("state", "leased")), fields=["kind", "id"], name="job_leased"),
                    ],
                    "constraints": [
                        models.UniqueConstraint(condition=Q(("judgement__isnull", False)), fields=("kind", "judgement"), name="job_once_judgement"),
                        models.UniqueConstraint(condition=Q(("consultation__isnull", False)), fields=("kind", "consultation"), name="job_once_consultation"),
                        models.UniqueConstraint(condition=Q(("table__isnull", False)), fields=("kind", "table"), name="job_once_table"),
                        models.CheckConstraint(condition=Q(Q(("consultation__isnull", True), ("judgement__isnull", False), ("table__isnull", True)), Q(("consultation__isnull", False), ("judgement__isnull", True), ("table__isnull", True)), Q(("consultation__isnull", True), ("judgement__isnull", True), ("table__isnull", False)), _connector="OR"), name="job_one_subject"),
                        models.CheckConstraint(condition=Q(("state__in", ["queued", "leased"])), name="job_state_word"),
                    ],
                },
            ),
            AlterField("judgement", "place", models.PositiveIntegerField(db_default=0, default=0)),
            AlterField("judgement", "token", models.PositiveIntegerField(db_default=0, default=0)),
            AlterField("judgement", "worker", models.CharField(blank=True, db_default="", max_length=80)),
            AlterField("judgement", "attempts", models.PositiveSmallIntegerField(db_default=0, default=0)),
            AlterField("judgement", "progress", models.PositiveSmallIntegerField(db_default=0, default=0)),
            AlterField("consultation", "place", models.PositiveIntegerField(db_default=0, default=0)),
            AlterField("consultation", "token", models.PositiveIntegerField(db_default=0, default=0)),
            AlterField("consultation", "worker", models.CharField(blank=True, db_default="", max_length=80)),
            AlterField("consultation", "attempts", models.PositiveSmallIntegerField(db_default=0, default=0)),
            AlterField("consultation", "progress", models.PositiveSmallIntegerField(db_default=0, default=0)),
            AlterField("puzzlesearch", "worker", models.CharField(blank=True, db_default="", default="", max_length=80)),
            AlterField("puzzlesearch", "attempts", models.PositiveSmallIntegerField(db_default=0, default=0)),
            AlterField("table", "token", models.PositiveIntegerField(db_default=0, default=0)),
            AlterField("table", "worker", models.CharField(blank=True, db_default="", max_length=80)),
            AlterField("table", "attempts", models.PositiveSmallIntegerField(db_default=0, default=0)),
            RunOnPostgres(add_job_function, drop_job_function),
        ),
        # What waits or is being done becomes rows of the table of work; on the way back the old columns get it again.
        FormerMigration(
            "0006_job_rows",
            RunPython(add_jobs, remove_jobs),
            Forget("judgement", ("place", "token", "worker", "lease_until", "attempts", "progress"), ("judgement_waits",)),
            Forget("consultation", ("place", "token", "worker", "lease_until", "attempts", "progress"), ("consultation_waits",)),
            Forget("puzzlesearch", ("worker", "lease_until", "attempts")),
            Forget("table", ("token", "worker", "lease_until", "attempts", "not_before"), ("table_waits",)),
        ),
        # Indexes of the requests that wait or are being done.
        FormerMigration(
            "0007_open_requests",
            AddIndexMeanwhile("judgement", models.Index(condition=Q(("status__in", ["asked", "working"])), fields=["id"], name="judgement_open")),
            AddIndexMeanwhile("consultation", models.Index(condition=Q(("status__in", ["asked", "working"])), fields=["id"], name="consultation_open")),
            atomic=False,
        ),
        # The look at the rows that were there before the constraints of 0002 and 0004.
        FormerMigration(
            "0008_look_at_old_rows",
            CheckOldRows("table", "table_has_one_person"),
            CheckOldRows("event", "event_entrance_word"),
            CheckOldRows("tournament", "tournament_entrance_word"),
        ),
        # Bots of each player in a contest, entries that its owner removed, names that were given up, and the words of names for the search.
        FormerMigration(
            "0009_fair_contests",
            AddField("circuit", "per_player", models.PositiveSmallIntegerField(db_default=1, default=1)),
            AddField("event", "per_player", models.PositiveSmallIntegerField(db_default=1, default=1)),
            AddField("tournament", "per_player", models.PositiveSmallIntegerField(db_default=1, default=1)),
            AddField("takenname", "until", models.DateTimeField(null=True)),
            RemoveConstraint("entryrequest", "request_status_word"),
            AlterField("entryrequest", "status", models.CharField(choices=[("asked", "waiting for the owner"), ("granted", "granted"), ("refused", "refused"), ("withdrawn", "withdrawn"), ("removed", "removed by the organiser"), ("expired", "expired")], default="asked", max_length=10)),
            AddConstraintUnchecked("entryrequest", models.CheckConstraint(condition=Q(("status__in", ["asked", "granted", "refused", "withdrawn", "removed", "expired"])), name="request_status_word")),
            RunPython(RunPython.noop, call_removed_withdrawn),
            CreateModel(
                "SearchWord",
                [
                    ("id", ID),
                    ("kind", models.CharField(max_length=10)),
                    ("word", models.CharField(max_length=60)),
                    ("row", models.PositiveBigIntegerField()),
                ],
                {
                    "indexes": [
                        models.Index(fields=["kind", "word", "row"], name="search_word_begins", opclasses=["varchar_pattern_ops", "varchar_pattern_ops", "int8_ops"]),
                    ],
                    "constraints": [
                        models.UniqueConstraint(fields=("kind", "row", "word"), name="search_word_once"),
                    ],
                },
            ),
        ),
        # The words of the names that are there, and the look at old rows of requests.
        FormerMigration(
            "0010_words_of_names",
            CheckOldRows("entryrequest", "request_status_word"),
            AddIndexMeanwhile("takenname", models.Index(condition=Q(("until__isnull", False)), fields=["holder"], name="name_given_up")),
            RunPython(split_names, RunPython.noop),
            atomic=False,
        ),
        # The language of a try and of a draft, tries of guests, and the runtimes of a worker.
        FormerMigration(
            "0011_languages_and_guests",
            AddField("worker", "runtimes", models.JSONField(db_default=models.Value([], models.JSONField()), default=list)),
            AddField("draft", "language", models.CharField(db_default="python", default="python", max_length=12)),
            AddField("try", "language", models.CharField(db_default="python", default="python", max_length=12)),
            AddField("try", "guest", models.CharField(blank=True, db_default="", default="", max_length=64)),
            AddField("try", "guest_from", models.CharField(blank=True, db_default="", default="", max_length=32)),
            AlterField("try", "owner", models.ForeignKey(db_index=False, null=True, on_delete=models.CASCADE, related_name="tries", to="league.player")),
            RemoveConstraint("draft", "draft_once"),
            AddConstraint("draft", models.UniqueConstraint(fields=("player", "bot", "language"), name="draft_once")),
            RunPython(RunPython.noop, remove_tries_of_guests),
            AddConstraintUnchecked("try", models.CheckConstraint(condition=Q(Q(("owner", None), Q(("guest", ""), _negated=True)), Q(("guest", ""), ("guest_from", ""), ("owner__isnull", False)), _connector="OR"), name="try_has_one_author")),
        ),
        # The look at the tries that were there before the constraint of 0011.
        FormerMigration(
            "0012_look_at_old_tries",
            CheckOldRows("try", "try_has_one_author"),
        ),
        # Models are called what the glossary calls them. Their tables keep the names that the previous release uses.
        FormerMigration(
            "0013_plain_names",
            AlterField("Succession", "version", models.ForeignKey(on_delete=models.CASCADE, related_name="version_tests", to="league.botversion")),
            AlterModelTable("Succession", "league_succession"),
            RenameModel("Succession", "VersionTest"),
            RenameContentType("league", "succession", "versiontest"),
            AlterModelTable("Lots", "league_lots"),
            RenameModel("Lots", "LadderDraw"),
            RenameContentType("league", "lots", "ladderdraw"),
            AlterModelTable("Outlook", "league_outlook"),
            RenameModel("Outlook", "StoredSnapshot"),
            RenameContentType("league", "outlook", "storedsnapshot"),
        ),
        # An audit in which a bot failed is a case, too; the index holds the open cases.
        FormerMigration(
            "0014_failed_audits",
            Forget("audit", indexes=("audit_cases",)),
            AddIndexMeanwhile("audit", models.Index(condition=Q(("closed", None), ("verdict__in", ("differs", "failed"))), fields=["-finished"], name="audit_open")),
            atomic=False,
        ),
        # Ratings that owners cannot bend: the certain Elo that gives places, which events count, and absences from the ladders.
        FormerMigration(
            "0015_ratings_nobody_bends",
            Forget("rating", indexes=("rating_table", "rating_listed", "rating_active")),
            AddField("bot", "away_until", models.DateTimeField(null=True)),
            AddField("event", "counts", models.BooleanField(db_default=False, default=False)),
            AddField("rating", "certain", models.FloatField(db_default=0.0, default=0.0)),
            AddField("tournament", "counts", models.BooleanField(db_default=False, default=False)),
            RunPython(fill_in_certain, RunPython.noop),
        ),
        # Cases: results of two owners that their ratings do not explain; clearer words for the usual entry policy; the order of tables by certain Elo.
        FormerMigration(
            "0016_cases",
            AddIndexMeanwhile("rating", models.Index(fields=["pool", "-certain"], name="rating_by_certain")),
            AddIndexMeanwhile("rating", models.Index(condition=Q(("listed", True)), fields=["pool", "-certain", "version", "provisional"], name="rating_listed_certain")),
            AddIndexMeanwhile("rating", models.Index(condition=Q(("idle", False), ("listed", True)), fields=["pool", "-certain", "version"], name="rating_active_certain")),
            AlterField("bot", "entry_policy", models.CharField(choices=[("usual", "default: anyone in public leagues; with your permission in other events"), ("anybody", "anyone"), ("ask", "only with your permission"), ("nobody", "nobody")], db_default="usual", default="usual", max_length=10)),
            CreateModel(
                "Case",
                [
                    ("id", ID),
                    ("boards", models.PositiveIntegerField()),
                    ("points", models.FloatField()),
                    ("expected", models.FloatField()),
                    ("deviations", models.FloatField()),
                    ("created", models.DateTimeField()),
                    ("conclusion", models.CharField(blank=True, choices=[("honest", "harmless difference"), ("bent", "outside help suspected"), ("unclear", "unexplained")], db_default="", max_length=10)),
                    ("why", models.TextField(blank=True, db_default="")),
                    ("closed_by", models.CharField(blank=True, db_default="", max_length=80)),
                    ("closed", models.DateTimeField(null=True)),
                    ("loser", models.ForeignKey(on_delete=models.CASCADE, related_name="+", to="league.player")),
                    ("pool", models.ForeignKey(on_delete=models.CASCADE, related_name="cases", to="league.pool")),
                    ("winner", models.ForeignKey(on_delete=models.CASCADE, related_name="+", to="league.player")),
                ],
                {
                    "indexes": [
                        models.Index(condition=Q(("closed", None)), fields=["-deviations"], name="case_open"),
                    ],
                    "constraints": [
                        models.UniqueConstraint(condition=Q(("closed", None)), fields=("pool", "loser", "winner"), name="case_open_once"),
                        models.CheckConstraint(condition=Q(("conclusion__in", ["honest", "bent", "unclear", ""])), name="case_conclusion_word"),
                    ],
                },
            ),
            atomic=False,
        ),
        # Several people at a table: what belongs to a person moves from the row of the table to a row of their own.
        FormerMigration(
            "0017_people_at_tables",
            AddField("table", "clock_s", models.PositiveIntegerField(db_default=0, default=0)),
            AddField("table", "gathering", models.BooleanField(db_default=False, default=False)),
            AddField("table", "level", models.CharField(blank=True, db_default="", default="", max_length=12)),
            AddField("table", "news", models.PositiveIntegerField(db_default=0, default=0)),
            AddField("table", "rematch", models.CharField(blank=True, db_default="", default="", max_length=12)),
            AddField("table", "shared", models.BooleanField(db_default=False, default=False)),
            AddField("table", "spectated", models.JSONField(null=True)),
            AlterField("table", "hand", models.JSONField(db_default=[], default=list)),
            AlterField("table", "legal", models.JSONField(db_default=[], default=list)),
            AlterField("table", "seat", models.PositiveSmallIntegerField(db_default=0, default=0)),
            AlterField("table", "seen", models.JSONField(db_default=[], default=list)),
            CreateModel(
                "TablePerson",
                [
                    ("id", ID),
                    ("number", models.PositiveSmallIntegerField()),
                    ("guest", models.CharField(blank=True, default="", max_length=64)),
                    ("guest_from", models.CharField(blank=True, default="", max_length=32)),
                    ("seated", models.BooleanField(default=True)),
                    ("ready", models.BooleanField(default=False)),
                    ("away", models.BooleanField(default=False)),
                    ("legal", models.JSONField(default=list)),
                    ("hand", models.JSONField(default=list)),
                    ("seen", models.JSONField(default=list)),
                    ("advice_asked", models.PositiveIntegerField(null=True)),
                    ("advice", models.CharField(blank=True, default="", max_length=400)),
                    ("phrase", models.CharField(blank=True, default="", max_length=12)),
                    ("said", models.DateTimeField(null=True)),
                    ("player", models.ForeignKey(db_index=False, null=True, on_delete=models.CASCADE, related_name="seats", to="league.player")),
                    ("table", models.ForeignKey(db_index=False, on_delete=models.CASCADE, related_name="people", to="league.table")),
                ],
                {
                    "indexes": [
                        models.Index(fields=["player", "-table"], name="table_person_player"),
                        models.Index(condition=Q(("guest", ""), _negated=True), fields=["guest"], name="table_person_guest"),
                    ],
                    "constraints": [
                        models.UniqueConstraint(fields=("table", "number"), name="table_person_once"),
                        models.UniqueConstraint(condition=Q(("seated", True)), fields=("player",), name="table_person_player_one"),
                        models.UniqueConstraint(condition=Q(("seated", True), Q(("guest", ""), _negated=True)), fields=("guest",), name="table_person_guest_one"),
                        models.CheckConstraint(condition=Q(Q(("player", None), Q(("guest", ""), _negated=True)), Q(("guest", ""), ("guest_from", ""), ("player__isnull", False)), _connector="OR"), name="table_person_is_one"),
                    ],
                },
            ),
            RunPython(to_people, to_tables),
            Forget("table", ("advice_asked", "advice")),
        ),
        # Classes, their members, assignments, and what students hand in; matches that measure it.
        FormerMigration(
            "0018_classes",
            CreateModel(
                "SchoolClass",
                [
                    ("id", ID),
                    ("slug", models.SlugField(max_length=60, unique=True)),
                    ("name", models.CharField(max_length=60)),
                    ("link", models.CharField(blank=True, max_length=40)),
                    ("closes", models.DateTimeField(null=True)),
                    ("places", models.PositiveSmallIntegerField()),
                    ("roster", models.JSONField(default=list)),
                    ("created", models.DateTimeField()),
                    ("archived", models.DateTimeField(null=True)),
                    ("event", models.ForeignKey(db_index=False, null=True, on_delete=models.SET_NULL, related_name="+", to="league.event")),
                ],
            ),
            CreateModel(
                "ClassMember",
                [
                    ("id", ID),
                    ("role", models.CharField(choices=[("teacher", "teacher"), ("student", "student")], max_length=10)),
                    ("name", models.CharField(max_length=80)),
                    ("number", models.CharField(blank=True, max_length=40)),
                    ("helped", models.BooleanField(default=False)),
                    ("joined", models.DateTimeField()),
                    ("player", models.ForeignKey(on_delete=models.CASCADE, related_name="classes", to="league.player")),
                    ("school_class", models.ForeignKey(db_index=False, on_delete=models.CASCADE, related_name="members", to="league.schoolclass")),
                ],
                {
                    "constraints": [
                        models.UniqueConstraint(fields=("school_class", "player"), name="class_member_once"),
                        models.CheckConstraint(condition=Q(("role__in", ["teacher", "student"])), name="class_member_role_word"),
                    ],
                },
            ),
            CreateModel(
                "Assignment",
                [
                    ("id", ID),
                    ("number", models.PositiveSmallIntegerField()),
                    ("title", models.CharField(max_length=80)),
                    ("rule", models.CharField(choices=[("better", "better than a house bot, 95 % sure, without a fault"), ("clean", "no fault")], max_length=10)),
                    ("opens", models.DateTimeField()),
                    ("due", models.DateTimeField()),
                    ("attempts", models.PositiveSmallIntegerField()),
                    ("marks", models.PositiveSmallIntegerField()),
                    ("clean_marks", models.PositiveSmallIntegerField()),
                    ("place_marks", models.PositiveSmallIntegerField()),
                    ("late_percent", models.PositiveSmallIntegerField()),
                    ("is_extra", models.BooleanField()),
                    ("secret", models.BinaryField(max_length=32)),
                    ("created", models.DateTimeField()),
                    ("pool", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to="league.pool")),
                    ("rival", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to="league.botversion")),
                    ("school_class", models.ForeignKey(db_index=False, on_delete=models.CASCADE, related_name="assignments", to="league.schoolclass")),
                ],
                {
                    "constraints": [
                        models.UniqueConstraint(fields=("school_class", "number"), name="assignment_once"),
                        models.CheckConstraint(condition=Q(("rule__in", ["better", "clean"])), name="assignment_rule_word"),
                    ],
                },
            ),
            CreateModel(
                "HandIn",
                [
                    ("id", ID),
                    ("attempt", models.PositiveSmallIntegerField()),
                    ("created", models.DateTimeField()),
                    ("is_late", models.BooleanField()),
                    ("matches", models.PositiveSmallIntegerField(default=0)),
                    ("counted", models.PositiveSmallIntegerField(default=0)),
                    ("won", models.PositiveIntegerField(default=0)),
                    ("drawn", models.PositiveIntegerField(default=0)),
                    ("lost", models.PositiveIntegerField(default=0)),
                    ("points", models.FloatField(default=0.0)),
                    ("squares", models.FloatField(default=0.0)),
                    ("llr", models.FloatField(default=0.0)),
                    ("verdict", models.CharField(blank=True, choices=[("passed", "passed"), ("not_better", "not better"), ("unsure", "not sure"), ("fault", "fault")], max_length=10)),
                    ("why", models.TextField(blank=True)),
                    ("decided", models.DateTimeField(null=True)),
                    ("assignment", models.ForeignKey(db_index=False, on_delete=models.CASCADE, related_name="hand_ins", to="league.assignment")),
                    ("member", models.ForeignKey(on_delete=models.CASCADE, related_name="hand_ins", to="league.classmember")),
                    ("version", models.ForeignKey(on_delete=models.CASCADE, related_name="+", to="league.botversion")),
                ],
                {
                    "indexes": [
                        models.Index(condition=Q(("verdict", "")), fields=["matches", "id"], name="hand_in_open"),
                    ],
                    "constraints": [
                        models.UniqueConstraint(fields=("assignment", "member", "attempt"), name="hand_in_once"),
                        models.CheckConstraint(condition=Q(("verdict__in", ["passed", "not_better", "unsure", "fault", ""])), name="hand_in_verdict_word"),
                    ],
                },
            ),
            RemoveConstraint("match", "match_kind_word"),
            AlterField("match", "kind", models.CharField(choices=[("tournament", "tournament"), ("validation", "validation"), ("challenge", "unrated challenge"), ("ladder", "standing ladder"), ("try", "try"), ("assignment", "class assignment"), ("audit", "audit")], max_length=12)),
            AddConstraintUnchecked("match", models.CheckConstraint(condition=Q(("kind__in", ["tournament", "validation", "challenge", "ladder", "try", "assignment", "audit"])), name="match_kind_word")),
            CheckOldRows("match", "match_kind_word"),
            atomic=False,
        ),
        # Calendars: the private link of a player, events by their start, house bots that fill the seasons of a recurring league; late entries.
        FormerMigration(
            "0019_calendar",
            AddField("player", "calendar_link", models.CharField(blank=True, db_default="", default="", max_length=40)),
            AddField("circuit", "fill", models.PositiveSmallIntegerField(db_default=0, default=0)),
            AddField("entry", "since", models.PositiveSmallIntegerField(db_default=1, default=1)),
            AddIndexMeanwhile("event", models.Index(condition=Q(("due__isnull", False)), fields=["due"], name="event_by_due")),
            atomic=False,
        ),
        # Teams with members; who else counts as an owner of a bot; offers to hand a bot on; who uploaded a version for the owner.
        FormerMigration(
            "0020_teams",
            CreateModel(
                "Team",
                [
                    ("id", ID),
                    ("name", models.SlugField(max_length=40, unique=True)),
                    ("created", models.DateTimeField()),
                ],
            ),
            AddField("botversion", "uploader", models.ForeignKey(null=True, on_delete=models.SET_NULL, related_name="uploads", to="league.player")),
            CreateModel(
                "BotOffer",
                [
                    ("bot", models.OneToOneField(on_delete=models.CASCADE, primary_key=True, related_name="offer", serialize=False, to="league.bot")),
                    ("created", models.DateTimeField()),
                    ("receiver", models.ForeignKey(on_delete=models.CASCADE, related_name="offers", to="league.player")),
                ],
            ),
            AddField("bot", "team", models.ForeignKey(null=True, on_delete=models.SET_NULL, related_name="bots", to="league.team")),
            CreateModel(
                "CoOwner",
                [
                    ("id", ID),
                    ("until", models.DateTimeField(null=True)),
                    ("bot", models.ForeignKey(on_delete=models.CASCADE, related_name="co_owners", to="league.bot")),
                    ("player", models.ForeignKey(on_delete=models.CASCADE, related_name="co_owned", to="league.player")),
                ],
                {
                    "indexes": [
                        models.Index(condition=Q(("until__isnull", False)), fields=["until"], name="co_owner_former"),
                    ],
                    "constraints": [
                        models.UniqueConstraint(fields=("bot", "player"), name="co_owner_once"),
                    ],
                },
            ),
            CreateModel(
                "TeamMember",
                [
                    ("id", ID),
                    ("role", models.CharField(choices=[("owner", "owner"), ("uploader", "uploader"), ("reader", "reader")], max_length=10)),
                    ("invited", models.DateTimeField()),
                    ("since", models.DateTimeField(null=True)),
                    ("shown", models.BooleanField(db_default=False, default=False)),
                    ("player", models.ForeignKey(on_delete=models.CASCADE, related_name="memberships", to="league.player")),
                    ("team", models.ForeignKey(on_delete=models.CASCADE, related_name="members", to="league.team")),
                ],
                {
                    "constraints": [
                        models.UniqueConstraint(fields=("team", "player"), name="team_member_once"),
                        models.CheckConstraint(condition=Q(("role__in", ["owner", "uploader", "reader"])), name="member_role_word"),
                    ],
                },
            ),
        ),
        # Boss leagues: the bosses of each season, the tests against them, and the league of each bot on a ladder.
        FormerMigration(
            "0021_boss_leagues",
            CreateModel(
                "Boss",
                [
                    ("id", ID),
                    ("game", models.CharField(max_length=30)),
                    ("season", models.PositiveIntegerField()),
                    ("league", models.PositiveSmallIntegerField()),
                    ("version", models.ForeignKey(on_delete=models.CASCADE, related_name="bosses", to="league.botversion")),
                    ("house", models.ForeignKey(db_index=False, null=True, on_delete=models.SET_NULL, related_name="+", to="league.botversion")),
                    ("stand_in", models.ForeignKey(db_index=False, null=True, on_delete=models.SET_NULL, related_name="+", to="league.botversion")),
                    ("secret", models.BinaryField(max_length=32)),
                ],
                {
                    "constraints": [
                        models.UniqueConstraint(fields=("season", "game", "league"), name="boss_once"),
                    ],
                },
            ),
            CreateModel(
                "BossTest",
                [
                    ("id", ID),
                    ("game", models.CharField(max_length=30)),
                    ("won", models.PositiveIntegerField(default=0)),
                    ("drawn", models.PositiveIntegerField(default=0)),
                    ("lost", models.PositiveIntegerField(default=0)),
                    ("llr", models.FloatField(default=0.0)),
                    ("matches", models.PositiveIntegerField(default=0)),
                    ("verdict", models.CharField(blank=True, choices=[("stronger", "better than the previous version"), ("not_stronger", "not better than the previous version"), ("cap", "no difference found"), ("superseded", "ended by a newer version")], max_length=20)),
                    ("begun", models.DateTimeField()),
                    ("decided", models.DateTimeField(null=True)),
                    ("version", models.ForeignKey(on_delete=models.CASCADE, related_name="boss_tests", to="league.botversion")),
                    ("boss", models.ForeignKey(on_delete=models.CASCADE, related_name="tests", to="league.boss")),
                    ("opponent", models.ForeignKey(on_delete=models.CASCADE, related_name="+", to="league.botversion")),
                    ("attempt", models.PositiveSmallIntegerField()),
                ],
                {
                    "indexes": [
                        models.Index(condition=Q(("verdict", "")), fields=["id"], name="boss_test_open"),
                    ],
                    "constraints": [
                        models.UniqueConstraint(fields=("boss", "version", "opponent"), name="boss_test_once"),
                        models.CheckConstraint(condition=Q(("verdict__in", ["stronger", "not_stronger", "cap", "superseded", ""])), name="boss_test_verdict_word"),
                    ],
                },
            ),
            AddField("bot", "offered_as_boss", models.BooleanField(db_default=False, default=False)),
            AddField("rung", "contends", models.DateTimeField(null=True)),
            AddField("rung", "league", models.PositiveSmallIntegerField(db_default=0, default=0)),
            AddField("rung", "risen", models.DateTimeField(null=True)),
            AddIndexMeanwhile("rung", models.Index(condition=Q(("contends__isnull", False)), fields=["league", "contends"], name="rung_contends")),
            AddIndexMeanwhile("rung", models.Index(fields=["game", "-league", "id"], name="rung_league")),
            atomic=False,
        ),
        # Talk: comments of players, reports of them, and the switch of an owner who wants none.
        FormerMigration(
            "0022_talk",
            AlterModelOptions("player", {"permissions": [("void", "void"), ("rerun", "rerun"), ("pause", "pause"), ("ban", "ban"), ("quota", "quota"), ("embargo", "embargo"), ("audit", "audit"), ("moderate", "moderate")]}),
            AddField("event", "talk", models.BooleanField(db_default=True, default=True)),
            AddField("tournament", "talk", models.BooleanField(db_default=True, default=True)),
            CreateModel(
                "Comment",
                [
                    ("id", ID),
                    ("board", models.PositiveIntegerField(null=True)),
                    ("sitting", models.PositiveSmallIntegerField(null=True)),
                    ("step", models.CharField(blank=True, default="", max_length=12)),
                    ("puzzle", models.CharField(blank=True, default="", max_length=12)),
                    ("text", models.CharField(blank=True, max_length=1000)),
                    ("created", models.DateTimeField()),
                    ("deleted", models.DateTimeField(null=True)),
                    ("hidden", models.DateTimeField(null=True)),
                    ("hidden_for", models.CharField(blank=True, default="", max_length=300)),
                    ("hidden_by", models.CharField(blank=True, default="", max_length=80)),
                    ("answers", models.ForeignKey(db_index=False, null=True, on_delete=models.SET_NULL, related_name="+", to="league.comment")),
                    ("author", models.ForeignKey(db_index=False, on_delete=models.CASCADE, related_name="comments", to="league.player")),
                    ("event", models.ForeignKey(null=True, on_delete=models.CASCADE, related_name="comments", to="league.event")),
                    ("match", models.ForeignKey(db_index=False, null=True, on_delete=models.CASCADE, related_name="comments", to="league.match")),
                    ("tournament", models.ForeignKey(null=True, on_delete=models.CASCADE, related_name="comments", to="league.tournament")),
                ],
                {
                    "indexes": [
                        models.Index(fields=["author", "created"], name="comment_author"),
                        models.Index(condition=Q(("match__isnull", False)), fields=["match", "board", "sitting", "-id"], name="comment_match"),
                        models.Index(condition=Q(("puzzle", ""), _negated=True), fields=["puzzle", "-id"], name="comment_puzzle"),
                    ],
                    "constraints": [
                        models.CheckConstraint(condition=Q(Q(("board__isnull", False), ("match__isnull", False), ("puzzle", ""), ("sitting__isnull", False), ("event", None), ("tournament", None)), Q(("board", None), ("match", None), ("sitting", None), ("step", ""), Q(Q(("event", None), ("tournament", None), Q(("puzzle", ""), _negated=True)), Q(("event", None), ("puzzle", ""), ("tournament__isnull", False)), Q(("event__isnull", False), ("puzzle", ""), ("tournament", None)), _connector="OR")), _connector="OR"), name="comment_is_about_one"),
                    ],
                },
            ),
            CreateModel(
                "Report",
                [
                    ("id", ID),
                    ("reason", models.CharField(choices=[("insult", "insult or threat"), ("spam", "advertising or flooding"), ("private", "private data of somebody"), ("other", "something else against the rules")], max_length=10)),
                    ("text", models.CharField(blank=True, max_length=1000)),
                    ("created", models.DateTimeField()),
                    ("decided", models.DateTimeField(null=True)),
                    ("decided_by", models.CharField(blank=True, default="", max_length=80)),
                    ("outcome", models.CharField(blank=True, choices=[("hidden", "hidden"), ("left", "left as it is")], default="", max_length=10)),
                    ("comment", models.ForeignKey(db_index=False, on_delete=models.CASCADE, related_name="reports", to="league.comment")),
                    ("reporter", models.ForeignKey(db_index=False, on_delete=models.CASCADE, related_name="reports", to="league.player")),
                ],
                {
                    "indexes": [
                        models.Index(fields=["reporter", "created"], name="report_reporter"),
                        models.Index(condition=Q(("decided", None)), fields=["comment"], name="report_open"),
                    ],
                    "constraints": [
                        models.CheckConstraint(condition=Q(("reason__in", ["insult", "spam", "private", "other"])), name="report_reason_word"),
                        models.CheckConstraint(condition=Q(("outcome__in", ["hidden", "left", ""])), name="report_outcome_word"),
                        models.UniqueConstraint(fields=("comment", "reporter"), name="report_once"),
                    ],
                },
            ),
        ),
        # Notices, follows, and limits for the mails of a subscription.
        FormerMigration(
            "0023_notices",
            AddField("subscription", "letters", models.PositiveSmallIntegerField(db_default=0, default=0)),
            AddField("subscription", "letters_on", models.DateField(null=True)),
            CreateModel(
                "Follow",
                [
                    ("id", ID),
                    ("created", models.DateTimeField()),
                    ("bot", models.ForeignKey(db_index=False, null=True, on_delete=models.CASCADE, related_name="+", to="league.bot")),
                    ("event", models.ForeignKey(db_index=False, null=True, on_delete=models.CASCADE, related_name="+", to="league.event")),
                    ("person", models.ForeignKey(db_index=False, null=True, on_delete=models.CASCADE, related_name="+", to="league.player")),
                    ("player", models.ForeignKey(on_delete=models.CASCADE, related_name="follows", to="league.player")),
                    ("tournament", models.ForeignKey(db_index=False, null=True, on_delete=models.CASCADE, related_name="+", to="league.tournament")),
                ],
                {
                    "constraints": [
                        models.UniqueConstraint(fields=("bot", "player"), name="follow_bot_once"),
                        models.UniqueConstraint(fields=("person", "player"), name="follow_person_once"),
                        models.UniqueConstraint(fields=("tournament", "player"), name="follow_tournament_once"),
                        models.UniqueConstraint(fields=("event", "player"), name="follow_event_once"),
                        models.CheckConstraint(condition=Q(Q(("bot__isnull", False), ("event", None), ("person", None), ("tournament", None)), Q(("bot", None), ("event", None), ("person__isnull", False), ("tournament", None)), Q(("bot", None), ("event", None), ("person", None), ("tournament__isnull", False)), Q(("bot", None), ("event__isnull", False), ("person", None), ("tournament", None)), _connector="OR"), name="follow_of_one"),
                    ],
                },
            ),
            CreateModel(
                "Notice",
                [
                    ("id", ID),
                    ("kind", models.CharField(choices=[("failed", "One of my bots fails"), ("overtaken", "One of my bots is overtaken"), ("asked", "Somebody asks for one of my bots or challenges it"), ("table", "A table waits for me"), ("event", "A tournament that I play in or follow starts or ends"), ("assignment", "An assignment of my class is due"), ("followed", "A bot or player that I follow has news")], max_length=12)),
                    ("about", models.CharField(max_length=120)),
                    ("text", models.CharField(max_length=20)),
                    ("words", models.JSONField(default=dict)),
                    ("count", models.PositiveIntegerField(default=1)),
                    ("mark", models.CharField(blank=True, default="", max_length=40)),
                    ("created", models.DateTimeField()),
                    ("read", models.DateTimeField(null=True)),
                    ("due", models.DateTimeField(null=True)),
                    ("mailed", models.DateTimeField(null=True)),
                    ("actor", models.ForeignKey(null=True, on_delete=models.CASCADE, related_name="+", to="league.player")),
                    ("player", models.ForeignKey(db_index=False, on_delete=models.CASCADE, related_name="notices", to="league.player")),
                ],
                {
                    "indexes": [
                        models.Index(fields=["player", "-id"], name="notice_of_player"),
                        models.Index(condition=Q(("read", None)), fields=["player", "created"], name="notice_unread"),
                        models.Index(condition=Q(("due__isnull", False)), fields=["due", "id"], name="notice_due"),
                        models.Index(fields=["created"], name="notice_by_age"),
                    ],
                    "constraints": [
                        models.UniqueConstraint(fields=("player", "kind", "about"), name="notice_once"),
                        models.CheckConstraint(condition=Q(("kind__in", ["failed", "overtaken", "asked", "table", "event", "assignment", "followed"])), name="notice_kind_word"),
                    ],
                },
            ),
            CreateModel(
                "NoticeChoice",
                [
                    ("id", ID),
                    ("kind", models.CharField(choices=[("failed", "One of my bots fails"), ("overtaken", "One of my bots is overtaken"), ("asked", "Somebody asks for one of my bots or challenges it"), ("table", "A table waits for me"), ("event", "A tournament that I play in or follow starts or ends"), ("assignment", "An assignment of my class is due"), ("followed", "A bot or player that I follow has news")], max_length=12)),
                    ("way", models.CharField(choices=[("never", "never"), ("site", "on the site only"), ("digest", "in the digest"), ("once", "by email at once")], max_length=8)),
                    ("player", models.ForeignKey(db_index=False, on_delete=models.CASCADE, related_name="notice_choices", to="league.player")),
                ],
                {
                    "constraints": [
                        models.UniqueConstraint(fields=("player", "kind"), name="notice_choice_once"),
                        models.CheckConstraint(condition=Q(("kind__in", ["failed", "overtaken", "asked", "table", "event", "assignment", "followed"])), name="notice_choice_kind_word"),
                        models.CheckConstraint(condition=Q(("way__in", ["never", "site", "digest", "once"])), name="notice_choice_way_word"),
                    ],
                },
            ),
            CreateModel(
                "NoticeSource",
                [
                    ("id", ID),
                    ("due", models.DateTimeField()),
                    ("reached", models.BigIntegerField(default=0)),
                    ("line", models.OneToOneField(on_delete=models.CASCADE, related_name="+", to="league.leagueevent")),
                ],
                {
                    "indexes": [
                        models.Index(fields=["due", "id"], name="notice_source_due"),
                    ],
                },
            ),
        ),
        # Indexes for the overview, the search and the pages of operators; passkeys of players.
        FormerMigration(
            "0024_operators",
            AddIndexMeanwhile("leagueevent", models.Index(fields=["actor", "id"], name="event_actor")),
            AddIndexMeanwhile("match", models.Index(condition=Q(("status", "void")), fields=["-finished"], name="match_void")),
            AddIndexMeanwhile("match", models.Index(condition=Q(("kind", "challenge")), fields=["owner", "-id"], name="match_challenged")),
            AddIndexMeanwhile("apitoken", models.Index(fields=["prefix"], name="token_prefix")),
            CreateModel(
                "Passkey",
                [
                    ("id", ID),
                    ("name", models.CharField(max_length=60)),
                    ("credential", models.CharField(max_length=1400, unique=True)),
                    ("public_key", models.BinaryField()),
                    ("sign_count", models.PositiveBigIntegerField(default=0)),
                    ("created", models.DateTimeField()),
                    ("last_used", models.DateTimeField(null=True)),
                    ("player", models.ForeignKey(on_delete=models.CASCADE, related_name="passkeys", to="league.player")),
                ],
            ),
            atomic=False,
        ),
        # An index of all names of a holder, in use and given up: closing an account changes them.
        FormerMigration(
            "0025_names_of_holder",
            AddIndexMeanwhile("takenname", models.Index(fields=["holder"], name="name_of_holder")),
            Forget("takenname", indexes=("name_given_up",)),
            atomic=False,
        ),
        # Arenas for people; recurring leagues that players follow; start times that were given up.
        FormerMigration(
            "0026_arena",
            CreateModel(
                "Arena",
                [
                    ("id", ID),
                    ("slug", models.SlugField(max_length=60, unique=True)),
                    ("start", models.DateTimeField()),
                    ("ends", models.DateTimeField()),
                    ("time_zone", models.CharField(blank=True, default="", max_length=60)),
                    ("clock_s", models.PositiveSmallIntegerField(default=30)),
                    ("created", models.DateTimeField()),
                    ("finished", models.DateTimeField(null=True)),
                    ("pool", models.ForeignKey(db_index=False, on_delete=models.PROTECT, related_name="+", to="league.pool")),
                ],
                {
                    "indexes": [
                        models.Index(fields=["start"], name="arena_by_start"),
                        models.Index(condition=Q(("finished", None)), fields=["start"], name="arena_unfinished"),
                    ],
                },
            ),
            CreateModel(
                "ArenaEntry",
                [
                    ("id", ID),
                    ("joined", models.DateTimeField()),
                    ("waiting", models.DateTimeField(null=True)),
                    ("rests_until", models.DateTimeField(null=True)),
                    ("points", models.PositiveIntegerField(default=0)),
                    ("games", models.PositiveIntegerField(default=0)),
                    ("wins", models.PositiveIntegerField(default=0)),
                    ("ties", models.PositiveIntegerField(default=0)),
                    ("place", models.PositiveIntegerField(null=True)),
                    ("arena", models.ForeignKey(db_index=False, on_delete=models.CASCADE, related_name="entries", to="league.arena")),
                    ("bot", models.ForeignKey(db_index=False, null=True, on_delete=models.CASCADE, related_name="+", to="league.bot")),
                    ("player", models.ForeignKey(db_index=False, null=True, on_delete=models.CASCADE, related_name="+", to="league.player")),
                ],
                {
                    "indexes": [
                        models.Index(fields=["arena", "-points"], name="arena_standing"),
                        models.Index(condition=Q(("waiting__isnull", False)), fields=["arena"], name="arena_waiting"),
                    ],
                    "constraints": [
                        models.UniqueConstraint(fields=("player", "arena"), name="arena_person_once"),
                        models.UniqueConstraint(fields=("bot", "arena"), name="arena_bot_once"),
                        models.CheckConstraint(condition=Q(Q(("bot", None), ("player__isnull", False)), Q(("bot__isnull", False), ("player", None), ("waiting", None)), _connector="OR"), name="arena_entry_of_one"),
                    ],
                },
            ),
            CreateModel(
                "ArenaSide",
                [
                    ("id", ID),
                    ("number", models.PositiveSmallIntegerField()),
                    ("given_up", models.DateTimeField(null=True)),
                    ("points", models.PositiveSmallIntegerField(null=True)),
                    ("entry", models.ForeignKey(db_index=False, on_delete=models.CASCADE, related_name="sides", to="league.arenaentry")),
                    ("table", models.ForeignKey(db_index=False, on_delete=models.CASCADE, related_name="sides", to="league.table")),
                ],
                {
                    "indexes": [
                        models.Index(fields=["entry", "-table"], name="arena_side_of_entry"),
                        models.Index(condition=Q(("points", None)), fields=["table"], name="arena_side_in_play"),
                    ],
                    "constraints": [
                        models.UniqueConstraint(fields=("table", "number"), name="arena_side_once"),
                    ],
                },
            ),
            RemoveConstraint("follow", "follow_of_one"),
            AddField("event", "missed", models.DateTimeField(null=True)),
            AddField("follow", "circuit", models.ForeignKey(db_index=False, null=True, on_delete=models.CASCADE, related_name="+", to="league.circuit")),
            AddIndexMeanwhile("event", models.Index(condition=Q(("missed__isnull", False)), fields=["missed"], name="event_by_missed")),
            AddConstraint("follow", models.UniqueConstraint(fields=("circuit", "player"), name="follow_circuit_once")),
            AddConstraint("follow", models.CheckConstraint(condition=Q(Q(("bot__isnull", False), ("circuit__isnull", True), ("event__isnull", True), ("person__isnull", True), ("tournament__isnull", True)), Q(("bot__isnull", True), ("circuit__isnull", True), ("event__isnull", True), ("person__isnull", False), ("tournament__isnull", True)), Q(("bot__isnull", True), ("circuit__isnull", True), ("event__isnull", True), ("person__isnull", True), ("tournament__isnull", False)), Q(("bot__isnull", True), ("circuit__isnull", True), ("event__isnull", False), ("person__isnull", True), ("tournament__isnull", True)), Q(("bot__isnull", True), ("circuit__isnull", False), ("event__isnull", True), ("person__isnull", True), ("tournament__isnull", True)), _connector="OR"), name="follow_of_one")),
            RunPython(RunPython.noop, remove_follows_of_circuits),
            atomic=False,
        ),
        # Bots of students, and their matches, that only the class sees.
        FormerMigration(
            "0027_class",
            AddField("bot", "in_class", models.BooleanField(db_default=False, default=False)),
            AddField("match", "in_class", models.BooleanField(db_default=False, default=False)),
        ),
        # Notices of comments and answers; letters whose arrival nobody knows; bosses that have to be beaten by a margin.
        FormerMigration(
            "0028_notices",
            RemoveConstraint("notice", "notice_kind_word"),
            AlterField("notice", "kind", models.CharField(choices=[("failed", "One of my bots fails"), ("overtaken", "One of my bots is overtaken"), ("asked", "Somebody asks for one of my bots or challenges it"), ("table", "A table waits for me"), ("event", "A tournament that I play in or follow starts or ends"), ("assignment", "An assignment of my class is due"), ("followed", "A bot or player that I follow has news"), ("talk", "Somebody comments on what is mine, or answers me")], max_length=12)),
            AddConstraintUnchecked("notice", models.CheckConstraint(condition=Q(("kind__in", ["failed", "overtaken", "asked", "table", "event", "assignment", "followed", "talk"])), name="notice_kind_word")),
            CheckOldRows("notice", "notice_kind_word"),
            RemoveConstraint("noticechoice", "notice_choice_kind_word"),
            AlterField("noticechoice", "kind", models.CharField(choices=[("failed", "One of my bots fails"), ("overtaken", "One of my bots is overtaken"), ("asked", "Somebody asks for one of my bots or challenges it"), ("table", "A table waits for me"), ("event", "A tournament that I play in or follow starts or ends"), ("assignment", "An assignment of my class is due"), ("followed", "A bot or player that I follow has news"), ("talk", "Somebody comments on what is mine, or answers me")], max_length=12)),
            AddConstraintUnchecked("noticechoice", models.CheckConstraint(condition=Q(("kind__in", ["failed", "overtaken", "asked", "table", "event", "assignment", "followed", "talk"])), name="notice_choice_kind_word")),
            CheckOldRows("noticechoice", "notice_choice_kind_word"),
            AddField("subscription", "doubt", models.DateTimeField(null=True)),
            AddField("boss", "margin", models.PositiveSmallIntegerField(db_default=0, default=0)),
            AddField("bosstest", "margin", models.PositiveSmallIntegerField(db_default=0, default=0)),
            RunPython(RunPython.noop, remove_talk),
        ),
        # Tables of people: who may watch, tables with the same deals, the number of a person's decision, the next look at a resting table.
        FormerMigration(
            "0029_watch",
            RenameFieldOnly("tableperson", "seen", "events", models.JSONField(db_column="seen", default=list)),
            RenameFieldOnly("tableperson", "said", "phrase_at", models.DateTimeField(db_column="said", null=True)),
            RenameFieldOnly("teammember", "shown", "is_public", models.BooleanField(db_column="shown", db_default=False, default=False)),
            AddField("table", "watching", models.CharField(choices=[("nobody", "nobody"), ("hidden", "anyone with the link, without the hands"), ("later", "anyone with the link, with all hands 12 decisions later"), ("over", "anyone with the link, with all hands when a hand is over")], db_default="hidden", default="hidden", max_length=8)),
            AddField("table", "deals", models.CharField(blank=True, db_default="", default="", max_length=12)),
            AddField("table", "deals_until", models.DateTimeField(null=True)),
            AddField("table", "question", models.PositiveIntegerField(db_default=0, default=0)),
            AddField("table", "due", models.DateTimeField(null=True)),
            AddIndexMeanwhile("table", models.Index(condition=Q(("deals", ""), _negated=True), fields=["deals"], name="table_of_deals")),
            AddIndexMeanwhile("table", models.Index(condition=Q(("gathering", False), ("shared", True), ("status", "resting")), fields=["due"], name="table_due")),
            AddConstraintUnchecked("table", models.CheckConstraint(condition=Q(("watching__in", ["nobody", "hidden", "later", "over"])), name="table_watching_word")),
            CheckOldRows("table", "table_watching_word"),
            atomic=False,
        ),
        # The lobby: tables open to all, challenges by name, and clocks with increment.
        FormerMigration(
            "0030_lobby",
            AddField("player", "challengeable", models.BooleanField(db_default=True, default=True)),
            AddField("table", "barred", models.JSONField(db_default=[], default=list)),
            AddField("table", "increment_s", models.PositiveSmallIntegerField(db_default=0, default=0)),
            AddField("table", "listed", models.BooleanField(db_default=False, default=False)),
            AddField("tableperson", "left_ms", models.PositiveIntegerField(db_default=0, default=0)),
            CreateModel(
                "TableChallenge",
                [
                    ("id", ID),
                    ("created", models.DateTimeField()),
                    ("answer", models.CharField(blank=True, choices=[("accepted", "accepted"), ("declined", "declined"), ("withdrawn", "withdrawn")], default="", max_length=10)),
                    ("challenger", models.ForeignKey(db_index=False, on_delete=models.CASCADE, related_name="+", to="league.player")),
                    ("player", models.ForeignKey(db_index=False, on_delete=models.CASCADE, related_name="table_challenges", to="league.player")),
                    ("table", models.ForeignKey(db_index=False, on_delete=models.CASCADE, related_name="challenges", to="league.table")),
                ],
                {
                    "indexes": [
                        models.Index(fields=["challenger", "created"], name="table_challenge_sent"),
                        models.Index(fields=["player", "created"], name="table_challenge_received"),
                    ],
                    "constraints": [
                        models.UniqueConstraint(fields=("table", "player"), name="table_challenge_once"),
                        models.CheckConstraint(condition=Q(("answer__in", ["accepted", "declined", "withdrawn", ""])), name="table_challenge_answer_word"),
                    ],
                },
            ),
        ),
    ]
