"""Many processes at one queue: every match is claimed once and reported once, on SQLite and on PostgreSQL."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

from tests.support import migrated
from tests.support.pgbouncer import PgBouncer
from tests.support.postgres import PostgresServer


class League:
    """A database with 21 queued matches of two, and processes that work at it (forks.py). `reset` puts it back to that."""

    def __init__(self, url: str, state_dir: Path, *, keep: Callable[[], None], reset: Callable[[], None]) -> None:
        pipe = subprocess.PIPE
        environment = {
            **os.environ,
            "DATABASE_URL": url,
            "STATE_DIR": str(state_dir),
            "BROKER_URL": "filesystem://",
            "SECRET_KEY": "only for this test",
        }
        command = [sys.executable, "-m", "tests.league.domain.matches.forks"]
        self.parent = subprocess.Popen(
            command, cwd=settings.BASE_DIR, env=environment, stdin=pipe, stdout=pipe, text=True
        )
        self.reset = reset
        self("make")
        keep()

    def __call__(self, work: str, *values: str | None) -> list[Any]:
        """Run this work at once in a process for each value, or in a single one, and return the answers."""
        assert self.parent.stdin
        assert self.parent.stdout
        self.parent.stdin.write(json.dumps([work, values or [None]]) + "\n")
        self.parent.stdin.flush()
        answers: list[Any] = json.loads(self.parent.stdout.readline())
        return answers

    def close(self) -> None:
        """End it."""
        self.parent.communicate()
        assert self.parent.returncode == 0


@pytest.fixture(scope="module")
def sqlite_league(tmp_path_factory: pytest.TempPathFactory) -> Iterator[League]:
    """Create a league on SQLite."""
    folder = tmp_path_factory.mktemp("league")
    place, copy = folder / "league.sqlite3", folder / "kept.sqlite3"
    shutil.copyfile(migrated.sqlite_file(), place)
    league = League(
        f"sqlite://{place}",
        folder,
        keep=lambda: place.rename(copy),  # the last connection has taken its log with it
        reset=lambda: shutil.copyfile(copy, place) and None,
    )
    yield league
    league.close()


@pytest.fixture(scope="module")
def postgresql_league(postgres_server: PostgresServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[League]:
    """Create a league on a PostgreSQL server."""
    url = migrated.create_database(postgres_server)
    copies: list[str] = []

    def reset() -> None:
        postgres_server.drop_database(url)
        postgres_server.create_database(like=copies[0], name=url.rsplit("/", 1)[1])

    league = League(
        url,
        tmp_path_factory.mktemp("league"),
        keep=lambda: copies.append(postgres_server.create_database(like=url)),
        reset=reset,
    )
    yield league
    league.close()
    for address in (url, *copies):
        postgres_server.drop_database(address)


@pytest.fixture(scope="module")
def bounced_league(postgres_server: PostgresServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[League]:
    """Create a league behind PgBouncer, where each transaction may be another session. One test uses it up."""
    url = migrated.create_database(postgres_server)
    bouncer = PgBouncer(postgres_server)
    league = League(bouncer.url(url), tmp_path_factory.mktemp("league"), keep=lambda: None, reset=lambda: None)
    yield league
    league.close()
    bouncer.close()
    postgres_server.drop_database(url)


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)])
def run(request: pytest.FixtureRequest) -> League:
    """That league as it was made."""
    league: League = request.getfixturevalue(f"{request.param}_league")
    league.reset()
    return league


def test_every_match_is_claimed_once(run: League) -> None:
    claimed = [claim for claims in run("claim_all", *"abcd") for claim in claims]

    assert len(claimed) == 21
    assert len({number for number, _ in claimed}) == 21
    assert {token for _, token in claimed} == {1}


def test_every_job_is_claimed_once_and_ended_once(run: League) -> None:
    run("add_jobs")

    claimed = [(number, token) for claims in run("end_all", *"abcd") for number, token in claims]

    assert len(set(claimed)) == len(claimed)
    assert len({number for number, _ in claimed}) == len([token for _, token in claimed if token == 1])
    assert {number for number, token in claimed if token == 2} == {number for number, _ in claimed if number % 2}
    assert run("end_all", *"ab") == [[], []], "what was ended is gone"


def test_of_equal_leases_one_ends_the_job(run: League) -> None:
    run("add_jobs")
    run("lease_job")

    assert sorted(run("end", *"abc")) == ["ended", "lost", "lost"]


def test_equal_reports_at_once_are_stored_once(run: League) -> None:
    run("start")

    receipts = run("report", *"abc")

    assert sorted(receipts) == ["repeated", "repeated", "stored"]
    assert run("count") == [[21, 42, 1, 2]]


@pytest.mark.slow
@pytest.mark.parametrize("run", ["bounced"], indirect=True)
def test_matches_are_played_where_each_transaction_may_be_another_session(run: League) -> None:
    """Four workers, two connections: what one leaves in its session, another would find."""
    run("start")
    run("report")

    assert run("work", *"abcd") == [["stored"] * 3] * 4
    assert run("count") == [[21, 42, 13, 26]]


def test_schedulers_at_once_insert_every_match_once(run: League) -> None:
    run("forget")

    assert sum(run("schedule", *"abc")) == 21
    assert run("count") == [[21, 42, 0, 0]]


@pytest.mark.slow
@pytest.mark.parametrize("run", ["postgresql"], indirect=True)  # SQLite has one writer at a time
def test_of_two_requests_at_a_limit_one_is_refused(run: League) -> None:
    """One tournament of hers is running, two are allowed: both would find room for one more."""
    assert sorted(run("create", "Cup 1", "Cup 2")) == ["made", "refused"]


@pytest.mark.slow
@pytest.mark.parametrize("run", ["postgresql"], indirect=True)  # SQLite has one writer at a time
def test_a_claim_passes_over_a_row_that_somebody_is_claiming(run: League) -> None:
    """It would wait for that row, find it taken, and say that there is no work."""
    [[first, other]] = run("hold")

    assert other is not None
    assert other != first
