"""Many processes at one queue: every match is claimed once and reported once, on SQLite and on PostgreSQL."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings

SETUP = """
import django; django.setup()
from tests.support import league
from league.domain import players
ana, berto = players.create("ana"), players.create("berto")
versions = [league.accepted((ana, berto)[i % 2], f"bot-{i}") for i in range(10)]
from django.core.management import call_command
league.started(ana, versions, boards=1)
"""
CLAIM = """
import django; django.setup()
from league.domain import leases
from tests.support.league import NOW
while match := leases.claim("w", now=NOW):
    print(match.pk, match.token)
"""
START = """
import django; django.setup()
from league.domain import leases
from tests.support.league import NOW
leases.start(leases.claim("w", now=NOW), now=NOW)
"""
REPORT = """
import django; django.setup()
from league.domain import reports
from league.models import Match
from tests.support.league import NOW, result
match = Match.objects.get(status="running")
found = result(match)
input("ready\\n")
print(reports.report(match.pk, match.token, found, now=NOW))
"""
SCHEDULE = """
import django; django.setup()
from league.domain import reconcile
from tests.support.league import NOW
input("ready\\n")
print(reconcile.run(now=NOW).inserted)
"""
COUNT = """
import django; django.setup()
from league.models import Board, Match, Party, Sitting
matches = Match.objects.filter(kind="tournament")
print(matches.count(), Party.objects.filter(match__in=matches).count(), Board.objects.count(), Sitting.objects.count())
"""


@pytest.fixture(params=["sqlite", "postgresql"])
def run(request, tmp_path: Path) -> Iterator[object]:
    """Start Python on a league with 45 queued matches of two; lines of code in, a process out."""
    url = (
        f"sqlite://{tmp_path}/league.sqlite3" if request.param == "sqlite" else request.getfixturevalue("postgres_url")
    )
    environment = {
        **os.environ,
        "DATABASE_URL": url,
        "STATE_DIR": str(tmp_path),
        "BROKER_URL": "filesystem://",
        "SECRET_KEY": "only for this test",
        "DJANGO_SETTINGS_MODULE": "league.settings",
    }

    def start(code: str) -> subprocess.Popen[str]:
        pipe = subprocess.PIPE
        return subprocess.Popen(
            [sys.executable, "-c", code], cwd=settings.BASE_DIR, env=environment, stdin=pipe, stdout=pipe, text=True
        )

    subprocess.run(
        [sys.executable, "manage.py", "migrate", "--verbosity", "0"], cwd=settings.BASE_DIR, env=environment, check=True
    )
    assert finish(start(SETUP)) == ""
    yield start


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


def test_every_match_is_claimed_once(run) -> None:
    claimers = [run(CLAIM) for _ in range(4)]

    lines = [line for process in claimers for line in finish(process).splitlines()]

    assert len(lines) == 45
    assert len(set(lines)) == 45
    assert {line.split()[1] for line in lines} == {"1"}


def test_equal_reports_at_once_are_stored_once(run) -> None:
    finish(run(START))

    said = at_once([run(REPORT) for _ in range(3)])

    assert sorted(said) == ["repeated", "repeated", "stored"]
    assert finish(run(COUNT)).split() == ["45", "90", "1", "2"]


def test_schedulers_at_once_insert_every_match_once(run) -> None:
    finish(
        run(
            "import django; django.setup()\nfrom league.models import Match\nMatch.objects.filter(kind='tournament').delete()"
        )
    )

    inserted = [int(line) for line in at_once([run(SCHEDULE) for _ in range(3)])]

    assert sum(inserted) == 45
    assert finish(run(COUNT)).split() == ["45", "90", "0", "0"]
