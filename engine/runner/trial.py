"""The trial of a bot before it may sit at a table: `tute bot check` and the league's validation run the same checks.

At one table of a game, the bot plays

* `boards`: whole boards against other bots, as in any match;
* `start`: from each seat, the start: the bot is ready within its budget of CPU time;
* `awkward`: from each seat, the boards with rare decisions (`rare_decisions`);
* `long`: board after board in one process;
* `cancelled`: from each seat, a board that ends in the middle because a rival fails: the bot is notified and ends without a crash;
* `repeated`, if it declares itself deterministic: the lines of its first whole boards again, which it must answer in the same way.

`start` to `cancelled` are one conversation for each seat, against players without a process of their own.
"""

from __future__ import annotations

import json
import random
import time
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import engine
from engine.runner import modules, protocol, rare_decisions, rebuild, runtimes
from engine.runner.bot_processes import BotProcesses, start_bot
from engine.runner.copies import Copies
from engine.runner.cores import pinned
from engine.runner.faults import Fault, Infrastructure
from engine.runner.feed import Feed
from engine.runner.match import load, play_match
from engine.runner.noise import measure_noise
from engine.runner.rare_decisions import RandomBoard
from engine.runner.rerun import rerun
from engine.runner.result import FaultReport, MatchResult
from engine.runner.seat import END_S, Seat
from engine.runner.sitting import BoardRun, Texts
from engine.runner.spec import MatchSpec
from engine.sandbox import BotFault, Policy, Sandbox, SandboxError, TurnStopped
from engine.sandbox.errors import BrokenOff

CHECKS = WHOLE, START, RARE, LONG, CANCELLED, REPEATED = "boards", "start", "awkward", "long", "cancelled", "repeated"
EACH = 2  # Times that a bot should meet each situation.
MOST_RARE = 10  # Most boards with rare decisions at one seat.
MOST_LONG = 16  # Further boards at the first seat ...
DECISIONS = 250  # ... until its process has taken this many decisions.
PATIENCE_S = 8.0  # Wall seconds of one conversation: a bot that thinks long meets fewer boards.
BREAK = 2  # Decisions that the bot takes on the cancelled board.

Stop = Callable[[], bool]


@dataclass
class TrialCheck:
    """The result of one of `CHECKS`.

    at: the situation in which the fault happened, in words of `rare_decisions`; empty if it was none of those. max_cpu_s: CPU time of the slowest
    decision; for `start`, of the slowest start.
    """

    name: str
    fault: FaultReport | None = None
    at: str = ""
    decisions: int = 0
    max_cpu_s: float = 0.0
    seconds: float = 0.0  # Wall time.


@dataclass
class Trial:
    """The result of one table: the match of the whole boards, one item per check, and the situations that the bot met.

    complete: False if `stop` ended the trial early.
    """

    game: str
    players: int
    result: MatchResult
    checks: list[TrialCheck]
    met: Counter[str] = field(default_factory=Counter)
    possible: set[str] = field(default_factory=set)
    stderr: str = ""  # Error output of the conversations; that of the match is in its result.
    complete: bool = True

    @property
    def faulty(self) -> TrialCheck | None:
        """The first failed check."""
        return next((check for check in self.checks if check.fault), None)

    @property
    def missed(self) -> list[str]:
        """Situations that were possible and that the bot never met."""
        return sorted(self.possible - self.met.keys())


def try_bot(spec: MatchSpec, box: Sandbox, *, stop: Stop | None = None, first: BotProcesses | None = None) -> Trial:
    """Run the trial of the bot that is party 0 of `spec` at one table. Raise what `play_match` raises.

    `stop()` is called before each decision; if it returns True, the trial ends there, incomplete. first: as in `play_match`.
    """
    game = load(spec)
    began = time.monotonic()
    result = play_match(spec, box, stop=stop, first=first)
    report = result.parties[0]
    whole = TrialCheck(WHOLE, report.faults[0] if report.faults else None, "", report.decisions, report.max_cpu_s)
    whole.seconds = time.monotonic() - began
    trial = Trial(game.key, game.players, result, [whole], possible=set(rare_decisions.known_boards(game)))
    trial.complete = all(board.complete for board in result.boards)
    if trial.complete and 0 not in spec.unplayable:
        bot = modules.with_machine_code(spec.parties[0], box)
        spec = replace(spec, parties=(bot, *spec.parties[1:]))
        copies = Copies.snapshot([bot], {bot.runtime: runtimes.get(bot.runtime, box.state_dir)})
        try:
            with pinned() as core:
                _converse(trial, spec, game, box, core, stop or _never)
                if trial.complete and bot.deterministic and not trial.faulty:
                    _repeat(trial, spec, box, stop or _never)
        except TurnStopped:
            trial.complete = False
        except (SandboxError, OSError) as error:
            damage = copies.damage([0])
            raise Infrastructure(
                f"the trial of {bot.name} at {game.key} was broken off: {type(error).__name__}: {error} {damage}".rstrip(),
                0 if isinstance(error, BrokenOff) and not damage else None,
            ) from error
        if any(check.fault for check in trial.checks[1:]) and (damage := copies.damage([0])):
            raise Infrastructure(f"the trial of {bot.name} at {game.key} was played from damaged files: {damage}")
    return trial


def _never() -> bool:
    return False


class Announcer:
    """A seat without a process that answers by `rare_decisions.choose`."""

    cpu_us = 0
    took_s = latency_s = 0.0

    def __init__(self, seat: int) -> None:
        self.seat = seat
        self.party = 1
        self.requests = 0
        self.dice = random.Random(seat)

    def ask(self, events: list[str], legal: str) -> bytes:
        """Answer like `Seat.ask`."""
        self.requests += 1
        choice = rare_decisions.choose([text.strip('"') for text in legal.split(",")], self.dice)
        return b'{"id":%d,"do":"%s"}' % (self.requests, choice.encode())


def _converse(trial: Trial, spec: MatchSpec, game: engine.Game, box: Sandbox, core: int | None, stop: Stop) -> None:
    boards_by_situation = rare_decisions.known_boards(game)
    checks = {name: TrialCheck(name) for name in (START, RARE, LONG, CANCELLED)}
    trial.checks += checks.values()
    for place in range(game.players):
        boards = {name: list(seats[place]) for name, seats in boards_by_situation.items() if seats.get(place)}
        talk = _Conversation(trial, checks, spec, game, box, place, core, stop)
        talk.hold(boards)
        if not trial.complete or any(check.fault for check in checks.values()):
            return


def _repeat(trial: Trial, spec: MatchSpec, box: Sandbox, stop: Stop) -> None:
    """Send the lines of the first pass of the match to a new process. A bot that fails only then is not judged."""
    check, began = TrialCheck(REPEATED), time.monotonic()
    trial.checks.append(check)
    group = [json.loads(json.dumps(board.sittings[0].replay)) for board in trial.result.boards]
    seat = group[0]["meta"]["seating"].index(0)
    own = [exchange for exchange in rebuild.exchanges(group) if exchange.seat == seat]
    run = rerun(spec.parties[0], box, own, spec.limits.lenient(), party=0, sitting=0, stop=stop)
    if run is None:
        trial.complete = False
        return
    check.decisions, check.max_cpu_s, check.seconds = len(run.replies), run.max_cpu_s, time.monotonic() - began
    for reply in run.replies:
        if reply.differs:
            at, request = reply.exchange, reply.exchange.request.decode()
            detail = (
                f"declares itself deterministic and answered {at.answer!r}, but {reply.now!r} when asked the same again; "
                "derive randomness from the seed of hello and use no clocks, or remove deterministic = true from bot.toml"
            )
            check.fault = FaultReport(0, seat, at.board, 0, at.step, "protocol", detail, request, reply.now)
            return


@dataclass
class _Conversation:
    """One process at one seat, board after board, from `hello` to the end of a cancelled board."""

    trial: Trial
    checks: dict[str, TrialCheck]
    spec: MatchSpec
    game: engine.Game
    box: Sandbox
    place: int
    core: int | None
    stop: Stop

    def __post_init__(self) -> None:
        self.bot, self.limits = self.spec.parties[0], self.spec.limits
        self.feed = Feed(self.game.players)
        self.texts = Texts(self.game)
        self.board = 0  # The number of the current board.
        self.situation: list[str] = []
        self.until = 0.0

    def hold(self, wanted_boards: dict[str, list[RandomBoard]]) -> None:
        """Run the conversation. wanted_boards: the boards on which this seat meets each situation; played boards are removed."""
        limits = self.limits
        sealed = self.trial.result.parties[0].sealed
        policy = Policy(memory_mb=limits.memory_mb, threads=limits.threads, stderr_kib=limits.stderr_kib, sealed=sealed)
        first = self.checks[START]
        try:
            process = start_bot(
                self.box, self.bot, runtimes.get(self.bot.runtime, self.box.state_dir), policy, self.core
            )
        except Fault as fault:
            first.fault = FaultReport(0, self.place, 1, 0, -1, fault.kind, fault.detail)
            return
        with process, ExitStack() as stack:
            stack.callback(self._keep_log, process)
            process.stop = self.stop
            own_seat = Seat(
                0,
                self.place,
                process,
                limits,
                measure_noise(),
                translator=self.bot.translator(),
                metered=self.bot.metered,
                parameters=self.bot.parameters,
            )
            boards = 1 + MOST_RARE + (MOST_LONG if self.place == 0 else 0)
            pass_record = {"boards": range(boards), "limits": asdict(limits), "seeds": [1] * self.game.players}
            pass_record["sealed"] = [sealed] * self.game.players
            try:
                own_seat.start(rebuild.hello(pass_record, self.game, self.place))
            except Fault as fault:
                first.fault = FaultReport(0, self.place, 1, 0, -1, fault.kind, fault.detail, *own_seat.evidence())
                return
            first.max_cpu_s = max(first.max_cpu_s, own_seat.cpu_s)
            first.seconds += own_seat.wall_s
            if self._play_rare(own_seat, wanted_boards) and (self.place or self._play_long(own_seat)):
                self._break_off(own_seat)

    def _keep_log(self, process: Any) -> None:
        process.close()
        self.trial.stderr += process.stderr().decode("utf-8", "replace")

    # ---- The three parts; each returns True if the conversation continues

    def _play_rare(self, own_seat: Seat, wanted_boards: dict[str, list[RandomBoard]]) -> bool:
        check = self.checks[RARE]
        self.until = time.monotonic() + PATIENCE_S
        for _ in range(MOST_RARE):
            board = _next(wanted_boards, self.trial.met)
            if board is None or time.monotonic() > self.until:
                break
            if not self._play(check, own_seat, board):
                return False
        return True

    def _play_long(self, own_seat: Seat) -> bool:
        check = self.checks[LONG]
        self.until = time.monotonic() + PATIENCE_S
        for number in range(1, MOST_LONG + 1):
            if not self._play(check, own_seat, RandomBoard(rare_decisions.SEARCHED + number, self.game.board_deals)):
                return False
            if own_seat.requests >= DECISIONS or time.monotonic() > self.until:
                break
        return True

    def _break_off(self, own_seat: Seat) -> None:
        """Let a rival fail in the middle of a board: the rest is forfeited, and the bot must end in good order when notified."""
        check = self.checks[CANCELLED]
        last = own_seat.requests + BREAK
        board = RandomBoard(rare_decisions.SEARCHED + MOST_LONG + 1, self.game.board_deals)
        if not self._play(check, own_seat, board, enough=lambda: own_seat.requests >= last):
            return
        rival = (self.place + 1) % self.game.players
        self.sitting.blame(1, rival, Fault("crash", "broken off on purpose"), 0, ("", ""))
        own_seat.tell(protocol.end(self.feed.take(self.place), [0] * self.game.players))
        try:
            own_seat.process.read_line(END_S, END_S, protocol.MAX_LINE)
        except BotFault as fault:
            if fault.kind not in ("crash", "memory") or fault.detail.endswith("exit status 0"):
                return  # The process has ended, or is still writing its log.
            detail = f"after the end of a cancelled match: {fault.detail}"
            check.fault, check.at = FaultReport(0, self.place, self.board, 0, 0, fault.kind, detail), "end"

    def _play(self, check: TrialCheck, own_seat: Seat, board: RandomBoard, enough: Stop | None = None) -> bool:
        """Play one board, to its end or until `enough` returns True. Return False after a fault, or if the trial is stopped."""
        self.board += 1
        began, requests_before = time.monotonic(), own_seat.requests
        table: list[Any] = [own_seat if seat == self.place else Announcer(seat) for seat in range(self.game.players)]
        self.sitting = BoardRun(board.begin(self.game, record=True), table, self.feed, self.texts, self.board, 0)
        self.sitting.play(lambda: self._before_decision() or (enough is not None and enough()))
        check.decisions += own_seat.requests - requests_before
        check.max_cpu_s = max(check.max_cpu_s, own_seat.max_cpu_s)
        check.seconds += time.monotonic() - began
        if self.sitting.faults:
            check.fault, check.at = self.sitting.faults[0], ", ".join(self.situation)
        return check.fault is None and self.trial.complete

    def _before_decision(self) -> bool:
        """Record the bot's situation before each decision. Return True if the board ends here."""
        if self.stop():
            self.trial.complete = False
            return True
        state = self.sitting.state
        if state.current_seat == self.place:
            texts = [self.game.action_text(action) for action in state.legal_actions()]
            self.situation = sorted(rare_decisions.situations(state, texts))
            self.trial.met.update(self.situation)
        return len(state.actions) > rare_decisions.LONGEST or time.monotonic() > self.until


def _next(wanted_boards: dict[str, list[RandomBoard]], met: Counter[str]) -> RandomBoard | None:
    """Return an unplayed board with a situation that the bot has met too seldom."""
    for name in sorted(wanted_boards, key=lambda name: (met[name], len(wanted_boards[name]), name)):
        if met[name] < EACH and wanted_boards[name]:
            board = wanted_boards[name][0]
            for others in wanted_boards.values():
                if board in others:
                    others.remove(board)
            return board
    return None
