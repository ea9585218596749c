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
from league.domain.matches import leases, matches, workers
from league.domain.playing import process as playing
from league.domain.playing import upcoming as fetching
from league.domain.playing.process import Machine
from league.domain.playing.trials import match_spec
from league.domain.playing.upcoming import Upcoming, Work
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
        if self.fails and name == "upcoming":
            raise SandboxError("told to fail")
        process = super().start(bot_dir, runtime, entry, policy, core)
        self.started.append((name, process))
        return process

    def alive(self) -> list[int]:
        return [process.pid for _, process in self.started if Path(f"/proc/{process.pid}").exists()]


class Watched(Machine):
    """A worker whose first match waits for something before the first card of its last pass."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.hold: Hold = fetched
        self.played: list[str] = []

    def play(self, work: Work, *, ahead: bool = False) -> object:
        self.played.append(work.match.public_id)
        return super().play(work, ahead=ahead)

    def _closing(self, seconds_left: float) -> None:
        super()._closing(seconds_left)
        if len(self.played) == 1:
            self.hold(self)


def fetched(machine: Watched) -> None:
    """Wait until the thread that fetches the next match is done, with or without one."""
    future = machine.upcoming._fetched
    assert future is not None
    wait_for(future.done, "the next match", 60)


@pytest.fixture(autouse=True)
def at_any_pace(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Matches of other programs hold cores, too; and however slow this machine is now, the end of a match is near in its last pass."""
    monkeypatch.setattr(cores, "shared_folder", lambda: tmp_path)
    monkeypatch.setattr(playing, "SOON_S", math.inf)


@pytest.fixture
def machine() -> Iterator[Watched]:
    settings.STATE_DIR.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="upcoming-", dir=settings.STATE_DIR))
    folder.chmod(0o755)
    here = Watched(folder / "bots")
    here.box = Box(playing.open_sandbox())
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


def test_the_next_match_waits_with_frozen_bots_and_has_the_same_result(machine: Watched, cup: Tournament) -> None:
    seen: list[object] = []

    def look(machine: Watched) -> None:
        fetched(machine)
        second = cup.matches.order_by("virtual_s", "id")[1]
        early = [process.pid for thread, process in machine.box.started if thread == "upcoming"]
        seen.append([Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0] for pid in early])
        seen.append((second.status, second.worker, second.token, second.attempts))

    machine.hold = look
    assert machine.look() is True

    assert seen == [[b"T"] * 4, (MatchStatus.LEASED, machine.name, 1, 1)]
    assert states(cup) == [(MatchStatus.FINISHED, 1)] * 3
    assert machine.played == list(cup.matches.order_by("virtual_s", "id").values_list("public_id", flat=True))
    assert [thread for thread, _ in machine.box.started].count("upcoming") == 8  # the first pass of two matches
    assert machine.box.alive() == []
    for match in cup.matches.all():
        assert moves(match) == ["leased", "running", "finished"]
        assert match.parties.exclude(fault="").count() == 0
        plain = play_match(match_spec(match, machine.folder), machine.box, ahead=False)
        assert [board.scores for board in plain.boards] == list(
            Board.objects.filter(match=match).order_by("number").values_list("scores", flat=True)
        )


def test_where_no_core_is_free_nothing_is_claimed_ahead(machine: Watched, cup: Tournament) -> None:
    def look(machine: Watched) -> None:
        fetched(machine)
        assert [status for status, _ in states(cup)] == ["running", "queued", "queued"]

    machine.hold = look
    with ExitStack() as held:
        taken = [held.enter_context(cores.pinned(among=[core])) for core in sorted(CORES)[1:]]
        os.sched_setaffinity(0, CORES)
        assert None not in taken
        assert machine.look() is True
    assert states(cup) == [("finished", 1), ("queued", 0), ("queued", 0)]


def test_what_breaks_ahead_is_the_next_matchs_retry(machine: Watched, cup: Tournament) -> None:
    machine.box.fails = True
    assert machine.look() is True

    first, second, third = cup.matches.order_by("virtual_s", "id")
    assert (first.status, moves(first)) == (MatchStatus.FINISHED, ["leased", "running", "finished"])
    assert (second.status, second.reason) == (MatchStatus.QUEUED, "attempt 1: SandboxError: told to fail")
    assert second.not_before is not None
    assert third.status == MatchStatus.QUEUED
    assert machine.box.alive() == []


@pytest.mark.slow
def test_a_match_that_is_cancelled_meanwhile_is_not_played(machine: Watched, cup: Tournament) -> None:
    second = cup.matches.order_by("virtual_s", "id")[1]

    def cancel(machine: Watched) -> None:
        fetched(machine)
        matches.cancel(Match.objects.get(pk=second.pk), actor="ana", why="wrong game")

    machine.hold = cancel
    assert machine.look() is True

    assert states(cup) == [("finished", 1), ("cancelled", 1), ("queued", 0)]
    assert machine.box.alive() == []


def test_the_pulse_renews_its_lease_and_ends_its_bots_when_it_is_lost(machine: Watched, cup: Tournament) -> None:
    second = cup.matches.order_by("virtual_s", "id")[1]
    untils = []

    def beat(machine: Watched) -> None:
        fetched(machine)
        for _ in range(2):
            machine.upcoming.beat()
            untils.append(Match.objects.get(pk=second.pk).lease_until)
        matches.cancel(Match.objects.get(pk=second.pk), actor="ana", why="wrong game")
        machine.upcoming.beat()
        assert len(machine.box.alive()) == 4

    machine.hold = beat
    assert machine.look() is True

    assert untils[0] < untils[1]
    assert machine.box.alive() == []
    assert states(cup) == [("finished", 1), ("cancelled", 1), ("queued", 0)]


@pytest.mark.slow
def test_a_match_that_does_not_end_keeps_no_other_waiting(
    machine: Watched, cup: Tournament, settings: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    second = cup.matches.order_by("virtual_s", "id")[1]
    claimed = []

    def dawdle(machine: Watched) -> None:
        fetched(machine)
        monkeypatch.setattr(machine.upcoming._claimed, "since", time.monotonic() - 3600)
        machine.upcoming.beat()
        other = leases.claim("other", prefer=second.pk)
        claimed.append((other.pk, other.attempts, other.token))

    machine.hold = dawdle
    assert machine.look() is True

    assert claimed == [(second.pk, 1, 2)]
    assert moves(second) == ["leased", "queued", "leased"]
    assert states(cup) == [("finished", 1), ("leased", 1), ("queued", 0)]
    assert machine.box.alive() == []


@pytest.mark.slow
def test_a_worker_that_is_stopped_gives_both_back(machine: Watched, cup: Tournament) -> None:
    def stop(machine: Watched) -> None:
        fetched(machine)
        assert [status for status, _ in states(cup)] == ["running", "leased", "queued"]
        machine.stopping.set()

    machine.hold = stop
    assert machine.look() is True
    machine.close()

    assert states(cup) == [("queued", 0)] * 3
    assert machine.box.alive() == []


def test_a_match_that_failed_before_takes_no_other_with_it(machine: Watched, cup: Tournament) -> None:
    Match.objects.filter(pk=cup.matches.order_by("virtual_s", "id")[0].pk).update(attempts=1)
    assert machine.look() is True

    assert states(cup) == [("finished", 2), ("queued", 0), ("queued", 0)]


def test_whatever_the_claim_raises_is_counted_and_the_next_one_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    """A match that is fetched ahead is a gain, no need: nothing that goes wrong there may reach the match at hand."""
    loops = Loops()

    def broken(*words: object) -> None:
        raise KeyError("a match that finished meanwhile")

    monkeypatch.setattr(fetching, "on_free_core", broken)
    upcoming = Upcoming("w1", lambda: True, lambda work, core: None, CORES, loops)
    for _ in range(2):
        upcoming.begin()
        assert upcoming.take() is None
    upcoming.close()
    assert loops.errors == {"ahead": 2}


@pytest.mark.slow
def test_what_waits_in_line_behind_a_match_is_given_back_with_it(ana, berto) -> None:
    cup = started(ana, [accepted((ana, berto)[i % 2], f"bot-{i}") for i in range(6)])
    cup.matches.update(expected_s=0.3)
    here = Upcoming("w1", lambda: True, lambda work, core: None, [0], Loops())
    first, *others = fetching.claim("w1")
    here.line_up(others)
    assert len(others) == 2

    assert here.take() is others[0]
    here.close()

    kept = set(cup.matches.exclude(status="queued").values_list("pk", flat=True))
    assert kept == {first.match.pk, others[0].match.pk}
    assert Match.objects.get(pk=others[1].match.pk).attempts == 0
