"""`engine.analysis` and `engine.puzzles` in a process of its own, with bounds: `python -m engine.judging`, which `Child` starts and talks to.

A judgement takes long, and whoever asks for it may have better to do at any moment. So it runs where it can be ended at once and where
running out of time or memory ends nothing else: at the lowest priority of the machine, with so many seconds of a core and so much memory,
and without the surroundings of who started it.
"""

from __future__ import annotations

import json
import os
import resource
import select
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, cast

from engine.analysis import USUAL_NODES, Decision, Judged, Move, decisions, fairly, phase_of, ply_of, with_open_cards
from engine.puzzles import Puzzle, find, read
from engine.replay import ReplayError
from engine.search.solving import NotTwoSidedError, camps

MEMORY = 1 << 30  # bytes of address space: several times what the largest deal needs
LOOK_S = 0.2  # so often it is asked whether to stop


class Stopped(Exception):
    """Whoever asked wants it no more."""


class Broken(RuntimeError):
    """The process ended before it had answered, and not for want of time."""


@dataclass(slots=True)
class Verdict:
    """One decision of a record. at: how many moments come before it; ply: how many of them in its deal. What could not be judged has `lost` None.

    first: whether its seat is of the first camp, to which `par` and `worth` count; None where there are not two.
    The others as `engine.analysis.Judged` has them.
    """

    step: int
    at: int
    ply: int
    deal: int
    seat: int
    phase: str
    action: str
    first: bool | None
    lost: float | None = None
    best: tuple[str, ...] = ()
    par: float | None = None
    worth: float | None = None
    error: float = 0.0
    line: tuple[Move, ...] = ()


class Child:
    """The process. Close it whatever happens; `cpu_s` is then what it took."""

    def __init__(
        self,
        *,
        cpu_s: float,
        fair: int | None = None,
        puzzles: int | None = None,
        margin: float | None = None,
        nodes: int = USUAL_NODES,
        memory: int = MEMORY,
    ) -> None:
        """What it is for: to judge `fair`ly over so many deals, None: with open cards; or to find `puzzles` that so many deals prove.

        cpu_s: so long at most, for all records. margin: of puzzles, as `engine.puzzles.find` has it.
        """
        self.cpu_s = 0.0
        self._rest = b""
        self._told = tempfile.TemporaryFile()  # noqa: SIM115 - as long as the process
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "engine.judging"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._told,
            env={"PYTHONPATH": str(Path(__file__).resolve().parent.parent)},
        )
        self._in, self._out = cast("IO[bytes]", self._process.stdin), cast("IO[bytes]", self._process.stdout)
        self._order: dict[str, Any] | None = {
            "fair": fair,
            "puzzles": puzzles,
            "margin": margin,
            "nodes": nodes,
            "cpu_s": max(1, round(cpu_s)),
            "memory": memory,
            "parent": os.getpid(),
        }

    def judge(self, replay: Mapping[str, Any], *, stop: Callable[[], bool]) -> tuple[list[Verdict], bool]:
        """All decisions of a record in order, and whether there was time for all of it.

        Raises Stopped where `stop` said so, Broken.
        """
        lines = [] if self._order is None else [self._order]
        self._order = None  # said once
        found: list[Verdict] = []
        try:
            self._say(*lines, replay)
            found = [Verdict(*row) for row in self._hear(stop) or []]
            places = {one.step: one for one in found}
            while (judged := self._hear(stop)) is not None:
                for step, lost, best, par, worth, error, line in judged:
                    one = places[step]
                    one.lost, one.best, one.par, one.worth, one.error = lost, tuple(best), par, worth, error
                    one.line = tuple(Move(*move) for move in line)
        except (EOFError, BrokenPipeError):
            if self.close() == -signal.SIGXCPU:
                return found, False
            raise Broken(self._last_words()) from None
        return found, True

    def find(self, replay: Mapping[str, Any], *, stop: Callable[[], bool]) -> tuple[list[Puzzle], bool]:
        """The puzzles of a record in order, and whether there was time for all of it. Raises Stopped where `stop` said so, Broken."""
        lines = [] if self._order is None else [self._order]
        self._order = None  # said once
        found: list[Puzzle] = []
        try:
            self._say(*lines, replay)
            while (line := self._hear(stop)) is not None:
                found.append(read(line))
        except (EOFError, BrokenPipeError):
            if self.close() == -signal.SIGXCPU:
                return found, False
            raise Broken(self._last_words()) from None
        return found, True

    def _say(self, *lines: Mapping[str, Any]) -> None:
        self._in.write(b"".join(json.dumps(line).encode() + b"\n" for line in lines))
        self._in.flush()

    def _hear(self, stop: Callable[[], bool]) -> Any:
        pipe = self._out.fileno()
        while b"\n" not in self._rest:
            if stop():
                raise Stopped
            if select.select([pipe], [], [], LOOK_S)[0]:
                more = os.read(pipe, 1 << 16)
                if not more:
                    raise EOFError
                self._rest += more
        line, _, self._rest = self._rest.partition(b"\n")
        return json.loads(line)

    def _last_words(self) -> str:
        self._told.seek(0)
        lines = self._told.read().decode(errors="replace").strip().splitlines()
        return f"the process that judges ended with {self._process.returncode}" + (
            f": {lines[-1][:300]}" if lines else ""
        )

    def close(self) -> int:
        """End it at once, if it has not ended; its exit code, a signal below 0. Harmless to repeat."""
        if self._process.returncode is None:
            os.kill(self._process.pid, signal.SIGKILL)  # Popen.kill() would look first, and then its time is lost
            _, status, used = os.wait4(self._process.pid, 0)
            self._process.returncode = os.waitstatus_to_exitcode(status)
            self.cpu_s = used.ru_utime + used.ru_stime
            for pipe in (self._in, self._out):
                with suppress(BrokenPipeError):
                    pipe.close()
        return int(self._process.returncode)


def main() -> None:
    """The process itself: an order, then records, a line each.

    Each is answered by its decisions, their verdicts deal by deal, and null; where puzzles are wanted by a line for each, and null.
    """
    order = json.loads(sys.stdin.readline())
    _stand_back(order["cpu_s"], order["memory"], order["parent"])
    for line in sys.stdin:
        replay = json.loads(line)
        if order["puzzles"] is not None:
            _find(replay, order)
            continue
        _tell([_known(one) for one in decisions(replay)])
        fair, nodes = order["fair"], order["nodes"]
        for deal in with_open_cards(replay, nodes, lines=True) if fair is None else fairly(replay, fair, nodes):
            _tell([_plain(one) for one in deal if one.lost is not None])
        _tell(None)


def _find(replay: Mapping[str, Any], order: Mapping[str, Any]) -> None:
    # What cannot be played again has no puzzles
    with suppress(ReplayError):
        for one in find(replay, deals=order["puzzles"], margin=order["margin"], nodes=order["nodes"]):
            _tell(one.line())
    _tell(None)


def _known(one: Decision) -> tuple[Any, ...]:
    state = one.state
    first: bool | None = None
    with suppress(NotTwoSidedError):
        first = state.turn in camps(state)[0]
    action = state.game.action_text(one.chosen)
    return one.step, len(state.events), ply_of(state), state.deal_no, state.turn, phase_of(state), action, first


def _plain(one: Judged) -> tuple[Any, ...]:
    return one.step, one.lost, one.best, one.par, one.worth, one.error, one.line


def _tell(line: Any) -> None:
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


def _stand_back(cpu_s: int, memory: int, parent: int) -> None:
    """Let everything else go first, end where the time is over, and with `parent`, who started this."""
    with suppress(OSError):
        os.nice(19)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_s, cpu_s + 5))
    with suppress(OSError, ImportError, AttributeError):
        import ctypes

        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
    # It may be process 1, as in a container, and who takes an orphan over may be another
    if os.getppid() != parent:
        sys.exit("who started this has ended")


if __name__ == "__main__":
    main()
