"""Servers for every test: real PostgreSQL, Redis and Chromium. One that does not start is an error, never a skip."""

from __future__ import annotations

import gc
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from django.db import connection

from engine.sandbox.cgroups import reservations
from tests.engine.sandbox.support import held_tiers
from tests.support import chromium as browser
from tests.support import migrated
from tests.support.postgres import PostgresServer
from tests.support.redis import RedisServer
from tests.support.stack import Stack

# Programs that tests start draw audits only where a test says so: lots follow from a key that each state directory makes for itself.
os.environ.setdefault("AUDIT_PERCENT", "0")
# They play standing ladders only where a test says so: else there would always be one match more than a test has made.
os.environ.setdefault("LADDERS", "0")

# In a container the tests share out cores and users of bots among themselves; elsewhere with all that runs on the machine.
if reservations.shared_folder() is None:
    os.environ[reservations.SETTING] = str(Path(__file__).resolve().parents[1] / "var" / "test" / "machine")

# The one profile of the suite. No example has a time limit and none is judged by its time, so that a busy machine changes nothing;
# the examples follow from the test alone, so that a run can be repeated. A test states only how many examples it wants.
hypothesis.settings.register_profile(
    "suite",
    deadline=None,
    derandomize=True,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
    print_blob=True,
)
hypothesis.settings.load_profile("suite")


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """Yield one PostgreSQL server for the run (one per test process)."""
    server = PostgresServer()
    yield server
    server.close()


@pytest.fixture
def postgres_url(postgres_server: PostgresServer) -> Iterator[str]:
    """DATABASE_URL of a new, empty PostgreSQL database, dropped after the test."""
    url = postgres_server.create_database()
    yield url
    postgres_server.drop_database(url)


@pytest.fixture
def migrated_postgres_url(postgres_server: PostgresServer) -> Iterator[str]:
    """DATABASE_URL of a new PostgreSQL database with all tables and no rows, dropped after the test."""
    url = migrated.create_database(postgres_server)
    yield url
    postgres_server.drop_database(url)


@pytest.fixture(scope="session")
def django_db_keepdb(django_db_modify_db_settings: None) -> Iterator[bool]:
    """Give the tests a copy of a migrated database, so that pytest-django has no migration to run."""
    if connection.vendor != "sqlite":
        connection.settings_dict["TEST"]["TEMPLATE"] = os.environ.get(
            "TEST_TEMPLATE"
        )  # tests.support.on_postgres sets it
        yield False
        return
    place = Path(connection.settings_dict["TEST"]["NAME"])
    shutil.copyfile(migrated.sqlite_file(), place)
    yield True
    connection.close()
    for path in place.parent.glob(f"{place.name}*"):  # The log of SQLite, too
        path.unlink()


@pytest.fixture(scope="session")
def redis_server() -> Iterator[RedisServer]:
    """Yield one Redis server for the run (one per test process)."""
    server = RedisServer()
    yield server
    server.close()


@pytest.fixture
def redis_url(redis_server: RedisServer) -> str:
    """BROKER_URL of an empty Redis."""
    redis_server.empty()
    return redis_server.url


@pytest.fixture(scope="session")
def chromium() -> str:
    """Path of a real Chromium, for Playwright's executable_path (with the flags of tests.support.chromium)."""
    return browser.find()


@pytest.fixture
def league_stack(migrated_postgres_url: str, redis_url: str, redis_server: RedisServer) -> Iterator[Stack]:
    """Yield the production league by hand: migrated, with its roles, nothing started; `.start("web")`, `.start("scheduler")`, `.start("runner")`."""
    stack = Stack(database_url=migrated_postgres_url, broker_urls=redis_server.urls)
    try:
        stack.grant()
        yield stack
    finally:
        stack.close()


# Files that take longer than half a minute, the longest first: begun last, one of them would keep the others waiting at the end.
LONG = (
    "tests/chaos/test_chaos.py",
    "tests/league/domain/upkeep/test_between.py",
    "tests/league/test_machines.py",
    "tests/engine/test_compiled.py",
    "tests/ops/test_production.py",
    "tests/ops/test_stack.py",
    "tests/league/web/test_accessible.py",
    "tests/engine/sandbox/test_other_kernel.py",
    "tests/league/domain/jobs/test_process.py",
    "tests/league/domain/matches/test_faults_shown.py",
    "tests/bots/test_house.py",
    "tests/engine/sandbox/test_container.py",
    "tests/league/web/test_browser.py",
    "tests/league/domain/tournaments/test_formats_played.py",
    "tests/hostile/test_matches.py",
    "tests/hostile/test_acts.py",
    "tests/league/management/test_serve.py",
    "tests/engine/cli/test_commands.py",
    "tests/engine/games/test_adding_a_game.py",
    "tests/league/domain/ladders/test_live.py",
    "tests/league/domain/ladders/test_drawing.py",
    "tests/league/domain/tournaments/test_formats.py",
    "tests/league/domain/ratings/test_refits.py",
)


# Tests that read or write rows: `make slow` runs them on PostgreSQL, too.
ROWS = (
    "tests/league/domain",
    "tests/league/management",
    "tests/league/api",
    "tests/league/test_response_cache.py",
    "tests/league/web/test_bad_input.py",
)
# Of these, the tests of what PostgreSQL does in another way: `make test` runs them on PostgreSQL, too. They are about locks and SKIP LOCKED (claims,
# reports, turns, guests), constraints and types (words, moves, sums), collation (names, paging), text that PostgreSQL refuses (bad input), and
# queries that are written by hand for it (the response cache).
POSTGRESQL = (
    "tests/league/domain/core",
    "tests/league/domain/matches/test_leases.py",
    "tests/league/domain/matches/test_reports.py",
    "tests/league/domain/matches/test_fairness.py",
    "tests/league/domain/ratings/test_totals.py",
    "tests/league/domain/tables/test_guests.py",
    "tests/league/api/test_paging.py",
    "tests/league/web/test_bad_input.py",
    "tests/league/test_response_cache.py",
)
# Not those that start real workers (tests/chaos and tests/ops do that on PostgreSQL) and those that bring a database of their own.
APART = (
    "tests/league/domain/jobs/test_process.py",
    "tests/league/domain/jobs/test_platform_faults.py",
    "tests/league/domain/matches/test_faults_shown.py",
    "tests/league/domain/tournaments/test_formats_played.py",
    "tests/league/domain/matches/test_concurrency.py",
    "tests/league/domain/upkeep/test_between.py",
    "tests/league/domain/tournaments/test_new_format.py",
    "tests/league/domain/ladders/test_live.py",
    "tests/league/management/test_serve.py",
    "tests/league/management/test_upgrade.py",
)


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark the tests that run on PostgreSQL as well as on SQLite."""
    file = item.nodeid.partition("::")[0]
    if file.startswith(ROWS) and file not in APART:
        item.add_marker("rows")
        if file.startswith(POSTGRESQL):
            item.add_marker("postgresql")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Long files first; the rest as it was."""
    place = {name: number for number, name in enumerate(LONG)}
    items.sort(key=lambda item: place.get(item.nodeid.partition("::")[0], len(LONG)))


def pytest_collection_finish(session: pytest.Session) -> None:
    """Freeze the imported and collected objects: they live to the end, so the garbage collector need not walk through them again and again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Hand on where the sandbox tests of this process ran, if it is one of several."""
    handed_on = getattr(session.config, "workeroutput", None)
    if handed_on is not None:
        handed_on["tiers"] = held_tiers.lines


@pytest.hookimpl(optionalhook=True)  # A hook of pytest-xdist, which a run of one process does not call
def pytest_testnodedown(node: Any) -> None:
    """Collect the tiers that a worker process reports."""
    for line in getattr(node, "workeroutput", {}).get("tiers", ()):
        held_tiers.add(line)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say where the sandbox was tested, and where it could not be."""
    if held_tiers.lines:
        terminalreporter.section("sandbox tiers")
        for line in held_tiers.lines:
            terminalreporter.write_line(line)
