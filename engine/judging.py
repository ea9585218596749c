"""Run `engine.analysis` and `engine.puzzles` in a bounded process of its own: `python -m engine.judging`, which `Child` starts.

An analysis takes long, and its caller must be able to stop it at any time. So it runs in a child process that can be killed at once and
where running out of time or memory harms nothing else: at the lowest priority, with limited CPU time and memory, and without the
environment of its caller.
"""

from __future__ import annotations

import hashlib
import json
import os
import resource
import select
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import IO, Any, cast

from engine.analysis import USUAL_NODES, Decision, Judged, Move, decisions, fairly, phase_of, ply_of, with_open_cards
from engine.compiled import COMPILED
from engine.parent import end_with
from engine.puzzles import Puzzle, find, read
from engine.replay import ReplayError
from engine.search.solving import NotTwoSidedError, camps

MEMORY = 1 << 30  # Bytes of address space: several times what the largest deal needs.
LOOK_S = 0.2  # Interval between two calls of `stop`.
# The source on which verdicts and puzzles depend, below the folder of the engine.
SOURCES = ("analysis.py", "game.py", "judging.py", "portable.py", "puzzles.py", "replay.py")
SOURCE_FOLDERS = ("cards", "games", "match", "rules", "search")


class Stopped(Exception):
    """The caller's `stop` returned True."""


class Broken(RuntimeError):
    """The process ended before it answered, for a reason other than its time limit."""


@dataclass(slots=True)
class DecisionVerdict:
    """One decision of a record. at: the number of events before it; ply: the number of those that belong to its deal.

    lost is None if the decision could not be judged. first: True if its seat belongs to the first camp, to which `par` and `worth` refer; None if
    there are not two camps. The other fields are those of `engine.analysis.Judged`.
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


@lru_cache(maxsize=1)
def fingerprint() -> str:
    """Return a digest of the program that judges. Where it is equal, the same record gets the same verdicts, to the last digit.

    Compiled rules search further, so they have a fingerprint of their own.
    """
    engine = Path(__file__).resolve().parent
    total = hashlib.sha256(b"compiled" if COMPILED else b"source")
    files = [engine / name for name in SOURCES]
    for folder in SOURCE_FOLDERS:
        files += sorted((engine / folder).rglob("*.py"))
    for file in files:
        source = file.read_bytes()
        total.update(b"%s %d\n" % (file.relative_to(engine).as_posix().encode(), len(source)))
        total.update(source)
    return total.hexdigest()[:16]


class Child:
    """The child process. Always close it; then `cpu_s` is the CPU time it used."""

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
        """Start the process to analyse decisions, or to find puzzles if `puzzles` is given.

        fair: the number of sampled deals per decision; None: with open cards. puzzles: the number of deals that prove a puzzle. cpu_s: limit for
        all records together. margin: as in `engine.puzzles.find`.
        """
        self.cpu_s = 0.0
        self._rest = b""
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - it lives as long as the process
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "engine.judging"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env={"PYTHONPATH": str(Path(__file__).resolve().parent.parent)},
            process_group=0,  # The terminal sends Ctrl-C to all processes of a group.
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

    def judge(self, replay: Mapping[str, Any], *, stop: Callable[[], bool]) -> tuple[list[DecisionVerdict], bool]:
        """Judge all decisions of a record in order. The second value is False if the CPU time ran out before the end.

        Raise Stopped if `stop` returned True, Broken if the process failed.
        """
        answers = self._answers(replay, stop)
        results = [DecisionVerdict(*row) for row in next(answers, None) or ()]
        places = {verdict.step: verdict for verdict in results}
        for judged in answers:
            if judged is None:
                return results, True
            for step, lost, best, par, worth, error, line in judged:
                verdict = places[step]
                verdict.lost, verdict.par, verdict.worth, verdict.error = lost, par, worth, error
                verdict.best, verdict.line = tuple(best), tuple(Move(*move) for move in line)
        return results, False

    def find(
        self, replay: Mapping[str, Any], *, stop: Callable[[], bool], mistakes: Collection[int] | None = None
    ) -> tuple[list[Puzzle], bool]:
        """Find the puzzles of a record, in order. The second value is False if the CPU time ran out. Raise what `judge` raises.

        mistakes: as in `engine.puzzles.find`.
        """
        results: list[Puzzle] = []
        question = replay if mistakes is None else {**replay, "mistakes": sorted(mistakes)}
        for line in self._answers(question, stop):
            if line is None:
                return results, True
            results.append(read(line))
        return results, False

    def _answers(self, replay: Mapping[str, Any], stop: Callable[[], bool]) -> Iterator[Any]:
        """Send a record and yield the lines of its answer; the last one is None, unless the CPU time runs out before."""
        lines = [replay] if self._order is None else [self._order, replay]
        self._order = None  # It is sent once, before the first record.
        try:
            self._in.write(b"".join(json.dumps(line).encode() + b"\n" for line in lines))
            self._in.flush()
            while (line := self._hear(stop)) is not None:
                yield line
            yield None
        except (EOFError, BrokenPipeError):
            if self.close() != -signal.SIGXCPU:
                raise Broken(self._last_words()) from None

    def _hear(self, stop: Callable[[], bool]) -> Any:
        pipe = self._out.fileno()
        waiting = select.poll()  # It takes any descriptor; select.select none above 1023.
        waiting.register(pipe, select.POLLIN)
        while b"\n" not in self._rest:
            if stop():
                raise Stopped
            if waiting.poll(LOOK_S * 1000):
                more = os.read(pipe, 1 << 16)
                if not more:
                    raise EOFError
                self._rest += more
        line, _, self._rest = self._rest.partition(b"\n")
        return json.loads(line)

    def _last_words(self) -> str:
        self._errors.seek(0)
        lines = self._errors.read().decode(errors="replace").strip().splitlines()
        return f"the analysis process ended with {self._process.returncode}" + (f": {lines[-1][:300]}" if lines else "")

    def close(self) -> int:
        """Kill the process if it still runs. Return its exit code, negative for a signal. May be called again."""
        if self._process.returncode is None:
            os.kill(self._process.pid, signal.SIGKILL)  # Popen.kill() would poll first, and lose the CPU time.
            _, status, used = os.wait4(self._process.pid, 0)
            self._process.returncode = os.waitstatus_to_exitcode(status)
            self.cpu_s = used.ru_utime + used.ru_stime
            for pipe in (self._in, self._out):
                with suppress(BrokenPipeError):
                    pipe.close()
        return int(self._process.returncode)


def main() -> None:
    """Run the child process: read an order, then one record a line.

    Answer each record with one line for its decisions, one for the verdicts of each deal, and null; for puzzles, one line each, and null.
    """
    order = json.loads(sys.stdin.readline())
    _limit_process(order["cpu_s"], order["memory"], order["parent"])
    for line in sys.stdin:
        replay = json.loads(line)
        if order["puzzles"] is not None:
            _find(replay, order)
            continue
        _send([fields(decision) for decision in decisions(replay)])
        fair, nodes = order["fair"], order["nodes"]
        for deal in with_open_cards(replay, nodes, lines=True) if fair is None else fairly(replay, fair, nodes):
            _send([_plain(judged) for judged in deal if judged.lost is not None])
        _send(None)


def _find(replay: dict[str, Any], order: Mapping[str, Any]) -> None:
    terms = {"deals": order["puzzles"], "margin": order["margin"], "nodes": order["nodes"]}
    # A record that cannot be replayed has no puzzles.
    with suppress(ReplayError):
        for puzzle in find(replay, **terms, mistakes=replay.pop("mistakes", None)):
            _send(puzzle.line())
    _send(None)


def fields(decision: Decision) -> tuple[Any, ...]:
    """Return the fields of a `DecisionVerdict` that need no analysis."""
    state = decision.state
    first: bool | None = None
    with suppress(NotTwoSidedError):
        first = state.turn in camps(state)[0]
    action = state.game.action_text(decision.chosen)
    return decision.step, len(state.events), ply_of(state), state.deal_no, state.turn, phase_of(state), action, first


def _plain(judged: Judged) -> tuple[Any, ...]:
    return judged.step, judged.lost, judged.best, judged.par, judged.worth, judged.error, judged.line


def _send(line: Any) -> None:
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


def _limit_process(cpu_s: int, memory: int, parent: int) -> None:
    """Take the lowest priority, limit time and memory, and end together with `parent`."""
    with suppress(OSError):
        os.nice(19)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_s, cpu_s + 5))
    end_with(parent)


if __name__ == "__main__":
    main()
