"""What a bot has to come through before it sits at a table: `tute bot check` and the league's validation put the same to it.

At one table of a game it plays

* `boards`: whole boards against other bots, as in any match;
* `start`: from each seat it is ready within its budget, by CPU time;
* `awkward`: from each seat the boards on which rare decisions come up (`awkward`);
* `long`: board after board in one process;
* `cancelled`: from each seat a board that ends in its middle, because a rival fails: the bot is told so and leaves without a crash.

* `repeated`, where it declares itself deterministic: the lines of its first whole boards once more, which it must answer the same.

`start` to `cancelled` are one conversation for each seat, against players without a process of their own.
"""

from __future__ import annotations

import json
import random
import time
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from typing import Any

import engine
from engine.runner import awkward, protocol, rebuild, runtimes
from engine.runner.awkward import RandomBoard
from engine.runner.copies import Copies
from engine.runner.cores import pinned
from engine.runner.crew import Crew, start_bot
from engine.runner.faults import Fault, Infrastructure
from engine.runner.feed import Feed
from engine.runner.match import load, play_match
from engine.runner.noise import measure_noise
from engine.runner.rerun import rerun
from engine.runner.result import FaultReport, MatchResult
from engine.runner.seat import END_S, Seat
from engine.runner.sitting import Sitting, Texts
from engine.runner.spec import BotSpec, MatchSpec
from engine.sandbox import BotFault, Policy, Sandbox, SandboxError, Stopped
from engine.sandbox.errors import BrokenOff

WHOLE, START, AWKWARD, LONG, CANCELLED, REPEATED = CHECKS = (
    "boards",
    "start",
    "awkward",
    "long",
    "cancelled",
    "repeated",
)
EACH = 2  # times that a bot is to meet each situation
MOST_AWKWARD = 10  # boards at one seat
MOST_LONG = 16  # boards more at the first seat ...
DECISIONS = 250  # ... or as many decisions of that process
PATIENCE_S = 8.0  # of wall time: a bot that thinks for long meets fewer boards of one conversation
BREAK = 2  # decisions of the bot on the board that is broken off

Stop = Callable[[], bool]


@dataclass
class Check:
    """One of `CHECKS`.

    at: in which situation the fault came, as words of `awkward`; empty where it was none of those.
    max_cpu_s: of its slowest decision; of `start`, of its slowest start.
    """

    name: str
    fault: FaultReport | None = None
    at: str = ""
    decisions: int = 0
    max_cpu_s: float = 0.0
    seconds: float = 0.0  # of wall time


@dataclass
class Trial:
    """What came of one table: the match of the whole boards, a line for each check, and what the bot was asked.

    `complete`: nothing was left out because `stop` said so.
    """

    game: str
    players: int
    result: MatchResult
    checks: list[Check]
    asked: Counter[str] = field(default_factory=Counter)
    possible: set[str] = field(default_factory=set)
    stderr: str = ""  # of the conversations; that of the match is in its result
    complete: bool = True

    @property
    def faulty(self) -> Check | None:
        """The first check that the bot did not come through."""
        return next((check for check in self.checks if check.fault), None)

    @property
    def missed(self) -> list[str]:
        """Situations that other players came to and the bot did not."""
        return sorted(self.possible - self.asked.keys())


def try_bot(spec: MatchSpec, box: Sandbox, *, stop: Stop | None = None, first: Crew | None = None) -> Trial:
    """Put one table to the bot that is party 0 of `spec`. Raises what `play_match` raises.

    `stop()` is asked before each decision; when it says yes the trial ends as it is, not complete. `first`: as `play_match`.
    """
    game = load(spec)
    began = time.monotonic()
    result = play_match(spec, box, stop=stop, first=first)
    report = result.parties[0]
    whole = Check(WHOLE, report.faults[0] if report.faults else None, "", report.decisions, report.max_cpu_s)
    whole.seconds = time.monotonic() - began
    trial = Trial(game.key, game.players, result, [whole], possible=set(awkward.known(game)))
    trial.complete = all(board.complete for board in result.boards)
    if trial.complete and 0 not in spec.unplayable:
        bot = spec.parties[0]
        copies = Copies.of([bot], {bot.runtime: runtimes.get(bot.runtime, box.state_dir)})
        try:
            with pinned() as core:
                _converse(trial, spec, game, box, core, stop or _never)
                if trial.complete and bot.deterministic and not trial.faulty:
                    _repeat(trial, spec, box, stop or _never)
        except Stopped:
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
    """Sits where a bot would, and answers as `awkward.choose` does."""

    cpu_us = 0
    took_s = latency_s = 0.0

    def __init__(self, seat: int) -> None:
        self.seat = seat
        self.party = 1
        self.requests = 0
        self.dice = random.Random(seat)

    def ask(self, events: list[str], legal: str) -> bytes:
        """As `Seat.ask`."""
        self.requests += 1
        choice = awkward.choose([text.strip('"') for text in legal.split(",")], self.dice)
        return b'{"id":%d,"do":"%s"}' % (self.requests, choice.encode())


def _converse(trial: Trial, spec: MatchSpec, game: engine.Game, box: Sandbox, core: int | None, stop: Stop) -> None:
    there = awkward.known(game)
    checks = {name: Check(name) for name in (START, AWKWARD, LONG, CANCELLED)}
    trial.checks += checks.values()
    for place in range(game.players):
        wanted = {name: list(seats[place]) for name, seats in there.items() if seats.get(place)}
        talk = _Conversation(trial, checks, spec, game, box, place, core, stop)
        talk.hold(wanted)
        if not trial.complete or any(check.fault for check in checks.values()):
            return


def _repeat(trial: Trial, spec: MatchSpec, box: Sandbox, stop: Stop) -> None:
    """What it was asked on its whole boards of the first pass, once more, of a new process. A bot that fails only then is not judged."""
    check, began = Check(REPEATED), time.monotonic()
    trial.checks.append(check)
    group = [json.loads(json.dumps(board.sittings[0].replay)) for board in trial.result.boards]
    seat = group[0]["meta"]["seating"].index(0)
    mine = [one for one in rebuild.exchanges(group) if one.seat == seat]
    run = rerun(spec.parties[0], box, mine, spec.limits.lenient(), party=0, sitting=0, stop=stop)
    if run is None:
        trial.complete = False
        return
    check.decisions, check.max_cpu_s, check.seconds = len(run.replies), run.max_cpu_s, time.monotonic() - began
    for reply in run.replies:
        if reply.differs:
            at, request = reply.exchange, reply.exchange.request.decode()
            detail = (
                f"declares itself deterministic and answered {at.answer!r}, but {reply.now!r} when it was asked the same once more; "
                "let chance follow from the seed of hello and leave clocks alone, or take deterministic = true out of bot.toml"
            )
            check.fault = FaultReport(0, seat, at.board, 0, at.step, "protocol", detail, request, reply.now)
            return


class _Conversation:
    """One process at one seat, board after board, from `hello` to the end of a board that is broken off."""

    def __init__(
        self,
        trial: Trial,
        checks: dict[str, Check],
        spec: MatchSpec,
        game: engine.Game,
        box: Sandbox,
        place: int,
        core: int | None,
        stop: Stop,
    ) -> None:
        self.trial = trial
        self.checks = checks
        self.bot: BotSpec = spec.parties[0]
        self.limits = spec.limits
        self.game = game
        self.box = box
        self.place = place
        self.core = core
        self.stop = stop
        self.feed = Feed(game.players)
        self.texts = Texts(game)
        self.board = 0  # the number of the one at hand
        self.situation: list[str] = []
        self.until = 0.0

    def hold(self, wanted: dict[str, list[RandomBoard]]) -> None:
        """Talk with it. `wanted`: the boards on which this seat comes to each situation; they are used up."""
        limits = self.limits
        sealed = self.trial.result.parties[0].sealed
        policy = Policy(memory_mb=limits.memory_mb, threads=limits.threads, stderr_kib=limits.stderr_kib, sealed=sealed)
        first = self.checks[START]
        try:
            process = start_bot(
                self.box, self.bot, runtimes.get(self.bot.runtime, self.box.state_dir), policy, self.core
            )
        except Fault as fault:
            self._blame(first, FaultReport(0, self.place, 1, 0, -1, fault.kind, fault.detail), "")
            return
        with process, ExitStack() as stack:
            stack.callback(self._keep_log, process)
            process.stop = self.stop
            mine = Seat(0, self.place, process, limits, noise=measure_noise())
            boards = 1 + MOST_AWKWARD + (MOST_LONG if self.place == 0 else 0)
            told = {"boards": range(boards), "limits": asdict(limits), "seeds": [1] * self.game.players}
            told["sealed"] = [sealed] * self.game.players
            try:
                mine.start(rebuild.hello(told, self.game, self.place))
            except Fault as fault:
                report = FaultReport(0, self.place, 1, 0, -1, fault.kind, fault.detail, *mine.evidence())
                self._blame(first, report, "")
                return
            first.max_cpu_s = max(first.max_cpu_s, mine.cpu_s)
            first.seconds += mine.wall_s
            if self._play_awkward(mine, wanted) and (self.place or self._play_long(mine)):
                self._break_off(mine)

    def _keep_log(self, process: Any) -> None:
        process.close()
        self.trial.stderr += process.stderr().decode("utf-8", "replace")

    # ---- the three parts; each says whether the conversation goes on

    def _play_awkward(self, mine: Seat, wanted: dict[str, list[RandomBoard]]) -> bool:
        check = self.checks[AWKWARD]
        self.until = time.monotonic() + PATIENCE_S
        for _ in range(MOST_AWKWARD):
            board = _next(wanted, self.trial.asked)
            if board is None or time.monotonic() > self.until:
                break
            if not self._play(check, mine, board):
                return False
        return True

    def _play_long(self, mine: Seat) -> bool:
        check = self.checks[LONG]
        self.until = time.monotonic() + PATIENCE_S
        for number in range(1, MOST_LONG + 1):
            if not self._play(check, mine, RandomBoard(awkward.SEARCHED + number, self.game.board_deals)):
                return False
            if mine.requests >= DECISIONS or time.monotonic() > self.until:
                break
        return True

    def _break_off(self, mine: Seat) -> None:
        """A rival fails in the middle of a board: the rest is forfeited, the bot is told so and has to leave in good order."""
        check = self.checks[CANCELLED]
        last = mine.requests + BREAK
        board = RandomBoard(awkward.SEARCHED + MOST_LONG + 1, self.game.board_deals)
        if not self._play(check, mine, board, enough=lambda: mine.requests >= last):
            return
        rival = (self.place + 1) % self.game.players
        self.sitting.blame(1, rival, Fault("crash", "broken off on purpose"), 0, ("", ""))
        mine.tell(protocol.end(self.feed.take(self.place), [0] * self.game.players))
        try:
            mine.process.read_line(END_S, END_S, protocol.MAX_LINE)
        except BotFault as fault:
            if fault.kind not in ("crash", "memory") or fault.detail.endswith("exit status 0"):
                return  # it has left, or is still busy with its log
            detail = f"after the end of a match that was broken off: {fault.detail}"
            self._blame(check, FaultReport(0, self.place, self.board, 0, 0, fault.kind, detail), "end")

    def _play(self, check: Check, mine: Seat, board: RandomBoard, enough: Stop | None = None) -> bool:
        """One board, to its end or until it is `enough`; False after a fault, or where the trial is stopped."""
        self.board += 1
        began, asked = time.monotonic(), mine.requests
        table: list[Any] = [mine if seat == self.place else Announcer(seat) for seat in range(self.game.players)]
        self.sitting = Sitting(board.begin(self.game, record=True), table, self.feed, self.texts, self.board, 0)
        self.sitting.play(lambda: self._note() or (enough is not None and enough()))
        check.decisions += mine.requests - asked
        check.max_cpu_s = max(check.max_cpu_s, mine.max_cpu_s)
        check.seconds += time.monotonic() - began
        if self.sitting.faults:
            self._blame(check, self.sitting.faults[0], ", ".join(self.situation))
        return check.fault is None and self.trial.complete

    def _note(self) -> bool:
        """Before each decision: write down the situation of the bot's. Whether the board ends here."""
        if self.stop():
            self.trial.complete = False
            return True
        state = self.sitting.state
        if state.current_seat == self.place:
            texts = [self.game.action_text(action) for action in state.legal_actions()]
            self.situation = sorted(awkward.situations(state, texts))
            self.trial.asked.update(self.situation)
        return len(state.actions) > awkward.LONGEST or time.monotonic() > self.until

    def _blame(self, check: Check, fault: FaultReport, at: str) -> None:
        check.fault, check.at = fault, at


def _next(wanted: dict[str, list[RandomBoard]], asked: Counter[str]) -> RandomBoard | None:
    """A board, not yet played, on which something may come up that the bot has met too seldom."""
    for name in sorted(wanted, key=lambda name: (asked[name], len(wanted[name]), name)):
        if asked[name] < EACH and wanted[name]:
            board = wanted[name][0]
            for others in wanted.values():
                if board in others:
                    others.remove(board)
            return board
    return None
