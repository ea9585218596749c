"""Many processes at one queue: every match is claimed once and reported once, on SQLite and on PostgreSQL."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.conf import settings

from tests.support.postgres import PostgresServer

SETUP = """
import django; django.setup()
from django.core.management import call_command
call_command("migrate", verbosity=0)
from tests.support import league
from league.domain.people import players
ana, berto = players.create("ana"), players.create("berto")
versions = [league.accepted((ana, berto)[i % 2], f"bot-{i}") for i in range(10)]
league.started(ana, versions, boards=1)
"""
CLAIM = """
import django; django.setup()
from league.domain.matches import leases
from tests.support.league import NOW
while match := leases.claim("w", now=NOW):
    print(match.pk, match.token)
"""
HOLD = """
import django; django.setup()
from django.db import transaction
from league.domain.matches import leases
from tests.support.league import NOW
with transaction.atomic():
    print(leases.claim("w", now=NOW).pk, flush=True)
    input()
"""
START = """
import django; django.setup()
from league.domain.matches import leases
from tests.support.league import NOW
leases.start(leases.claim("w", now=NOW), now=NOW)
"""
REPORT = """
import django; django.setup()
from league.domain.matches import reports
from league.models import Match
from tests.support.league import NOW, result
match = Match.objects.get(status="running")
found = result(match)
input("ready\\n")
print(reports.report(match.pk, match.token, found, now=NOW))
"""
SCHEDULE = """
import django; django.setup()
from league.domain.upkeep import reconcile
from tests.support.league import NOW
input("ready\\n")
print(reconcile.reconcile(now=NOW).inserted)
"""
CREATE = """
import django; django.setup()
from django.conf import settings
from league.domain.core.errors import Refused
from league.domain.tournaments import tournaments
from league.models import Player
settings.QUOTA_TOURNAMENTS = 2
ana = Player.objects.get(name="ana")
name = input("ready\\n")
try:
    tournaments.create(ana, name, "partnership", boards=1)
    print("made")
except Refused as error:
    print("refused")
"""
COUNT = """
import django; django.setup()
from league.models import Board, Match, Party, Sitting
matches = Match.objects.filter(kind="tournament")
print(matches.count(), Party.objects.filter(match__in=matches).count(), Board.objects.count(), Sitting.objects.count())
"""


Run = Callable[[str], "subprocess.Popen[str]"]


def runner(url: str, state_dir: Path) -> Run:
    """Starts Python on a league: lines of code in, a process out."""
    environment = {
        **os.environ,
        "DATABASE_URL": url,
        "STATE_DIR": str(state_dir),
        "BROKER_URL": "filesystem://",
        "SECRET_KEY": "only for this test",
        "DJANGO_SETTINGS_MODULE": "league.settings",
    }

    def start(code: str) -> subprocess.Popen[str]:
        pipe = subprocess.PIPE
        return subprocess.Popen(
            [sys.executable, "-c", code], cwd=settings.BASE_DIR, env=environment, stdin=pipe, stdout=pipe, text=True
        )

    return start


@pytest.fixture(scope="module")
def sqlite_league(tmp_path_factory) -> Path:
    """A database file with 45 queued matches of two, made once."""
    folder = tmp_path_factory.mktemp("league")
    assert finish(runner(f"sqlite://{folder}/league.sqlite3", folder)(SETUP)) == ""
    return folder / "league.sqlite3"


@pytest.fixture(scope="module")
def postgresql_league(postgres_server: PostgresServer, tmp_path_factory) -> str:
    """The address of a PostgreSQL database with the same."""
    url = postgres_server.create_database()
    assert finish(runner(url, tmp_path_factory.mktemp("league"))(SETUP)) == ""
    return url


@pytest.fixture(params=["sqlite", "postgresql"])
def run(request, tmp_path: Path) -> Iterator[Run]:
    """Starts Python on a copy of that league."""
    if request.param == "sqlite":
        shutil.copyfile(request.getfixturevalue("sqlite_league"), tmp_path / "league.sqlite3")
        yield runner(f"sqlite://{tmp_path}/league.sqlite3", tmp_path)
    else:
        server = request.getfixturevalue("postgres_server")
        url = server.create_database(like=request.getfixturevalue("postgresql_league"))
        yield runner(url, tmp_path)
        server.drop_database(url)


def finish(process: subprocess.Popen[str], said: str = "") -> str:
    out, _ = process.communicate(said, timeout=400)
    assert process.returncode == 0
    return out


def at_once(processes: list[subprocess.Popen[str]]) -> list[str]:
    """Let processes that have said `ready` go on together; what each says then."""
    for process in processes:
        assert process.stdout
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin
        process.stdin.write("go\n")
        process.stdin.flush()
    return [finish(process).strip() for process in processes]


def test_every_match_is_claimed_once(run: Run) -> None:
    claimers = [run(CLAIM) for _ in range(4)]

    lines = [line for process in claimers for line in finish(process).splitlines()]

    assert len(lines) == 45
    assert len(set(lines)) == 45
    assert {line.split()[1] for line in lines} == {"1"}


def test_equal_reports_at_once_are_stored_once(run: Run) -> None:
    finish(run(START))

    said = at_once([run(REPORT) for _ in range(3)])

    assert sorted(said) == ["repeated", "repeated", "stored"]
    assert finish(run(COUNT)).split() == ["45", "90", "1", "2"]


def test_schedulers_at_once_insert_every_match_once(run: Run) -> None:
    finish(
        run(
            "import django; django.setup()\nfrom league.models import Match\nMatch.objects.filter(kind='tournament').delete()"
        )
    )

    inserted = [int(line) for line in at_once([run(SCHEDULE) for _ in range(3)])]

    assert sum(inserted) == 45
    assert finish(run(COUNT)).split() == ["45", "90", "0", "0"]


@pytest.mark.parametrize("run", ["postgresql"], indirect=True)  # SQLite has one writer at a time
def test_of_two_requests_at_a_limit_one_is_refused(run: Run) -> None:
    """One tournament of hers is running, two are allowed: both would find room for one more."""
    said = at_once([run(CREATE.replace("name = input", f"name = 'Cup {number}' + input")) for number in (1, 2)])

    assert sorted(said) == ["made", "refused"]


@pytest.mark.parametrize("run", ["postgresql"], indirect=True)  # SQLite has one writer at a time
def test_a_claim_passes_over_a_row_that_somebody_is_claiming(run: Run) -> None:
    """It would wait for that row, find it taken, and say that there is no work."""
    holding = run(HOLD)
    assert holding.stdout
    held = holding.stdout.readline().split()

    other = finish(run(CLAIM.replace("while match :=", "if match :="))).split()

    assert len(other) == 2
    assert other[0] != held[0]
    finish(holding, "go on\n")
