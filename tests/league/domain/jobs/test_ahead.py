"""The next match is claimed and its bots are started while one is played: nothing differs, nothing is lost, nobody waits for it."""

from __future__ import annotations

import math
import os
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from django.conf import settings

from engine.runner import cores
from engine.runner.match import play_match
from engine.sandbox import BotProcess, Policy, Runtime, Sandbox, SandboxError
from league.domain.core.loops import Loops
from league.domain.jobs import ahead as fetching
from league.domain.jobs import worker as working
from league.domain.jobs.ahead import Prefetcher
from league.domain.jobs.handlers.matches import match_spec
from league.domain.jobs.handlers.queued import MatchLease, claim
from league.domain.jobs.worker import WorkerLoop
from league.domain.matches import leases, matches, workers
from league.enums import MatchStatus
from league.models import Board, LeagueEvent, Match, Tournament
from tests.support import rows
from tests.support.league import accepted, started
from tests.support.processes import wait_for

CORES = os.sched_getaffinity(0)
pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.timeout(900),
    pytest.mark.skipif(len(CORES) < 2, reason="one core: nothing can be started ahead"),
]
Hold = Callable[["Watched"], None]


class Box(Sandbox):
    """A sandbox that notes which thread started which process, and can fail in the thread that fetches the next match."""

    fails = False

    def __init__(self, box: Sandbox) -> None:
        self.state_dir, self.tier = box.state_dir, box.tier
        self.started: list[tuple[str, BotProcess]] = []

    def start(self, bot_dir: Path, runtime: Runtime, entry: str, policy: Policy, core: int | None = None) -> BotProcess:
        name = threading.current_thread().name.partition("_")[0]
        if self.fails and name == "ahead":
            raise SandboxError("told to fail")
        process = super().start(bot_dir, runtime, entry, policy, core)
        self.started.append((name, process))
        return process

    def alive(self) -> list[int]:
        return [process.pid for _, process in self.started if Path(f"/proc/{process.pid}").exists()]


class Watched(WorkerLoop):
    """A worker whose first match waits for something before the first card of its last pass."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.hold: Hold = fetched
        self.played: list[str] = []

    def run(self, job: MatchLease, *, ahead: bool = False) -> object:
        self.played.append(job.match.public_id)
        return super().run(job, ahead=ahead)

    def _prepare_next(self, seconds_left: float) -> None:
        super()._prepare_next(seconds_left)
        if len(self.played) == 1:
            self.hold(self)


def fetched(worker: Watched) -> None:
    """Wait until the thread that fetches the next match is done, with or without one."""
    future = worker.ahead._fetched
    assert future is not None
    wait_for(future.done, "the next match", 60)


@pytest.fixture(autouse=True)
def at_any_pace(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Matches of other programs hold cores, too; and however slow this machine is now, the end of a match is near in its last pass."""
    monkeypatch.setattr(cores, "shared_folder", lambda: tmp_path)
    monkeypatch.setattr(working, "SOON_S", math.inf)


@pytest.fixture
def worker() -> Iterator[Watched]:
    settings.STATE_DIR.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="ahead-", dir=settings.STATE_DIR))
    folder.chmod(0o755)
    here = Watched(folder / "bots")
    here.box = Box(working.open_sandbox())
    workers.register(here.name, tier=here.box.tier)
    yield here
    if not here.stopping.is_set():
        here.close()
    shutil.rmtree(folder)


@pytest.fixture
def cup(ana, berto) -> Tournament:
    """Three matches of one board, in the order of their turns."""
    return rows.once(make_cup, ana, berto)


def make_cup(ana, berto) -> Tournament:
    return started(ana, [accepted(ana, "rufo"), accepted(berto, "lola"), accepted(berto, "nena")], boards=1)


def states(cup: Tournament) -> list[tuple[str, int]]:
    return list(cup.matches.order_by("virtual_s", "id").values_list("status", "attempts"))


def moves(match: Match) -> list[str]:
    moved = LeagueEvent.objects.filter(subject=f"match:{match.public_id}", kind="match.moved").order_by("id")
    return [event.data["to"] for event in moved]


def test_the_next_match_waits_with_frozen_bots_and_has_the_same_result(worker: Watched, cup: Tournament) -> None:
    observations: list[object] = []

    def look(worker: Watched) -> None:
        fetched(worker)
        second = cup.matches.order_by("virtual_s", "id")[1]
        early = [process.pid for thread, process in worker.box.started if thread == "ahead"]
        observations.append([Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0] for pid in early])
        observations.append((second.status, second.worker, second.token, second.attempts))

    worker.hold = look
    assert worker.look() is True

    assert observations == [[b"T"] * 4, (MatchStatus.LEASED, worker.name, 1, 1)]
    assert states(cup) == [(MatchStatus.FINISHED, 1)] * 3
    assert worker.played == list(cup.matches.order_by("virtual_s", "id").values_list("public_id", flat=True))
    assert [thread for thread, _ in worker.box.started].count("ahead") == 8  # the first pass of two matches
    assert worker.box.alive() == []
    for match in cup.matches.all():
        assert moves(match) == ["leased", "running", "finished"]
        assert match.parties.exclude(fault="").count() == 0
        plain = play_match(match_spec(match, worker.folder), worker.box, ahead=False)
        assert [board.scores for board in plain.boards] == list(
            Board.objects.filter(match=match).order_by("number").values_list("scores", flat=True)
        )


@pytest.mark.slow
def test_where_no_core_is_free_nothing_is_claimed_ahead(worker: Watched, cup: Tournament) -> None:
    def look(worker: Watched) -> None:
        fetched(worker)
        assert [status for status, _ in states(cup)] == ["running", "queued", "queued"]

    worker.hold = look
    with ExitStack() as stack:
        taken = [stack.enter_context(cores.pinned(among=[core])) for core in sorted(CORES)[1:]]
        os.sched_setaffinity(0, CORES)
        assert None not in taken
        assert worker.look() is True
    assert states(cup) == [("finished", 1), ("queued", 0), ("queued", 0)]


@pytest.mark.slow
def test_what_breaks_ahead_is_the_next_matchs_retry(worker: Watched, cup: Tournament) -> None:
    worker.box.fails = True
    assert worker.look() is True

    first, second, third = cup.matches.order_by("virtual_s", "id")
    assert (first.status, moves(first)) == (MatchStatus.FINISHED, ["leased", "running", "finished"])
    assert (second.status, second.reason) == (MatchStatus.QUEUED, "attempt 1: SandboxError: told to fail")
    assert second.not_before is not None
    assert third.status == MatchStatus.QUEUED
    assert worker.box.alive() == []


@pytest.mark.slow
def test_a_match_that_is_cancelled_meanwhile_is_not_played(worker: Watched, cup: Tournament) -> None:
    second = cup.matches.order_by("virtual_s", "id")[1]

    def cancel(worker: Watched) -> None:
        fetched(worker)
        matches.cancel(Match.objects.get(pk=second.pk), actor="ana", why="wrong game")

    worker.hold = cancel
    assert worker.look() is True

    assert states(cup) == [("finished", 1), ("cancelled", 1), ("queued", 0)]
    assert worker.box.alive() == []


def test_the_pulse_renews_its_lease_and_ends_its_bots_when_it_is_lost(worker: Watched, cup: Tournament) -> None:
    second = cup.matches.order_by("virtual_s", "id")[1]
    untils = []

    def beat(worker: Watched) -> None:
        fetched(worker)
        for _ in range(2):
            worker.ahead.beat()
            untils.append(Match.objects.get(pk=second.pk).lease_until)
        matches.cancel(Match.objects.get(pk=second.pk), actor="ana", why="wrong game")
        worker.ahead.beat()
        assert len(worker.box.alive()) == 4

    worker.hold = beat
    assert worker.look() is True

    assert untils[0] < untils[1]
    assert worker.box.alive() == []
    assert states(cup) == [("finished", 1), ("cancelled", 1), ("queued", 0)]


@pytest.mark.slow
def test_a_match_that_does_not_end_keeps_no_other_waiting(
    worker: Watched, cup: Tournament, settings: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    second = cup.matches.order_by("virtual_s", "id")[1]
    claimed = []

    def dawdle(worker: Watched) -> None:
        fetched(worker)
        monkeypatch.setattr(worker.ahead._claimed, "leased_at", time.monotonic() - 3600)
        worker.ahead.beat()
        other = leases.claim("other", prefer=second.pk)
        claimed.append((other.pk, other.attempts, other.token))

    worker.hold = dawdle
    assert worker.look() is True

    assert claimed == [(second.pk, 1, 2)]
    assert moves(second) == ["leased", "queued", "leased"]
    assert states(cup) == [("finished", 1), ("leased", 1), ("queued", 0)]
    assert worker.box.alive() == []


@pytest.mark.slow
def test_a_worker_that_is_stopped_gives_both_back(worker: Watched, cup: Tournament) -> None:
    def stop(worker: Watched) -> None:
        fetched(worker)
        assert [status for status, _ in states(cup)] == ["running", "leased", "queued"]
        worker.stopping.set()

    worker.hold = stop
    assert worker.look() is True
    worker.close()

    assert states(cup) == [("queued", 0)] * 3
    assert worker.box.alive() == []


@pytest.mark.slow
def test_a_match_that_failed_before_takes_no_other_with_it(worker: Watched, cup: Tournament) -> None:
    Match.objects.filter(pk=cup.matches.order_by("virtual_s", "id")[0].pk).update(attempts=1)
    assert worker.look() is True

    assert states(cup) == [("finished", 2), ("queued", 0), ("queued", 0)]


def test_whatever_the_claim_raises_is_counted_and_the_next_one_is_tried(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A match that is fetched ahead is a gain, no need: nothing that goes wrong there may reach the match at hand."""
    loops = Loops()

    def broken(*words: object) -> None:
        raise KeyError("a match that finished meanwhile")

    monkeypatch.setattr(fetching, "on_free_core", broken)
    worker = WorkerLoop(tmp_path)
    prefetcher = Prefetcher(worker, worker.claim, lambda: True, CORES, loops)
    for _ in range(2):
        prefetcher.begin()
        assert prefetcher.take() is None
    prefetcher.close()
    assert loops.errors == {"ahead": 2}


@pytest.mark.slow
def test_what_waits_in_line_behind_a_match_is_given_back_with_it(ana, berto, tmp_path: Path) -> None:
    cup = started(ana, [accepted((ana, berto)[i % 2], f"bot-{i}") for i in range(6)])
    cup.matches.update(expected_s=0.3)
    worker = WorkerLoop(tmp_path)
    here = Prefetcher(worker, worker.claim, lambda: True, [0], Loops())
    first, *others = claim("w1")
    here.add(others)
    assert len(others) == 2

    assert here.take() is others[0]
    here.close()

    pks = set(cup.matches.exclude(status="queued").values_list("pk", flat=True))
    assert pks == {first.match.pk, others[0].match.pk}
    assert Match.objects.get(pk=others[1].match.pk).attempts == 0
