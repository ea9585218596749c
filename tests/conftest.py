"""Servers for every test: real PostgreSQL, Redis and Chromium. One that does not start is an error, never a skip."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.engine.sandbox.support import held_tiers
from tests.support import chromium as browser
from tests.support.postgres import PostgresServer
from tests.support.redis import RedisServer
from tests.support.stack import Stack


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """One PostgreSQL server for the run (one per test process)."""
    server = PostgresServer()
    yield server
    server.close()


@pytest.fixture
def postgres_url(postgres_server: PostgresServer) -> Iterator[str]:
    """DATABASE_URL of a new, empty PostgreSQL database, dropped after the test."""
    url = postgres_server.create_database()
    yield url
    postgres_server.drop_database(url)


@pytest.fixture(scope="session")
def redis_server() -> Iterator[RedisServer]:
    """One Redis server for the run (one per test process)."""
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
def league_stack(postgres_url: str, redis_url: str) -> Iterator[Stack]:
    """The production league by hand: migrated, nothing started; `.start("web")`, `.start("scheduler")`, `.start("runner")`."""
    stack = Stack(database_url=postgres_url, broker_url=redis_url)
    try:
        stack.run("migrate")
        yield stack
    finally:
        stack.close()


def pytest_sessionfinish(session: pytest.Session) -> None:
    """A process of several hands on where its sandbox tests ran."""
    handed_on = getattr(session.config, "workeroutput", None)
    if handed_on is not None:
        handed_on["tiers"] = held_tiers.lines


@pytest.hookimpl(optionalhook=True)  # of pytest-xdist: nobody calls it in a run of one process
def pytest_testnodedown(node: Any) -> None:
    """What one of several processes has handed on."""
    for line in getattr(node, "workeroutput", {}).get("tiers", ()):
        held_tiers.add(line)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say where the sandbox was tested, and where it could not be."""
    if held_tiers.lines:
        terminalreporter.section("sandbox tiers")
        for line in held_tiers.lines:
            terminalreporter.write_line(line)
