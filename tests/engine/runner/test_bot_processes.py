"""The bots of the next pass are started while one is played: nothing leaks, nothing differs."""

import contextlib
import os
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from engine.runner import BotSpec, Infrastructure
from engine.runner.cores import pinned
from engine.runner.match import play_match
from engine.sandbox import BotProcess, Policy, Runtime, Sandbox, SandboxError
from engine.sandbox.kernel.syscalls import this_architecture
from tests.engine.runner.conftest import Maker
from tests.support.bots import match
from tests.support.processes import wait_for

pytestmark = pytest.mark.usefixtures("own_cores")
CORES = os.sched_getaffinity(0)
needs_two = pytest.mark.skipif(len(CORES) < 2, reason="one core: nothing can be started ahead")


class Watched(Sandbox):
    """A sandbox that notes which thread started which process, and fails on demand."""

    def __init__(self, box: Sandbox, fail_at: int = 0) -> None:
        self.state_dir = box.state_dir
        self.tier = box.tier
        self.started: list[tuple[str, BotProcess]] = []
        self.fail_at = fail_at

    def start(self, bot_dir: Path, runtime: Runtime, entry: str, policy: Policy, core: int | None = None) -> BotProcess:
        if self.fail_at and len(self.started) + 1 == self.fail_at:
            raise SandboxError("told to fail")
        process = super().start(bot_dir, runtime, entry, policy, core)
        self.started.append((threading.current_thread().name, process))
        return process

    def alive(self) -> list[int]:
        return [process.pid for _, process in self.started if Path(f"/proc/{process.pid}").exists()]


@needs_two
def test_the_second_pass_is_started_ahead_and_plays_the_same(box: Sandbox, honest: BotSpec) -> None:
    watched = Watched(box)
    result = play_match(match(honest, honest), watched)
    plain = play_match(match(honest, honest), box, ahead=False)

    here = threading.current_thread().name
    assert [thread for thread, _ in watched.started] == [here] * 4 + ["bot processes"] * 4
    assert [board.scores for board in result.boards] == [board.scores for board in plain.boards]
    assert watched.alive() == []


@needs_two
def test_a_bot_started_ahead_is_frozen_and_plays_on_the_core_of_its_match(
    box: Sandbox, make: Maker, honest: BotSpec
) -> None:
    states: list[tuple[str, bytes]] = []
    played: list[bool] = []
    slow = make("def act(m):\n    time.sleep(0.05)\n    return good(m)")

    def look() -> bool:
        if len(watched.started) == 8 and not states:
            wait_for(
                lambda: "bot processes" not in [thread.name for thread in threading.enumerate()],
                "the bot processes",
                60,
            )
            for thread, process in watched.started[4:]:
                stat = Path(f"/proc/{process.pid}/stat").read_bytes().rpartition(b")")[2].split()[0]
                states.append((thread, stat))
        return False

    def note(number: int, *line: object) -> None:
        if number == 1:
            for _, process in watched.started[4:]:
                with contextlib.suppress(ProcessLookupError):  # at the last lines of a match its bots may have ended
                    played.append(os.sched_getaffinity(process.pid) == os.sched_getaffinity(0))

    watched = Watched(box)
    result = play_match(match(slow, honest, boards=1), watched, stop=look, tap=note)

    assert states == [("bot processes", b"T")] * 4
    assert len(played) >= 4
    assert all(played)
    assert [report.faults for report in result.parties] == [[], []]


@needs_two
@pytest.mark.parametrize("why", ["stopped", "referee fails", "start fails"])
def test_nothing_is_left_when_the_next_pass_never_comes(
    why: str, box: Sandbox, honest: BotSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    watched = Watched(box, fail_at=7 if why == "start fails" else 0)

    def stop() -> bool:
        if why == "start fails" or len(watched.started) < 8:
            time.sleep(0.01)
            return False
        if why == "referee fails":
            raise RuntimeError("a fault of the referee")
        return True

    def play() -> Any:
        return play_match(match(honest, honest, boards=1), watched, stop=stop)

    if why == "stopped":
        assert not any(board.complete for board in play().boards)
    else:
        with pytest.raises(Infrastructure, match="told to fail" if why == "start fails" else "a fault of the referee"):
            play()
    assert len(watched.started) == (6 if why == "start fails" else 8)
    assert watched.alive() == []
    assert not [thread for thread in threading.enumerate() if thread.name == "bot processes"]


def test_where_no_other_core_is_free_nothing_is_started_ahead(box: Sandbox, honest: BotSpec) -> None:
    watched = Watched(box)
    cores_held = [pinned(among=[core]) for core in CORES]
    for core in cores_held:
        core.__enter__()
    try:
        play_match(match(honest, honest, boards=1), watched, core=min(CORES))
    finally:
        for core in reversed(cores_held):
            core.__exit__(None, None, None)
    assert {thread for thread, _ in watched.started} == {threading.current_thread().name}


# It listens from its first instruction on: a thread waits on a page of a file that all bots share. Every decision wakes such threads.
TALKER = """
import ctypes
print("born", time.monotonic_ns(), file=sys.stderr, flush=True)
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
with open(json.__file__, "rb") as file:
    page = libc.mmap(None, ctypes.c_size_t(4096), 1, 1, file.fileno(), ctypes.c_long(0))
word = ctypes.c_uint32.from_address(page).value
def listen():
    timeout = (ctypes.c_long * 2)(20, 0)
    libc.syscall(ctypes.c_long({futex}), ctypes.c_void_p(page), 0, word, ctypes.byref(timeout), None, 0)
threading.Thread(target=listen, daemon=True).start()
def act(m):
    woken = libc.syscall(ctypes.c_long({futex}), ctypes.c_void_p(page), 1, 99, None, None, 0)
    print("acted", time.monotonic_ns(), woken, file=sys.stderr, flush=True)
    return good(m)
"""


@needs_two
def test_no_bot_of_a_pass_begins_before_the_pass_before_has_ended(box: Sandbox, make: Maker, honest: BotSpec) -> None:
    talker = make(TALKER.format(futex=this_architecture().numbers["futex"]), name="talker")
    watched = Watched(box)

    def look() -> bool:
        wait_for(
            lambda: "bot processes" not in [thread.name for thread in threading.enumerate()], "the bot processes", 60
        )
        return False

    result = play_match(match(talker, honest, boards=1), watched, stop=look)

    assert [report.faults for report in result.parties] == [[], []]
    assert [thread for thread, _ in watched.started] == [threading.current_thread().name] * 4 + ["bot processes"] * 4
    passes = _lines_by_pass(result.parties[0].stderr)
    assert {woken for lines in passes.values() for word, _, woken in lines if word == "acted"} == {"0"}
    assert sorted(passes) == [0, 1]
    assert max(when for word, when, _ in passes[0] if word == "acted") < min(
        when for word, when, _ in passes[1] if word == "born"
    )


def _lines_by_pass(stderr: str) -> dict[int, list[tuple[str, int, str]]]:
    """Pass -> the lines of its bots: word, time, rest."""
    by_pass: dict[int, list[tuple[str, int, str]]] = {}
    number = -1
    for line in stderr.splitlines():
        if line.startswith("--- pass "):
            number = int(line.split()[2].rstrip(","))
        else:
            word, when, *rest = line.split()
            by_pass.setdefault(number, []).append((word, int(when), " ".join(rest)))
    return by_pass
