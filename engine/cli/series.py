"""Many boards as a series of matches: on all cores, with a journal for resuming, until a test decides or the boards end.

Each match has the same boards, cards and seeds in every run, so the result of a series depends on its seed alone, not on the number of cores or
on interruptions. Matches are counted in order; those played after the deciding one are dropped.
"""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, wait
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass, field
from multiprocessing import get_context
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from engine import sprt
from engine.cli.problem import INFRASTRUCTURE, Problem
from engine.parent import end_with
from engine.studying import Facts, parts_of, plain_boards

if TYPE_CHECKING:
    from engine.runner import MatchResult, MatchSpec
    from engine.sandbox import Sandbox

STDERR = 1 << 16  # The last characters of a bot's log are stored, at most this many.
LOOK_S = 0.5  # Interval at which the progress of the other processes is read.
FORMAT = "tute-series/1"

Advance = Callable[[int, int], None]


@dataclass
class SeriesResult:
    """The stored result of one match, or the sum of several: plain data.

    boards: for each board its number, whether it is complete and its scores by party; for each sitting of it the seating, the scores, the kind of
    fault, and its facts if the series asks for them. parties: for each party sealed, decisions, cpu_s, max_cpu_s, faults and stderr. seconds: the
    total time of the matches.
    """

    boards: list[dict[str, Any]] = field(default_factory=list)
    parties: list[dict[str, Any]] = field(default_factory=list)
    decisions: int = 0
    seconds: float = 0.0
    host: dict[str, Any] = field(default_factory=dict)

    def add(self, more: SeriesResult) -> None:
        """Add the next match."""
        self.boards += more.boards
        self.decisions += more.decisions
        self.seconds += more.seconds
        self.host = self.host or more.host
        if not self.parties:
            self.parties = [dict(party) for party in more.parties]
            return
        for party, new in zip(self.parties, more.parties, strict=True):
            party["sealed"] = party["sealed"] and new["sealed"]
            party["decisions"] += new["decisions"]
            party["cpu_s"] += new["cpu_s"]
            party["max_cpu_s"] = max(party["max_cpu_s"], new["max_cpu_s"])
            party["faults"] = party["faults"] + new["faults"]
            party["stderr"] = (party["stderr"] + new["stderr"])[-STDERR:]

    def scores(self) -> list[list[int]]:
        """Return the scores of each complete board, by party."""
        return [board["scores"] for board in self.boards if board["complete"]]


# ---- The test that ends a series


@dataclass(frozen=True)
class Sequential:
    """A sequential test: is the first party at least elo1 stronger than the second, or at most elo0 (Elo per board)?"""

    elo0: float
    elo1: float

    def __post_init__(self) -> None:
        if not self.elo0 < self.elo1:
            raise Problem(f"--sprt {self.elo0:g} {self.elo1:g}: the first bound must be less than the second")
        if max(-self.elo0, self.elo1) > sprt.MOST_ELO:
            raise Problem(
                f"--sprt {self.elo0:g} {self.elo1:g}: a bound is a number from -{sprt.MOST_ELO} to {sprt.MOST_ELO}"
            )

    def result(self, scores: Sequence[Sequence[int]]) -> dict[str, Any]:
        """Return counts, ratio, bounds and the accepted hypothesis, "elo0" or "elo1", or None while undecided."""
        counts = [0, 0, 0]  # Boards that the first party lost, drew, won.
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


# ---- Play


def play(
    specs: Sequence[MatchSpec],
    box: Sandbox,
    jobs: int,
    *,
    log: Path | None = None,
    journal: SeriesJournal | None = None,
    test: Sequential | None = None,
    facts: Facts | None = None,
    advance: Advance | None = None,
) -> SeriesResult:
    """Play the matches that are not in the journal, `jobs` at a time, and add up all results.

    log: receives the replays, one per line, in order. facts: a function of a module that reads what to store of each replay. Raise Problem if a
    match cannot be set up or the platform fails; the matches finished before are in the journal.
    """
    total = SeriesResult()
    finished = journal.finished if journal else []
    for match in finished[: len(specs)]:
        total.add(match)
        if test is not None and test.result(total.scores())["accepted"]:
            return total
    todo = specs[len(finished) :]
    before = sum(len(spec.boards) for spec in specs[: len(finished)])
    boards = before + sum(len(spec.boards) for spec in todo)

    def report(played: float) -> None:
        if advance is not None:
            advance(before + int(played), boards)

    if not todo:
        return total
    opened = log.open("a" if journal is not None else "w", encoding="utf-8") if log is not None else nullcontext()
    with opened as file, _player(box, min(jobs, len(todo)), todo, facts, report) as results:
        for played, lines in results:
            total.add(played)
            if file is not None:
                file.writelines(lines)
                file.flush()
            if journal is not None:
                journal.add(played, file)
            if test is not None and test.result(total.scores())["accepted"]:
                break
    return total


Result = tuple[SeriesResult, list[str]]  # The result of a match, and its replays as lines.


@contextmanager
def _player(
    box: Sandbox, jobs: int, specs: Sequence[MatchSpec], facts: Facts | None, report: Callable[[float], None]
) -> Iterator[Iterator[Result]]:
    """Yield the results of the matches in order. Matches that still run when the block is left are stopped."""
    if jobs == 1:
        yield _play_here(box, specs, facts, report)
        return
    context = get_context("spawn")
    stop, sittings = context.Event(), context.Value("q", 0)
    pool = ProcessPoolExecutor(jobs, context, _begin, (os.getpid(), box.tier, str(box.state_dir), stop, sittings))
    try:
        yield _play_elsewhere(pool, jobs, specs, facts, sittings, report)
    finally:
        stop.set()
        pool.shutdown(cancel_futures=True)


def _play_here(
    box: Sandbox, specs: Sequence[MatchSpec], facts: Facts | None, report: Callable[[float], None]
) -> Iterator[Result]:
    boards_done = 0
    for spec in specs:
        start, size = boards_done, len(spec.boards)

        def advance(sittings: int, total: int, start: int = start, size: int = size) -> None:
            report(start + size * sittings / total)

        yield _play(spec, box, facts, advance)
        boards_done += size


def _play_elsewhere(
    pool: ProcessPoolExecutor,
    jobs: int,
    specs: Sequence[MatchSpec],
    facts: Facts | None,
    sittings: Any,
    report: Callable[[float], None],
) -> Iterator[Result]:
    from engine.runner.match import load

    each = len(load(specs[0]).sittings(len(specs[0].parties)))
    under_way: list[Future[Result | str]] = []
    coming = iter(specs)
    for spec in coming:
        under_way.append(pool.submit(_play_in_pool, spec, facts))
        if len(under_way) <= jobs:  # Submit one match more than can run, so that no core waits.
            continue
        yield _outcome(under_way.pop(0), sittings, each, report)
    for future in under_way:
        yield _outcome(future, sittings, each, report)


def _outcome(future: Future[Result | str], sittings: Any, each: int, report: Callable[[float], None]) -> Result:
    while not wait([future], LOOK_S).done:
        report(sittings.value / each)
    report(sittings.value / each)
    result = future.result()
    if isinstance(result, str):
        raise Problem(result, INFRASTRUCTURE)
    return result


# State of a process of the pool: its sandbox, the event that stops it, the counter of its sittings.
_pool_state: dict[str, Any] = {}


def _begin(parent: int, tier: str, state_dir: str, stop: Any, sittings: Any) -> None:
    from engine.sandbox import Sandbox

    end_with(parent)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # The main process handles Ctrl-C.
    _pool_state.update(box=Sandbox(tier=tier, state_dir=Path(state_dir)), stop=stop.is_set, sittings=sittings)


def _play_in_pool(spec: MatchSpec, facts: Facts | None) -> Result | str:
    def advance(_finished: int, _total: int) -> None:
        with _pool_state["sittings"].get_lock():
            _pool_state["sittings"].value += 1

    try:
        return _play(spec, _pool_state["box"], facts, advance, _pool_state["stop"])
    except Problem as problem:
        return str(problem)


def _play(
    spec: MatchSpec, box: Sandbox, facts: Facts | None, advance: Advance, stop: Callable[[], bool] | None = None
) -> Result:
    from engine.runner import Infrastructure
    from engine.runner.match import play_match

    try:
        result = play_match(spec, box, progress=advance, stop=stop)
    except ValueError as error:
        raise Problem(str(error)) from None
    except Infrastructure as error:
        raise Problem(f"{error}. This is not a bot's fault: play again", INFRASTRUCTURE) from None
    lines = [
        json.dumps(sitting.replay, ensure_ascii=False, separators=(",", ":")) + "\n"
        for board in result.boards
        for sitting in board.sittings
    ]
    return _stored(result, facts), lines


def _stored(result: MatchResult, facts: Facts | None) -> SeriesResult:
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
    return SeriesResult(plain_boards(result, facts), parties, result.decisions, result.seconds, result.host)


# ---- The journal


class SeriesJournal:
    """The finished matches of a series in a file: a header line, then one line per match.

    A line is written, and synced to disk, after its match is complete, so a series that is killed loses only the matches that were running.
    """

    def __init__(self, path: Path, spec: MatchSpec, seed: str, log: Path | None) -> None:
        """Open the journal, or create it. Raise Problem if the file belongs to another series."""
        self.path = path
        self.finished: list[SeriesResult] = []
        header = _header(spec, seed, log)
        if path.exists() and path.stat().st_size:
            self._read(header, spec, log)
        else:
            self._append(header)

    @staticmethod
    def seed(path: Path) -> str | None:
        """Return the seed of the series in a file, None if there is none."""
        try:
            with path.open(encoding="utf-8") as file:
                return str(json.loads(file.readline())["seed"])
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def add(self, played: SeriesResult, log: IO[str] | None) -> None:
        """Store a finished match; its replays are in the log already."""
        if log is not None:
            os.fsync(log.fileno())
        self._append({**asdict(played), "log_bytes": log.tell() if log is not None else 0})
        self.finished.append(played)

    def _append(self, value: dict[str, Any]) -> None:
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n")
            file.flush()
            os.fsync(file.fileno())

    def _read(self, header: dict[str, Any], spec: MatchSpec, log: Path | None) -> None:
        raw = self.path.read_bytes()
        whole = raw[: raw.rfind(b"\n") + 1]  # The last line may be incomplete if its writer was killed.
        try:
            first, *lines = [json.loads(line) for line in whole.splitlines()]
            if first["format"] != FORMAT:
                raise ValueError(f"its format is {first['format']!r}")
            name = next((name for name in header if first.get(name) != header[name]), None)
            if name is not None:
                raise Problem(
                    f"{self.path} belongs to another series: its {name} is {first.get(name)}, not {header[name]}. Use the same bots, game and"
                    " options, or name another file"
                )
            ends = [int(line.pop("log_bytes")) for line in lines]  # Where the log ended after each match.
            matches_read = [SeriesResult(**line) for line in lines]
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise Problem(
                f"{self.path} is not the journal of a series ({error}); remove it, or name another file"
            ) from None
        expected_boards = [list(part.boards) for part in parts_of(spec)]
        stored_boards = [[board["number"] for board in match.boards] for match in matches_read]
        same = 0  # Play the last match again if it had fewer boards than it has now.
        while same < len(matches_read) and (
            same >= len(expected_boards) or stored_boards[same] == expected_boards[same]
        ):
            same += 1
        self.finished = matches_read[:same]
        if log is not None:
            _cut(log, ends[same - 1] if same else 0)
        if same < len(matches_read) or len(whole) < len(raw):
            kept_lines = b"".join(whole.splitlines(keepends=True)[: same + 1])
            beside = self.path.with_name(self.path.name + ".new")
            with beside.open("wb") as file:
                file.write(kept_lines)
                file.flush()
                os.fsync(file.fileno())
            beside.replace(self.path)


def _header(spec: MatchSpec, seed: str, log: Path | None) -> dict[str, Any]:
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


def _cut(log: Path, size: int) -> None:
    """Remove from the log everything after the last match of the journal."""
    log_bytes = log.stat().st_size if log.exists() else 0
    if log_bytes < size:
        raise Problem(
            f"{log} has {log_bytes} bytes, but its series had written {size}: it was changed or moved. Restore it, or start again with other files"
        )
    if log_bytes > size:
        os.truncate(log, size)
