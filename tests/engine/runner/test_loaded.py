"""Bots of the release at tables of people: forked from a process that has loaded them, each seat in a process of its own."""

from __future__ import annotations

import json
import os
import random
import resource
import signal
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

import pytest

import engine
from engine.runner import BotSpec, Limits, MatchSpec, load_package, protocol, rebuild
from engine.runner.loaded import LoadedSeat, loaded_spec
from engine.runner.table import Advise, Question, TableResult, Taken, play_table
from engine.sandbox import BotFault, Sandbox, SandboxError, TurnStopped
from tests.engine.runner.test_overload import busy
from tests.support.processes import wait_for

HOUSE = Path(__file__).parents[3] / "bots" / "house"
THINKS = """import os
from tute_bot import Bot, run
class Thinks(Bot):
    def act(self, view, legal):
        if legal == ["ends"]:
            os._exit(3)
        if legal == ["grows"]:
            legal = [str(len(bytes(1 << 30)))]
        if legal == ["sleeps"]:
            __import__("time").sleep(60)
        while legal == ["thinks"]:
            pass
        until = __import__("time").process_time() + 0.2 * (legal == ["works"])
        while __import__("time").process_time() < until:
            pass
        return " ".join([*legal, str(os.getpid()), *sorted(os.environ)])
run(Thinks())
"""
PASS = {"boards": [1], "limits": asdict(Limits()), "pass_s": 60.0, "seeds": [1, 2], "sealed": [False, False]}
HELLO = rebuild.hello(PASS, engine.load("individual"), 0)


def played(bot: BotSpec, box: Sandbox) -> TableResult:
    rng = random.Random(2)

    def ask(question: Question, _decisions: Sequence[Taken], _advise: Advise) -> str:
        return rng.choice(question.legal)

    spec = MatchSpec("t1", "partnership", b"t" * 32, "table-t1", range(1, 3), (bot,))
    result = play_table(spec, [0] * 4, [0], box, taken=[], ask=ask, stop=lambda: False)
    assert result is not None
    return result


@pytest.mark.parametrize("name", ["greedy", pytest.param("champion", marks=pytest.mark.slow)])
def test_a_loaded_bot_plays_what_it_plays_in_the_sandbox(name: str, box: Sandbox, tmp_path: Path) -> None:
    loaded, confined = loaded_spec(HOUSE / name), load_package(HOUSE / name, tmp_path)
    assert loaded.sha256 == confined.sha256
    (first, again), (expected, _) = played(loaded, box).records, played(confined, box).records
    assert first["events"] == expected["events"]
    assert again["events"] != first["events"]


@pytest.fixture
def thinks(tmp_path: Path) -> BotSpec:
    (tmp_path / "bot.toml").write_text('name = "thinks"\nruntime = "python"\nentry = "bot.py"\n')
    (tmp_path / "bot.py").write_text(THINKS)
    return loaded_spec(tmp_path)


def seat_of(bot: BotSpec) -> LoadedSeat:
    assert bot.connect is not None
    seat: LoadedSeat = bot.connect(0)
    assert b"ready" in seat.ask(HELLO, 5.0, 60.0, 1 << 16).line
    return seat


def loader_of(seat: LoadedSeat) -> int:
    return int(Path(f"/proc/{seat.pid}/stat").read_text().rpartition(")")[2].split()[1])


def asked(seat: LoadedSeat, legal: str, budget_s: float = 5.0, wall_s: float = 60.0) -> list[str]:
    request = protocol.act(1, [], protocol.encode(legal), "1.000")
    return str(json.loads(seat.ask(request, budget_s, wall_s, 1 << 16).line)["do"]).split()


def test_each_seat_is_a_process_without_the_secrets_of_its_worker(thinks: BotSpec, monkeypatch) -> None:
    monkeypatch.setenv("SECRET_KEY", "of the worker")
    seats = [seat_of(thinks) for _ in range(3)]
    answers = [asked(seat, "play 1o") for seat in seats]
    assert [answer[2] for answer in answers] == [str(seat.pid) for seat in seats]
    assert len({seat.pid for seat in seats}) == 3
    assert all("SECRET_KEY" not in answer for answer in answers)
    for seat in seats:
        seat.close()
        seat.close()
    assert asked(seat_of(thinks), "play 1o")[:2] == ["play", "1o"]


def test_a_bot_that_thinks_for_too_long_is_late_and_one_that_ends_is_our_fault(thinks: BotSpec) -> None:
    with pytest.raises(BotFault, match="timeout"):
        asked(seat_of(thinks), "thinks", budget_s=0.1)
    with pytest.raises(BotFault, match="timeout"):
        asked(seat_of(thinks), "sleeps", wall_s=0.2)
    core = max(os.sched_getaffinity(0))
    delayed = seat_of(thinks)
    os.sched_setaffinity(delayed.pid, {core})
    with busy(core, 4):
        assert asked(delayed, "works", wall_s=0.5)[0] == "works", "it has waited for a processor"
    stopped = seat_of(thinks)
    stopped.stop = lambda: True
    with pytest.raises(TurnStopped):
        asked(stopped, "sleeps")
    for legal in ("ends", "grows"):
        ends = seat_of(thinks)
        for _ in range(2):
            with pytest.raises(SandboxError, match="has ended"):
                asked(ends, legal)


def test_a_worker_without_descriptors_says_so_and_its_other_seats_play_on(thinks: BotSpec) -> None:
    seat, (soft, hard) = seat_of(thinks), resource.getrlimit(resource.RLIMIT_NOFILE)
    fillers = [os.dup(0)]
    resource.setrlimit(resource.RLIMIT_NOFILE, (fillers[0] + 40, hard))
    try:
        with suppress(OSError):
            while True:
                fillers.append(os.dup(0))
        for _ in range(2):  # For the two ends of a conversation.
            os.close(fillers.pop())
        assert thinks.connect is not None
        with pytest.raises(SandboxError, match="Raise the worker's limits"):
            thinks.connect(0)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        for filler in fillers:
            os.close(filler)
    for each in (seat, seat_of(thinks)):
        assert asked(each, "play 1o")[:2] == ["play", "1o"]


def settled(pid: int) -> set[int]:
    """Return the descriptors of a process, once it has closed those that it needed to start a seat."""
    looks: list[set[int]] = []

    def look() -> bool:
        looks.append({int(entry.name) for entry in Path(f"/proc/{pid}/fd").iterdir()})
        return len(looks) > 2 and looks[-3] == looks[-2] == looks[-1]

    wait_for(look, "it has closed what it does not need", 30, every=0.2)
    return looks[-1]


@pytest.mark.parametrize("free", [0, 1])
def test_a_failed_fork_costs_its_own_seat_only(thinks: BotSpec, free: int) -> None:
    seat = seat_of(thinks)
    loader = loader_of(seat)
    limits = resource.prlimit(loader, resource.RLIMIT_NOFILE)
    used = settled(loader)
    most = [number for number in range(len(used) + 2) if number not in used][free]
    resource.prlimit(loader, resource.RLIMIT_NOFILE, (most, limits[1]))
    assert thinks.connect is not None
    for _ in range(2):  # There is room for no conversation, or for no handle of the child.
        with pytest.raises(SandboxError, match=r"[Tt]oo many open files"):
            thinks.connect(0)
    assert asked(seat, "play 1o")[:2] == ["play", "1o"]
    resource.prlimit(loader, resource.RLIMIT_NOFILE, limits)
    assert loader_of(seat_of(thinks)) == loader


def test_seats_end_with_the_process_that_has_loaded_them_and_new_ones_load_again(thinks: BotSpec) -> None:
    seat = seat_of(thinks)
    loader = loader_of(seat)
    os.kill(loader, signal.SIGKILL)
    wait_for(lambda: Path(f"/proc/{loader}/stat").read_text().rpartition(")")[2].split()[0] == "Z", "it has ended", 30)
    with pytest.raises(SandboxError, match="has ended"):
        asked(seat, "play 1o")
    assert asked(seat_of(thinks), "play 1o")[:2] == ["play", "1o"]
