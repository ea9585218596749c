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
from django.conf import settings
from django.db import connection
from hypothesis.internal.conjecture import providers

from engine.sandbox.cgroups import reservations
from tests.engine.sandbox.support import held_tiers
from tests.support import chromium as browser
from tests.support import migrated
from tests.support.files import APART, LONG, POSTGRESQL, ROWS, STATEMENTS
from tests.support.postgres import PostgresServer
from tests.support.redis import RedisServer
from tests.support.stack import Stack

gc.disable()  # until everything is collected: what is imported stays

# Programs that tests start draw audits only where a test says so: lots follow from a key that each state directory makes for itself.
os.environ.setdefault("AUDIT_PERCENT", "0")
# They play standing ladders only where a test says so: else there would always be one match more than a test has made.
os.environ.setdefault("LADDERS", "0")
os.environ.setdefault("HOUSE_REST_S", "0")

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
# Hypothesis would also draw the constants of all modules of ours that this process has imported so far: other examples in each process.
providers._get_local_constants = lambda: providers._local_constants


def pytest_configure() -> None:
    """Let draws follow from one key: each state directory makes a key of its own, and the same test would draw otherwise in each clone."""
    settings.SECRET_KEY = "only for the draws and cookies of tests"


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """Yield one PostgreSQL server for the run (one per test process)."""
    server = migrated.server()
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


@pytest.hookimpl(trylast=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Leave out slow cases where quick ones run, and the other way round: pytest would make some thousand items in each process, and drop them."""
    cases, part = metafunc._calls, metafunc.config.option.markexpr
    if cases and part.startswith(("slow", "not slow")):
        always = metafunc.definition.get_closest_marker("slow") is not None
        is_slow_part = part.startswith("slow")
        of_this_part = [
            case for case in cases if is_slow_part == (always or any(mark.name == "slow" for mark in case.marks))
        ]
        # Without any case it would make a test without values; this one it drops itself.
        metafunc._calls = of_this_part or cases[:1]


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark the tests that run on PostgreSQL as well as on SQLite."""
    file = item.nodeid.partition("::")[0]
    if file.startswith(ROWS) and file not in APART:
        differs = item.nodeid.startswith(POSTGRESQL)
        if differs or file in STATEMENTS or not item.get_closest_marker("slow"):
            item.add_marker("rows")
        if differs:
            item.add_marker("postgresql")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Long files first; the rest as it was."""
    place = {name: number for number, name in enumerate(LONG)}
    items.sort(key=lambda item: place.get(item.nodeid.partition("::")[0], len(LONG)))


def pytest_collection_finish(session: pytest.Session) -> None:
    """Freeze the imported and collected objects: they live to the end, so the garbage collector need not walk through them again and again."""
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
    gc.enable()


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
