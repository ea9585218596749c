"""A match: some boards, each in all its sittings, between bot processes.

Pass i plays sitting i of all boards with fresh processes, so that a process meets a board once and carries nothing from one sitting of it to another.
The suits are exchanged from pass to pass if the rules name no suit. One process plays all boards of its seat and pass.
"""

from __future__ import annotations

import hashlib
import itertools
import math
import os
import platform
import time
from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any

import engine
from engine.cards import chance
from engine.runner import bounds, modules, noise, protocol, runtimes
from engine.runner.bot_processes import Ahead, BotProcesses, Starter
from engine.runner.copies import Copies
from engine.runner.cores import pinned
from engine.runner.faults import Infrastructure, party_of
from engine.runner.feed import Feed
from engine.runner.result import BoardResult, FaultReport, MatchResult, PartyReport, SittingResult
from engine.runner.sealing import sealed_parties
from engine.runner.seat import END_S, Seat
from engine.runner.sitting import BoardRun, Texts
from engine.runner.spec import MatchSpec
from engine.sandbox import Policy, Runtime, Sandbox, SandboxError, TurnStopped

WAIT_S = 0.05  # Wall seconds between two looks at `stop` while a match waits for its next pass.
AT_ONCE = 16  # Boards dealt, and recorded, in one batch: code that runs only once per board runs with cold caches.
# A generous number of decisions for one seat on one board. Only the kernel's backstop uses it; the clock is exact.
DECISIONS = 200
Progress = Callable[[int, int], None]
Stop = Callable[[], bool]
Tap = Callable[[int, int, bytes, bytes], None]
Closing = Callable[[float], None]
Decided = Callable[[Sequence[BoardResult]], None]
Interlude = Callable[[], Callable[[], None] | None]
KeepCore = Callable[[], AbstractContextManager["int | None"]]


def play_match(
    spec: MatchSpec,
    box: Sandbox,
    *,
    progress: Progress | None = None,
    decided: Decided | None = None,
    stop: Stop | None = None,
    tap: Tap | None = None,
    pin: bool = True,
    core: int | None = None,
    ahead: bool = True,
    first: BotProcesses | None = None,
    closing: Closing | None = None,
    interlude: Interlude | None = None,
    clock: Callable[[], float] = time.perf_counter,
) -> MatchResult:
    """Play a match in a sandbox.

    `progress(done, total)` is called after each sitting. `decided(boards)` is called in the last pass, with all boards complete so far, whenever
    their number has grown. `stop()` is called before each decision and during long turns; when it returns True, play ends and unfinished boards stay
    incomplete. `tap(pass, seat, request, answer)` sees every line. `pin` keeps this thread and its bots on one free core, where a message costs a
    tenth of one between cores; `core` is a core that the caller has chosen for the bots. `ahead` starts the processes of the next pass during this
    one if another core is free. `first` are the processes of the first pass if the caller started them by `first_processes`; the caller closes them.
    `closing(seconds)` is called in the last pass before each sitting, with the estimated time of the rest of the match. `interlude()` is called as
    often as `stop`; a function that it returns runs at once, while every bot of the match is frozen and no bot's clock runs; then the match continues
    as if nothing had happened. `clock` measures `play_s`.

    Raise ValueError for a match that cannot be set up (unknown game, wrong number of parties) and Infrastructure if the platform fails;
    neither costs a bot anything.
    """
    game = load(spec)
    seatings = game.sittings(len(spec.parties))
    starter = replace(starter_of(spec, game, box), stop=stop, interlude=interlude)
    between = _between_decisions(stop, interlude) if interlude else stop
    match = _Match(spec, game, seatings, starter, first, progress, decided, between, closing, tap, clock)
    began = time.monotonic()
    keep_core = partial(pinned, pin) if core is None else partial(nullcontext, core)
    try:
        match.play(keep_core, os.sched_getaffinity(0) if ahead else ())
    except TurnStopped:
        return match.result(time.monotonic() - began)
    except Exception as error:  # Faults of bots never reach this line, so the platform is to blame.
        damage = match.copies.damage(range(len(spec.parties)))
        party = None if damage else party_of(error)
        at = "" if party is None else f" at {spec.parties[party].name}"
        why = f"{error} ({damage})" if damage else str(error)
        raise Infrastructure(
            f"match {spec.match_id} of {spec.game} was broken off{at}: {type(error).__name__}: {why}", party
        ) from error
    if damage := match.copies.damage(party for party, report in enumerate(match.parties) if report.faults):
        raise Infrastructure(f"match {spec.match_id} of {spec.game} was played from damaged files: {damage}")
    return match.result(time.monotonic() - began)


def _between_decisions(stop: Stop | None, interlude: Interlude) -> Stop:
    """Return a `stop` for use between decisions, when all bots are frozen: it first runs the interlude, if one is due."""

    def look() -> bool:
        if (act := interlude()) is not None:
            act()
        return stop is not None and stop()

    return look


def first_processes(spec: MatchSpec, box: Sandbox, core: int) -> BotProcesses:
    """Start the processes of a match's first pass on a core, frozen before their own code, for `play_match`.

    Raise what `play_match` raises, and SandboxError.
    """
    game = load(spec)
    return starter_of(spec, game, box).start(game.sittings(len(spec.parties))[0], core)


def load(spec: MatchSpec) -> engine.Game:
    """Return the game of a match at its table. Raise ValueError with the reason if there is no such game or table."""
    options = dict(spec.options)
    if spec.players is not None:
        options["players"] = spec.players
    return engine.load(spec.game, **options)


def starter_of(spec: MatchSpec, game: engine.Game, box: Sandbox) -> Starter:
    """Return the starter of the bots of a match on this machine. Raise Infrastructure, and ValueError for limits below a runtime's needs."""
    runtimes_by_name = _runtimes(spec, box)  # First, because its error names the limit that is too small.
    try:
        spec = replace(spec, parties=tuple(modules.with_machine_code(bot, box) for bot in spec.parties))
    except (SandboxError, OSError) as error:
        raise Infrastructure(f"a module cannot be compiled on this machine: {error}") from error
    limits = spec.limits
    policy = Policy(
        memory_mb=limits.memory_mb,
        threads=limits.threads,
        cpu_s=math.ceil(limits.total_cpu_s(DECISIONS * len(spec.boards))),
        stderr_kib=limits.stderr_kib,
        output_line_kib=limits.line_kib,
    )
    sealed = sealed_parties(spec, box, runtimes_by_name)
    return Starter(
        spec,
        game,
        box,
        runtimes_by_name,
        policy,
        noise.measure_noise(),
        sealed,
        Copies.snapshot(spec.parties, runtimes_by_name),
    )


def _runtimes(spec: MatchSpec, box: Sandbox) -> dict[str, Runtime]:
    runtimes_by_name = {}
    for party in spec.parties:
        if party.connect is not None:
            continue
        try:
            runtime = runtimes.get(party.runtime, box.state_dir, party.series)
        except (SandboxError, OSError) as error:
            raise Infrastructure(f"the runtime {party.runtime} is not available on this machine: {error}") from error
        runtimes_by_name[party.runtime] = runtime
        if spec.limits.memory_mb < runtime.memory_mb:
            raise ValueError(
                f"limit memory_mb is {spec.limits.memory_mb}, but {party.runtime} needs {runtime.memory_mb} for itself"
            )
    return runtimes_by_name


def suits_of(game: engine.Game, seed: bytes, sitting: int) -> str | None:
    """Return the order of the suits in a sitting of a board: a different one for each sitting, drawn by the board's seed."""
    if game.suits_named:
        return None
    orders = _orders(game.pack.suits)
    return orders[_places(seed, len(orders))[sitting % len(orders)]]


@lru_cache
def _orders(suits: str) -> tuple[str, ...]:
    return tuple("".join(order) for order in itertools.permutations(suits))


@lru_cache(maxsize=256)
def _places(seed: bytes, number: int) -> bytes:
    """Shuffle 0 to `number` - 1 by the board's seed. The cached result is compact; every sitting of the board needs it."""
    return bytes(chance.shuffle(hashlib.sha256(b"suits\n" + seed).digest(), 0, range(number)))


def deal(spec: MatchSpec, game: engine.Game, board: int, sitting: int) -> engine.State:
    """Return a board of a match at the start of one of its sittings."""
    seed = engine.board_seed(spec.secret, game.key, spec.table, board)
    deals = game.board_deals if spec.deals is None else spec.deals
    return game.new_match(seed=seed, deals=deals, suits=suits_of(game, seed, sitting))


def say_end(seats: Sequence[Seat], feed: Feed, totals: Sequence[int], failed: Collection[int]) -> None:
    """Send the end of the pass to the seats that have not failed, and give them END_S to end."""
    sound = [seat for seat in seats if seat.seat not in failed]
    for seat in sound:
        seat.tell(protocol.end(feed.take(seat.seat), totals))
    until = time.monotonic() + END_S
    for seat in sound:
        seat.leave(until)


@dataclass
class _Match:
    spec: MatchSpec
    game: engine.Game
    seatings: Sequence[tuple[int, ...]]
    starter: Starter
    first: BotProcesses | None
    progress: Progress | None
    decided: Decided | None
    stop: Stop | None
    closing: Closing | None
    tap: Tap | None
    clock: Callable[[], float]

    def __post_init__(self) -> None:
        spec, first = self.spec, self.first
        self.copies = first.copies if first and first.copies else self.starter.copies
        self.play_s = 0.0
        self.texts = Texts(self.game)
        # The hash that committed to the deals before play, for `tute verify --reveal`.
        self.commitment = hashlib.sha256(spec.secret).hexdigest()
        self.boards = [BoardResult(number) for number in spec.boards]
        self.parties = [
            PartyReport(party.name, sealed=sealed)
            for party, sealed in zip(spec.parties, self.starter.sealed, strict=True)
        ]
        self.decisions = 0
        self.done = 0
        self.total = len(self.boards) * (1 if self.spec.once else len(self.seatings))
        self.cores: Collection[int] = ()
        self.next: Ahead | None = None
        self.last_step = 0  # Number of the grid's step at which the current pass has begun.

    def play(self, keep_core: KeepCore, cores: Collection[int]) -> None:
        """Play all passes, or until stopped. cores: the cores on which the bots of the next pass may start meanwhile.

        If a bot could read from a clock when its pass begins, the passes begin on a grid, and the core is free for other matches in between.
        """
        self.cores = cores
        passes = list(enumerate(self.seatings))
        apart = self.spec.apart and not all(self.starter.sealed)
        began = time.monotonic()
        try:
            for together in [[each] for each in passes] if apart else [passes]:
                if apart and not self._wait_for_pass(began, together[0][0]):
                    return
                with keep_core() as core:
                    for number, seating in together:
                        if not self.play_pass(number, seating, core):
                            return
        finally:
            if self.next is not None:
                self.next.close()

    def _wait_for_pass(self, began: float, number: int) -> bool:
        """Wait for the start of a pass on the grid. Return False if stopped.

        If a busy machine has let the pass before take longer than its limits, skip a whole step of the grid.
        """
        step_s = bounds.grid_s(self.spec.limits, self.game, len(self.boards), self.spec.deals)
        passed = time.monotonic() - began
        until = began + step_s * (max(self.last_step + 1, math.ceil(passed / step_s)) if number else 0)
        self.last_step = round((until - began) / step_s)
        while (left_s := until - time.monotonic()) > 0:
            if self.stop is not None and self.stop():
                return False
            time.sleep(min(left_s, WAIT_S))
        return True

    def _start_bots(self, number: int, seating: tuple[int, ...], core: int | None) -> BotProcesses:
        """Return the bots of a pass, started ahead or now, and start those of the next pass."""
        bots = self.next.take() if self.next is not None else self.first
        self.next = self.first = None
        if bots is None:
            bots = self.starter.start(seating, core)
        else:
            bots.move(os.sched_getaffinity(0) if core is None else {core})
        self.starter.begin(bots, self.starter.pass_record(number, seating), seating, core)
        if self.cores and number + 1 < len(self.seatings):
            self.next = Ahead(partial(self.starter.start, self.seatings[number + 1]), self.cores)
        if self.tap is not None:
            for seat in bots.seats:
                seat.listen(partial(self.tap, number, seat.seat))
        return bots

    # ---- One pass

    def play_pass(self, number: int, seating: tuple[int, ...], core: int | None) -> bool:
        """Play one sitting of every board. Return False if stopped."""
        feed = Feed(self.game.players)
        seats: list[Seat] = []
        faults: list[FaultReport] = []
        totals = [0] * self.game.players
        pass_record = self.starter.pass_record(number, seating) | {"pinned": core is not None}
        own_boards = [board for board in self.boards if board.number in pass_record["boards"]]
        try:
            for first in range(0, len(own_boards), AT_ONCE):
                boards = own_boards[first : first + AT_ONCE]
                began = self.clock()
                sittings = [
                    BoardRun(
                        deal(self.spec, self.game, board.number, number), seats, feed, self.texts, board.number, number
                    )
                    for board in boards
                ]
                if not seats:
                    self.play_s += self.clock() - began
                    bots = self._start_bots(number, seating, core)
                    began = self.clock()
                    seats += bots.seats
                    for failure in bots.faults:
                        sittings[0].blame(failure.party, failure.seat, failure.fault, -1, failure.evidence)
                played = self._play(sittings, faults, began)
                for board, (sitting, blamed) in zip(boards, played, strict=False):
                    result = self._sitting_result(sitting, seating, blamed, pass_record)
                    board.sittings.append(result)
                    totals = [a + b for a, b in zip(totals, result.scores, strict=True)]
                    self._finish_board(board)
                self.play_s += self.clock() - began
                if self.decided is not None and number + 1 == len(self.seatings):
                    self.decided([board for board in self.boards if board.complete])
                if len(played) < len(boards):
                    return False
            say_end(seats, feed, totals, {fault.seat for fault in faults})
        finally:
            for fault in faults:
                self.parties[fault.party].faults.append(fault)
            self._close(seats, number)
        return True

    def _play(
        self, sittings: Sequence[BoardRun], faults: list[FaultReport], began: float
    ) -> list[tuple[BoardRun, tuple[FaultReport, ...]]]:
        """Play sittings in order until stopped. Return each with the faults of the pass so far, which are added to `faults`."""
        played = []
        for sitting in sittings:
            if self.closing is not None and sitting.number + 1 == len(self.seatings):
                pace = (self.play_s + self.clock() - began) / self.done if self.done else math.inf
                self.closing(pace * (self.total - self.done))
            # After a forfeit the cards are still dealt for the record, but no bot is asked.
            whole = bool(faults) or bool(sitting.faults) or sitting.play(self.stop)
            self.decisions += sitting.decisions
            if not whole:
                break
            faults += sitting.faults
            played.append((sitting, tuple(faults)))
            self.done += 1
            if self.progress is not None:
                self.progress(self.done, self.total)
        return played

    def _close(self, seats: Sequence[Seat], number: int) -> None:
        """Kill the remaining bots of the pass, and store their logs and times."""
        for seat in seats:
            report = self.parties[seat.party]
            seat.close()
            output = seat.process.stderr()
            if output:
                text = output.decode("utf-8", "replace").replace("\0", "\ufffd").rstrip("\n")
                report.stderr += f"--- pass {number}, seat {seat.seat}\n{text}\n"
            report.cpu_s += seat.cpu_s
            report.wall_s += seat.wall_s
            report.decisions += seat.requests
            report.max_cpu_s = max(report.max_cpu_s, seat.max_cpu_s)

    # ---- Results

    def _sitting_result(
        self, sitting: BoardRun, seating: tuple[int, ...], faults: Sequence[FaultReport], pass_record: dict[str, Any]
    ) -> SittingResult:
        replay = sitting.record(
            {
                "match": self.spec.match_id,
                "table": self.spec.table,
                "secret_sha256": self.commitment,
                "boards": [self.boards[0].number, self.boards[-1].number],
                "board": sitting.board,
                "sitting": sitting.number,
                "seating": list(seating),
                "parties": [party.name for party in self.spec.parties],
            }
        )
        replay["pass"] = pass_record
        scores = scored(self.game, sitting, replay, {fault.seat for fault in faults})
        for note in replay["notes"]:
            self.parties[seating[note["seat"]]].notes += 1
        return SittingResult(sitting.number, seating, scores, tuple(faults), replay)

    def _finish_board(self, board: BoardResult) -> None:
        board.complete = len(board.sittings) == (1 if self.spec.once else len(self.seatings))
        board.scores = [
            sum(self._party_score(sitting, party) for sitting in board.sittings) for party in range(len(self.parties))
        ]

    def _party_score(self, sitting: SittingResult, party: int) -> int:
        """Return the score of a party in one sitting: the sum over the sides on which it has a seat, each counted once."""
        total = 0
        for side in self.game.sides:
            own_seats = [seat for seat in side if sitting.seating[seat] == party]
            if own_seats:
                total += sitting.scores[own_seats[0]]
        return total

    def result(self, seconds: float) -> MatchResult:
        """Return the result of the match so far."""
        host = {
            "engine": engine.__version__,
            "compiled": engine.COMPILED,
            "tier": self.starter.box.tier,
            "control_groups": self.starter.box.control_groups,
            "sealed": ", ".join(f"party {number}" for number, sealed in enumerate(self.starter.sealed) if sealed)
            or "nobody",
            "runtime_hash": ", ".join(
                f"{name} {runtime.hash}" for name, runtime in sorted(self.starter.runtimes.items())
            ),
            "python": platform.python_version(),
            "kernel": os.uname().release,
            "machine": os.uname().machine,
            "cpu_noise": round(self.starter.noise.cpu, 3),
            "stop_ms": round(1000 * self.starter.noise.stop_s, 3),
            "late_ms": round(1000 * self.starter.noise.late_s, 3),
        }
        return MatchResult(self.spec.match_id, self.boards, self.parties, host, seconds, self.decisions, self.play_s)


def forfeited(game: engine.Game, seats: set[int]) -> list[int]:
    """Return the scores by seat if the sides of these seats forfeit a sitting: the worst score for each of them, the game's own for the others."""
    sides = {game.side[seat] for seat in seats}
    columns = zip(*(game.fault_scores(side) for side in sorted(sides)), strict=True)
    return [min(column) for column in columns]


def scored(game: engine.Game, sitting: BoardRun, replay: dict[str, Any], failed: set[int]) -> list[int]:
    """Return the scores of a sitting by seat. If seats have failed, they forfeit it, which is noted in the replay."""
    if not failed:
        return sitting.state.scores()
    scores = forfeited(game, failed)
    replay["forfeit"] = {"seats": sorted(failed), "scores": scores}
    return scores
