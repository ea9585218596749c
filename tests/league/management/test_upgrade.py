"""A league of an earlier release, migrated by this one: every row is there, the tables are those of a new league, and the API answers as before."""

from __future__ import annotations

import json
import math
import shutil
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from importlib import import_module
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import sql

import league.migrations
from tests.support import migrated, upgrades
from tests.support.compose import TOP
from tests.support.parts import mostly_slow
from tests.support.postgres import PostgresServer

NEXT = """
import os; os.environ["DJANGO_SETTINGS_MODULE"] = "league.settings"; import django; django.setup()
from league.domain.matches import leases
from league.domain.upkeep import invariants, readiness, reconcile
print(readiness.why_not_ready(), *invariants.check_all(), reconcile.reconcile().inserted, *invariants.check_all(), leases.claim("w").tournament.slug)
"""
# Leave a database as earlier commits did, one after the other, whose last migrations have these names
STOP = """
import os, sys; os.environ["DJANGO_SETTINGS_MODULE"] = "league.settings"; import django; django.setup()
from importlib import import_module
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
former = import_module("league.migrations.0002_squashed_0030_lobby").Migration
every = former.operations
for name in sys.argv[1:]:
    former.operations = every[: [operation.name for operation in every].index(name) + 1]
    executor = MigrationExecutor(connection)
    executor.migrate([("league", "0002_squashed_0030_lobby")])
    executor.recorder.record_unapplied("league", "0002_squashed_0030_lobby")
"""
STOPS = ("0005_jobs", "0013_plain_names", "0023_notices")
TABLES = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite!_%' ESCAPE '!'"
STEPS = sorted(path.stem for path in Path(league.migrations.__path__[0]).glob("0*.py"))
COMMITS = sorted({path.name.split(".")[0] for path in upgrades.KEPT.iterdir()})
OLDEST = "215356c0"
ASKING = {"last_used"}  # The question itself changes it
Rows = dict[str, list[dict[str, Any]]]  # Table -> its rows


class OnSqlite:
    """A league with rows in every table, as a release before left it in a file; without a commit an empty database."""

    def __init__(self, commit: str, folder: Path) -> None:
        self.file = folder / "league.sqlite3"
        self.url = f"sqlite://{self.file}"
        with closing(sqlite3.connect(self.file)) as connection:
            connection.executescript(upgrades.read(f"{commit}.sqlite") if commit else "")

    def run(self, statement: str) -> None:
        """Carry out a statement."""
        with closing(sqlite3.connect(self.file)) as connection:
            connection.execute(statement)
            connection.commit()

    def rows(self) -> Rows:
        """Return every row of every table."""
        return self._rows_of(self.file)

    def fresh_rows(self) -> Rows:
        """Return the same of a database that only this release has migrated."""
        return self._rows_of(migrated.sqlite_file())

    @staticmethod
    def _rows_of(file: Path) -> Rows:
        with closing(sqlite3.connect(file)) as connection:
            connection.row_factory = sqlite3.Row
            names = [name for (name,) in connection.execute(TABLES)]
            return {name: [dict(row) for row in connection.execute(f'SELECT * FROM "{name}"')] for name in names}

    def schema(self) -> object:
        """Return what the tables, indexes, functions and triggers are."""
        return self._schema_of(self.file)

    def fresh_schema(self) -> object:
        """Return the same of a database that only this release has migrated."""
        return self._schema_of(migrated.sqlite_file())

    @staticmethod
    def _schema_of(file: Path) -> dict[str, list[str]]:
        """Return the parts of each definition, sorted: where SQLite wrote a table again, a column that was changed went to its end."""
        with closing(sqlite3.connect(file)) as connection:
            definitions = connection.execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL").fetchall()
        return {name: sorted(parts(text)) if text.startswith("CREATE TABLE") else [text] for name, text in definitions}


class OnPostgres:
    """The same on a server."""

    def __init__(self, commit: str, server: PostgresServer) -> None:
        self.server, self.url = server, server.create_database()
        if commit:
            self.run(upgrades.read(f"{commit}.postgresql"))

    def run(self, statement: str) -> None:
        """Carry out a statement."""
        with psycopg.connect(self.url) as connection:
            connection.execute(statement.encode())

    def rows(self) -> Rows:
        """Return every row of every table."""
        return self._rows_of(self.url)

    def fresh_rows(self) -> Rows:
        """Return the same of a database that only this release has migrated."""
        return self._rows_of(migrated.create_database(self.server))

    @staticmethod
    def _rows_of(url: str) -> Rows:
        with psycopg.connect(url, row_factory=psycopg.rows.dict_row) as connection:
            tables = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'").fetchall()
            names = [table["tablename"] for table in tables]
            query = sql.SQL("SELECT * FROM {}")
            return {name: connection.execute(query.format(sql.Identifier(name))).fetchall() for name in names}

    def schema(self) -> object:
        """Return what the tables, indexes, functions and triggers are."""
        return self._schema_of(self.url)

    def fresh_schema(self) -> object:
        """Return the same of a database that only this release has migrated."""
        return self._schema_of(migrated.create_database(self.server))

    def _schema_of(self, url: str) -> list[str]:
        # A condition that was dumped and restored is written with other casts, and from then on the same
        for _ in range(2):
            again = self.server.create_database()
            with psycopg.connect(again) as connection:
                connection.execute(self._dump(url).encode())
            url = again
        return self._dump(url).splitlines()

    def _dump(self, url: str) -> str:
        return migrated.dump(self.server, url, "--schema-only", "--no-owner", "--no-privileges")


def parts(definition: str) -> Iterator[str]:
    """Yield the columns and constraints of CREATE TABLE, which has no comma inside of a name or a text."""
    depth, begin = 0, definition.index("(") + 1
    for at, sign in enumerate(definition[begin:], begin):
        if (sign == "," and depth == 0) or at == len(definition) - 1:
            yield definition[begin:at].strip()
            begin = at + 1
        depth += {"(": 1, ")": -1}.get(sign, 0)


@pytest.fixture(params=mostly_slow(["sqlite", "postgresql"], lambda kind: kind == "sqlite"))
def full(request: pytest.FixtureRequest, tmp_path: Path) -> OnSqlite | OnPostgres:
    """The oldest league that can be upgraded."""
    if request.param == "sqlite":
        return OnSqlite(OLDEST, tmp_path)
    return OnPostgres(OLDEST, request.getfixturevalue("postgres_server"))


REFITTED = {
    "league_poolsums": ("ranked",),  # Migration 0015 asks for the places again.
    # Migration 0006 moves them into the job of the table, 0017 the last two to its people. SQLite keeps them until the table gets another column.
    "league_table": ("token", "worker", "lease_until", "attempts", "not_before", "advice", "advice_asked"),
    "league_judgement": ("place", "token", "worker", "lease_until", "attempts", "progress"),  # The same
}
RENAMED = {"succession": "versiontest", "lots": "ladderdraw", "outlook": "storedsnapshot"}  # migration 0013


def lost(before: Rows, after: Rows) -> Iterator[str]:
    """Yield each row that is no longer there as it was; columns and rows may have come, and models have other names."""
    for row in before.get("django_content_type", []):
        row["model"] = RENAMED.get(row["model"], row["model"])
    for name, rows in before.items():
        columns = rows[0].keys() - set(REFITTED.get(name, ()))
        rows = [{column: row[column] for column in row if column in columns} for row in rows]
        remaining = Counter(
            repr({column: row.get(column, "gone") for column in rows[0]}) for row in after.get(name, [])
        )
        yield from (f"{name}: {row}" for row in (Counter(map(repr, rows)) - remaining))


LIVE = (
    "UPDATE league_judgement SET status = 'working', token = 3, worker = 'host:9', attempts = 2, place = 4, progress = 40, "
    "lease_until = '2026-11-01 12:30:15', finished = NULL",
    "UPDATE league_consultation SET status = 'asked', token = 1, worker = '', attempts = 1, place = 7, progress = 0, "
    "lease_until = NULL, finished = NULL",
    "UPDATE league_puzzlesearch SET finished = NULL, worker = '', attempts = 1, lease_until = '2026-11-01 12:30:15'",
    "UPDATE league_table SET status = 'waiting', token = 5, worker = '', attempts = 2, lease_until = NULL, "
    "not_before = '2026-11-01 12:30:15'",
)
LEASES = {
    "league_judgement": ("status", "token", "worker", "attempts", "place", "progress", "lease_until"),
    "league_consultation": ("status", "token", "worker", "attempts", "place", "progress", "lease_until"),
    "league_puzzlesearch": ("finished", "worker", "attempts", "lease_until"),
    "league_table": ("status", "token", "worker", "attempts", "lease_until", "not_before"),
}


def leases(rows: Rows) -> dict[str, list[list[Any]]]:
    """Return what the release before knows of leases, by table."""
    return {name: [[row[column] for column in columns] for row in rows[name]] for name, columns in LEASES.items()}


@pytest.mark.slow
@pytest.mark.timeout(1800)  # It takes every migration, one by one, up and down
def test_every_row_outlives_an_upgrade_and_the_way_back_and_the_tables_are_those_of_a_new_league(
    full: OnSqlite | OnPostgres, tmp_path: Path
) -> None:
    """Some migrations are taken at each of several commits. Work that waits or runs gets its job, and on the way back its lease."""
    for statement in LIVE:
        full.run(statement)
    before, release = full.rows(), upgrades.Release(TOP, full.url, tmp_path)
    assert [name for name, rows in before.items() if not rows] == []
    assert len(before["league_match"]) > 20

    release.python("-c", STOP, *STOPS)
    release.manage("migrate", "--verbosity=0")

    after = full.rows()
    assert list(lost(before, after)) == []
    assert full.schema() == full.fresh_schema()
    jobs = after["league_job"]
    columns = ("kind", "state", "token", "worker", "attempts", "position", "progress")
    by_kind = {job["kind"]: [job[column] for column in columns] for job in jobs}
    assert len(jobs) == sum(len(before[name]) for name in LEASES)
    assert by_kind == {
        "analysis": ["analysis", "leased", 3, "host:9", 2, 4, 40],
        "consultation": ["consultation", "queued", 1, "", 1, 7, 0],
        "puzzles": ["puzzles", "queued", 0, "", 1, 0, 0],
        "table": ["table", "queued", 5, "", 2, 0, 0],
    }
    assert {job["kind"] for job in jobs if job["lease_until"]} == {"analysis"}
    assert {job["kind"] for job in jobs if job["not_before"]} == {"puzzles", "table"}

    [(_, first)] = import_module("league.migrations.0002_squashed_0030_lobby").Migration.dependencies
    release.manage("migrate", "league", first, "--verbosity=0")

    assert leases(full.rows()) == leases(before)
    assert "league_job" not in full.rows()


def names(rows: Rows) -> Counter[str]:
    """Return the recorded migrations of the league; a name that is recorded twice counts twice."""
    return Counter(row["name"] for row in rows.get("django_migrations", []) if row["app"] == "league")


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_an_empty_database_takes_the_steps_that_are_asked_for_at_once_or_none(
    kind: str, postgres_server: PostgresServer, tmp_path: Path
) -> None:
    empty = OnSqlite("", tmp_path) if kind == "sqlite" else OnPostgres("", postgres_server)
    release = upgrades.Release(TOP, empty.url, tmp_path)

    empty.run("CREATE TABLE league_webhook (id integer)")  # The tables before this one are created, and then it fails
    with pytest.raises(RuntimeError, match="league_webhook"):
        release.manage("migrate", "--verbosity=0")
    before = empty.rows()
    assert [name for name in before if name.startswith("league_")] == ["league_webhook"]
    assert not names(before)
    empty.run("DROP TABLE league_webhook")

    release.manage("migrate", "league", "0005", "--verbosity=0")
    part = empty.rows()
    assert "league_build" in part
    assert "league_gitlink" not in part
    recorded = names(part)
    assert sorted(recorded.keys() & STEPS) == STEPS[:5]

    release.manage("migrate", "--verbosity=0")  # The rest, one after the other
    whole = names(empty.rows())
    assert empty.schema() == empty.fresh_schema()
    assert whole == names(empty.fresh_rows())
    assert set(whole.values()) == {1}
    assert whole >= recorded

    empty.run("DELETE FROM django_migrations WHERE app = 'league'")
    release.manage("migrate", "--fake", "--verbosity=0")
    release.manage("migrate", "--check")


@pytest.mark.slow
def test_a_league_of_this_release_can_be_stored_for_the_next_with_rows_in_every_table(tmp_path: Path) -> None:
    file = tmp_path / "league.sqlite3"
    shutil.copyfile(migrated.sqlite_file(), file)
    upgrades.Release(TOP, f"sqlite://{file}", tmp_path).fill()

    with closing(sqlite3.connect(file)) as connection:
        names = [name for (name,) in connection.execute(TABLES)]
        empty = [
            name for name in names if not connection.execute(f'SELECT EXISTS (SELECT * FROM "{name}")').fetchone()[0]
        ]
    assert empty == []


def test_a_lost_row_would_be_seen() -> None:
    before: Rows = {"a": [{"id": 1, "x": 2.5}, {"id": 2, "x": 0.0}]}

    assert list(lost(before, {"a": [{"id": 1, "x": 2.5, "new": 0}, {"id": 2, "x": 0.0, "new": 0}], "b": []})) == []
    assert list(lost(before, {"a": [{"id": 1, "x": 2.5}, {"id": 2, "x": 0.5}]})) == ["a: {'id': 2, 'x': 0.0}"]
    assert len(list(lost(before, {"a": [{"id": 1}, {"id": 2}]}))) == 2


def test_a_league_that_is_too_old_is_refused_and_left_as_it_is(full: OnSqlite | OnPostgres, tmp_path: Path) -> None:
    full.run("DELETE FROM django_migrations WHERE app = 'league' AND name > '0060'")
    before = full.rows()

    with pytest.raises(RuntimeError) as refusal:
        upgrades.Release(TOP, full.url, tmp_path).manage("migrate", "--verbosity=0")

    assert "it lacks 20 of 79 migrations, the first is 0060_tries. Check out commit 215356c0" in str(refusal.value)
    assert full.rows() == before


def changed(before: Any, after: Any, at: str = "") -> Iterator[str]:
    """Yield where an answer is missing or another one. There may be more than before; numbers may differ by rounding."""
    if isinstance(before, dict) and isinstance(after, dict):
        for name in sorted(before.keys() - ASKING):
            if name in after:
                yield from changed(before[name], after[name], f"{at}/{name}")
            else:
                yield f"{at}/{name} is missing"
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for number, (old, new) in enumerate(zip(before, after, strict=True)):
            yield from changed(old, new, f"{at}/{number}")
    elif (
        isinstance(before, float)
        and isinstance(after, float)
        and math.isclose(before, after, rel_tol=1e-6, abs_tol=1e-6)
    ):
        return
    elif before != after:
        yield f"{at} was {before!r:.200} and is {after!r:.200}"


def test_a_difference_would_be_seen() -> None:
    before = {"a": [1, {"b": 2.5}], "c": "x"}

    assert list(changed(before, {"a": [1, {"b": 2.5000000001, "new": 0}], "c": "x", "d": 1})) == []
    assert list(changed(before, {"a": [1, {"b": 2.6}]})) == ["/a/1/b was 2.5 and is 2.6", "/c is missing"]
    assert list(changed(before, {"a": [1], "c": "x"})) == ["/a was [1, {'b': 2.5}] and is [1]"]


@pytest.mark.slow
@pytest.mark.parametrize("commit", COMMITS)
def test_a_league_of_an_earlier_release_answers_as_before(commit: str, postgres_url: str, tmp_path: Path) -> None:
    expected = json.loads(upgrades.read(f"{commit}.json"))
    with psycopg.connect(postgres_url) as connection:
        connection.execute(upgrades.read(f"{commit}.sql").encode())
    release = upgrades.Release(TOP, postgres_url, tmp_path)

    release.manage("migrate", "--verbosity=0")

    now = release.api_answers(expected["token"])
    assert len(expected["answers"]) > 60
    assert len(expected["journal"]) > 40
    assert list(changed(expected["answers"], now["answers"])) == []
    assert now["journal"] == expected["journal"]
    # Nothing is missing, not even when the scheduler has fitted the tables by this release's ratings; what waited is played next
    assert release.python("-c", NEXT) == " 0 later\n"
