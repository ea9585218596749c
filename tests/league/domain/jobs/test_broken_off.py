"""A match that breaks off at the same bot again is that bot's fault. The bot is real: in the tier without a filter it can hold up its own stop."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from django.conf import settings

import engine
from engine.runner.match import forfeited
from engine.sandbox import Sandbox
from engine.sandbox.process import bot as process
from league.domain.bots import bots
from league.domain.core import clock, transitions
from league.domain.jobs.handlers.queued import MatchLease
from league.domain.jobs.worker import WorkerLoop
from league.domain.matches import leases, workers
from league.domain.people import players
from league.domain.tournaments import tournaments
from league.enums import MatchStatus, VersionStatus
from league.models import Match, Sitting
from tests.support import acts
from tests.support.league import SECRET, willing

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timeout(300)]
GAME = "a_dos"


@pytest.fixture
def folder() -> Iterator[Path]:
    settings.STATE_DIR.mkdir(parents=True, exist_ok=True)
    path = Path(tempfile.mkdtemp(prefix="broken-", dir=settings.STATE_DIR))
    path.chmod(0o755)
    yield path
    shutil.rmtree(path)


@pytest.fixture
def worker(folder: Path) -> WorkerLoop:
    here = WorkerLoop(folder / "bots")
    here.box = Sandbox("none", settings.STATE_DIR / "sandbox")
    workers.register(here.name, tier="none")
    return here


@pytest.fixture
def match(folder: Path) -> Match:
    """Create a match of one board between an honest bot and one that cannot be stopped after two decisions."""
    program = acts.build(folder / "acts").read_bytes()
    versions = []
    for name, act in (("holds-up", "frozen|vfork of a thread|0"), ("honest", "never|nothing|0")):
        data = acts.package(program, name, act)
        version = willing(bots.upload(players.create(name), name, data, "bot.zip", secret=SECRET))
        for tried in Match.objects.filter(parties__version=version, kind="validation").distinct():
            transitions.move(tried, "cancelled", now=clock.now_or(None))
        transitions.move(version, VersionStatus.ACCEPTED, now=clock.now_or(None))
        versions.append(version)
    cup = tournaments.create(versions[0].bot.owner, "Cup", GAME, boards=1, versions=versions, secret=SECRET)
    tournaments.start(cup)
    return cup.matches.get()


def attempt(worker: WorkerLoop, match: Match) -> Match:
    claim = leases.claim(worker.name, prefer=match.pk, now=clock.now_or(None) + timedelta(minutes=5))
    assert claim is not None
    worker.run(MatchLease(claim))
    match.refresh_from_db()
    return match


@pytest.mark.slow
def test_the_second_time_a_match_breaks_off_at_the_same_bot_it_is_its_fault(
    worker: WorkerLoop, match: Match, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "_STOP_S", 0.3)
    for number in (1, 2):
        attempt(worker, match)
        assert (match.status, match.attempts) == (MatchStatus.QUEUED, number)
        assert "was broken off at holds-up: BrokenOff: process" in match.reason
        guilty, honest = match.parties.order_by("number")
        assert [(entry["worker"], entry["attempt"]) for entry in guilty.broken_off] == [
            (worker.name, attempt) for attempt in range(1, number + 1)
        ]
        assert honest.broken_off == []

    attempt(worker, match)

    assert (match.status, match.attempts) == (MatchStatus.FINISHED, 3)
    guilty, honest = match.parties.order_by("number")
    assert (guilty.fault, honest.fault) == ("unplayable", "")
    assert "attempt 2 on worker" in guilty.fault_detail
    assert "does not stop" in guilty.fault_detail
    game = engine.load(GAME)
    for sitting in Sitting.objects.filter(board__match=match):
        assert sitting.scores == forfeited(game, {sitting.seating.index(guilty.number)})
    assert honest.points > guilty.points
