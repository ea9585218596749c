"""Many boards as a series of matches: on as many cores as there are, with a journal to go on from, until a test decides or the boards end.

Each match has the same boards, cards and seeds whoever plays it and when, so the result of a series depends on its seed alone, not on the
number of cores or on how often it was interrupted. Matches are counted in order; what was played beyond the one that decided is dropped.
"""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from multiprocessing import get_context
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from engine import sprt
from engine.cli.problem import INFRASTRUCTURE, Problem

if TYPE_CHECKING:
    from engine.runner import MatchResult, MatchSpec
    from engine.sandbox import Sandbox

BOARDS = 32  # of one match: enough that starting the bots costs little, few enough that all cores have work
STDERR = 1 << 16  # characters of a bot's log that are kept, the last ones
LOOK_S = 0.5  # how often progress is read while matches are played elsewhere
FORMAT = "tute-series/1"

Advance = Callable[[int, int], None]


@dataclass
class Played:
    """What is kept of a match, and of all together: plain data.

    boards: number, complete, scores by party, and seating, scores and kind of fault of each sitting. parties: sealed, decisions, cpu_s,
    max_cpu_s, faults, stderr. seconds: of the matches, one after another.
    """

    boards: list[dict[str, Any]] = field(default_factory=list)
    parties: list[dict[str, Any]] = field(default_factory=list)
    decisions: int = 0
    seconds: float = 0.0
    host: dict[str, Any] = field(default_factory=dict)

    def add(self, more: Played) -> None:
        """Count the next match."""
        self.boards += more.boards
        self.decisions += more.decisions
        self.seconds += more.seconds
        self.host = self.host or more.host
        if not self.parties:
            self.parties = [dict(party) for party in more.parties]
            return
        for mine, new in zip(self.parties, more.parties, strict=True):
            mine["sealed"] = mine["sealed"] and new["sealed"]
            mine["decisions"] += new["decisions"]
            mine["cpu_s"] += new["cpu_s"]
            mine["max_cpu_s"] = max(mine["max_cpu_s"], new["max_cpu_s"])
            mine["faults"] = mine["faults"] + new["faults"]
            mine["stderr"] = (mine["stderr"] + new["stderr"])[-STDERR:]

    def scores(self) -> list[list[int]]:
        """Of each complete board, by party."""
        return [board["scores"] for board in self.boards if board["complete"]]


def matches(spec: MatchSpec) -> list[MatchSpec]:
    """The matches of a series, from one that holds all boards. The first bears its name; the others say which boards are theirs."""
    boards = list(spec.boards)
    parts = [boards[first : first + BOARDS] for first in range(0, len(boards), BOARDS)]
    named = [
        spec.match_id if not number else f"{spec.match_id}, boards {part[0]} to {part[-1]}"
        for number, part in enumerate(parts)
    ]
    return [replace(spec, match_id=name, boards=part) for name, part in zip(named, parts, strict=True)]


# ---- the test that ends a series


@dataclass(frozen=True)
class Sequential:
    """A sequential test of the first party against the second: is it at least elo1 stronger, or at most elo0 (Elo of a board)?"""

    elo0: float
    elo1: float

    def __post_init__(self) -> None:
        if not self.elo0 < self.elo1:
            raise Problem(f"--sprt {self.elo0:g} {self.elo1:g}: the first bound must be less than the second")

    def found(self, scores: Sequence[Sequence[int]]) -> dict[str, Any]:
        """Counts, ratio, bounds and what was accepted: "elo0", "elo1" or None so far."""
        counts = [0, 0, 0]  # boards of the first party lost, drawn, won
        for first, second in scores:
            counts[1 + (first > second) - (first < second)] += 1
        ratio, bounds = sprt.llr(counts, self.elo0, self.elo1), sprt.bounds()
        accepted = "elo1" if ratio >= bounds.upper else "elo0" if ratio <= bounds.lower else None
        estimate = sprt.estimate(counts) if scores else None
        return {
            "elo0": self.elo0,
            "elo1": self.elo1,
            "lost": counts[0],
            "drawn": counts[1],
            "won": counts[2],
            "llr": ratio,
            "lower": bounds.lower,
            "upper": bounds.upper,
            "elo": estimate.elo if estimate else None,
            "elo_margin": estimate.margin if estimate else None,
            "accepted": accepted,
        }


# ---- play


def play(
    specs: Sequence[MatchSpec],
    box: Sandbox,
    jobs: int,
    *,
    log: Path | None = None,
    journal: Journal | None = None,
    test: Sequential | None = None,
    advance: Advance | None = None,
) -> Played:
    """Play the matches that the journal does not hold, `jobs` at a time, and sum up all.

    log: takes the replays, one a line, in order. Problem where a match cannot be set up or something of ours fails; what was finished
    before is in the journal.
    """
    total = Played()
    kept = journal.finished if journal else []
    for one in kept[: len(specs)]:
        total.add(one)
        if test is not None and test.found(total.scores())["accepted"]:
            return total
    todo = specs[len(kept) :]
    before = sum(len(spec.boards) for spec in specs[: len(kept)])
    boards = before + sum(len(spec.boards) for spec in todo)
    told = _boards_done(advance, before, boards)
    if not todo:
        return total
    with _open_log(log, journal) as file, _player(box, min(jobs, len(todo)), todo, told) as results:
        for played, lines in results:
            total.add(played)
            if file is not None:
                file.writelines(lines)
                file.flush()
            if journal is not None:
                journal.add(played, file)
            if test is not None and test.found(total.scores())["accepted"]:
                break
    return total


def _boards_done(advance: Advance | None, before: int, total: int) -> Callable[[float], None]:
    def told(boards: float) -> None:
        if advance is not None:
            advance(before + int(boards), total)

    return told


@contextmanager
def _open_log(path: Path | None, journal: Journal | None) -> Iterator[IO[str] | None]:
    if path is None:
        yield None
        return
    with path.open("a" if journal is not None else "w", encoding="utf-8") as file:
        yield file


Result = tuple[Played, list[str]]  # and its replays, a line each


@contextmanager
def _player(
    box: Sandbox, jobs: int, specs: Sequence[MatchSpec], told: Callable[[float], None]
) -> Iterator[Iterator[Result]]:
    """The results of the matches in their order. What is under way when the block is left is stopped."""
    if jobs == 1:
        yield _here(box, specs, told)
        return
    context = get_context("spawn")
    stop, sittings = context.Event(), context.Value("q", 0)
    pool = ProcessPoolExecutor(jobs, context, _begin, (box.tier, str(box.state_dir), stop, sittings))
    try:
        yield _elsewhere(pool, jobs, specs, sittings, told)
    finally:
        stop.set()
        pool.shutdown(cancel_futures=True)


def _here(box: Sandbox, specs: Sequence[MatchSpec], told: Callable[[float], None]) -> Iterator[Result]:
    done = 0
    for spec in specs:
        start, size = done, len(spec.boards)

        def advance(sittings: int, of: int, start: int = start, size: int = size) -> None:
            told(start + size * sittings / of)

        yield _play(spec, box, advance)
        done += size


def _elsewhere(
    pool: ProcessPoolExecutor, jobs: int, specs: Sequence[MatchSpec], sittings: Any, told: Callable[[float], None]
) -> Iterator[Result]:
    from engine.runner.match import load

    each = len(load(specs[0]).sittings(len(specs[0].parties)))
    under_way: list[Future[Result | str]] = []
    coming = iter(specs)
    for spec in coming:
        under_way.append(pool.submit(_play_there, spec))
        if len(under_way) <= jobs:  # one more than is played, so that no core waits
            continue
        yield _outcome(under_way.pop(0), sittings, each, told)
    for future in under_way:
        yield _outcome(future, sittings, each, told)


def _outcome(future: Future[Result | str], sittings: Any, each: int, told: Callable[[float], None]) -> Result:
    while not wait([future], LOOK_S).done:
        told(sittings.value / each)
    told(sittings.value / each)
    found = future.result()
    if isinstance(found, str):
        raise Problem(found, INFRASTRUCTURE)
    return found


_there: dict[str, Any] = {}  # in a process of the pool: its sandbox, when to stop, where it counts its sittings


def _begin(tier: str, state_dir: str, stop: Any, sittings: Any) -> None:
    from engine.sandbox import Sandbox

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the one who asked for the series ends it
    _there.update(box=Sandbox(tier=tier, state_dir=Path(state_dir)), stop=stop.is_set, sittings=sittings)


def _play_there(spec: MatchSpec) -> Result | str:
    def advance(_done: int, _of: int) -> None:
        with _there["sittings"].get_lock():
            _there["sittings"].value += 1

    try:
        return _play(spec, _there["box"], advance, _there["stop"])
    except Problem as problem:
        return str(problem)


def _play(spec: MatchSpec, box: Sandbox, advance: Advance, stop: Callable[[], bool] | None = None) -> Result:
    from engine.runner import Infrastructure
    from engine.runner.match import play_match

    try:
        result = play_match(spec, box, progress=advance, stop=stop)
    except ValueError as error:
        raise Problem(str(error)) from None
    except Infrastructure as error:
        raise Problem(f"{error}. This is no fault of a bot: play again", INFRASTRUCTURE) from None
    lines = [
        json.dumps(sitting.replay, ensure_ascii=False, separators=(",", ":")) + "\n"
        for board in result.boards
        for sitting in board.sittings
    ]
    return _kept(result), lines


def _kept(result: MatchResult) -> Played:
    boards = [
        {
            "number": board.number,
            "complete": board.complete,
            "scores": board.scores,
            "sittings": [
                {
                    "seating": list(sitting.seating),
                    "scores": sitting.scores,
                    "fault": sitting.fault.kind if sitting.fault else None,
                }
                for sitting in board.sittings
            ],
        }
        for board in result.boards
    ]
    parties = [
        {
            "sealed": report.sealed,
            "decisions": report.decisions,
            "cpu_s": report.cpu_s,
            "max_cpu_s": report.max_cpu_s,
            "faults": [asdict(fault) for fault in report.faults],
            "stderr": report.stderr[-STDERR:],
        }
        for report in result.parties
    ]
    return Played(boards, parties, result.decisions, result.seconds, result.host)


# ---- the journal


class Journal:
    """The finished matches of a series in a file: a line that says what is played, then a line a match.

    A line is written, and on disk, after its match is whole, so a series that was killed loses only what was under way.
    """

    def __init__(self, path: Path, spec: MatchSpec, seed: str, log: Path | None) -> None:
        """Open it, or begin it. Problem where it holds another series."""
        self.path = path
        self.finished: list[Played] = []
        told = _told(spec, seed, log)
        if path.exists() and path.stat().st_size:
            self._read(told, spec, log)
        else:
            self._append(told)

    @staticmethod
    def seed(path: Path) -> str | None:
        """The seed of the series that a file holds, if it holds one."""
        try:
            with path.open(encoding="utf-8") as file:
                return str(json.loads(file.readline())["seed"])
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def add(self, played: Played, log: IO[str] | None) -> None:
        """Keep a finished match; its replays are in the log already."""
        if log is not None:
            os.fsync(log.fileno())
        self._append({**asdict(played), "log_bytes": log.tell() if log is not None else 0})
        self.finished.append(played)

    def _append(self, value: dict[str, Any]) -> None:
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n")
            file.flush()
            os.fsync(file.fileno())

    def _read(self, told: dict[str, Any], spec: MatchSpec, log: Path | None) -> None:
        raw = self.path.read_bytes()
        whole = raw[: raw.rfind(b"\n") + 1]  # the last line may have been cut off with its writer
        try:
            first, *lines = [json.loads(line) for line in whole.splitlines()]
            if first["format"] != FORMAT:
                raise ValueError(f"its format is {first['format']!r}")
            differing = [name for name in told if first.get(name) != told[name]]
            if differing:
                raise Problem(
                    f"{self.path} holds another series: {_compared(differing[0], first, told)}. Give the same bots, game and options, or name"
                    " another file"
                )
            ends = [_end(line) for line in lines]
            found = [Played(**line) for line in lines]
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise Problem(
                f"{self.path} is not the journal of a series ({error}); remove it, or name another file"
            ) from None
        wanted = [list(part.boards) for part in matches(spec)]
        there = [[board["number"] for board in one.boards] for one in found]
        same = 0  # the last match is played again where it was shorter than it is now
        while same < len(found) and (same >= len(wanted) or there[same] == wanted[same]):
            same += 1
        self.finished = found[:same]
        if log is not None:
            _cut(log, ends[same - 1] if same else 0)
        if same < len(found) or len(whole) < len(raw):
            kept = b"".join(whole.splitlines(keepends=True)[: same + 1])
            beside = self.path.with_name(self.path.name + ".new")
            with beside.open("wb") as file:
                file.write(kept)
                file.flush()
                os.fsync(file.fileno())
            beside.replace(self.path)


def _told(spec: MatchSpec, seed: str, log: Path | None) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "game": spec.game,
        "players": spec.players,
        "options": dict(spec.options),
        "seed": seed,
        "bots": [f"{bot.name} {bot.sha256}" for bot in spec.parties],
        "limits": asdict(spec.limits),
        "sealing": spec.sealing,
        "log": str(log.resolve()) if log is not None else None,
    }


def _compared(name: str, first: dict[str, Any], told: dict[str, Any]) -> str:
    return f"its {name} is {first.get(name)}, not {told[name]}"


def _end(line: dict[str, Any]) -> int:
    """Where the log ended after this match; taken out of the line."""
    return int(line.pop("log_bytes"))


def _cut(log: Path, size: int) -> None:
    """Take from the log what came after the last match of the journal."""
    there = log.stat().st_size if log.exists() else 0
    if there < size:
        raise Problem(
            f"{log} has {there} bytes, but its series had written {size}: it was changed or moved. Put it back, or begin anew with other files"
        )
    if there > size:
        os.truncate(log, size)
