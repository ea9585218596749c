"""How much a bot can be exploited: the best response to it that was found, and what it wins on boards that it was not trained on.

Candidates are the bots of a list, and `search`: `engine.responding.Responder`, which learns the habits of the probed bot from its choices.
They play the probed bot on boards for training. Half of these go to `search`, the others to the bot that looks best so far. Whoever brought
most plays other boards, for the test, with nothing learned any more; only these count.

What comes of it is a lower bound: a better response may exist. A bot against itself has 0 on boards that are played in both seatings.
The bot is a black box in its sandbox: it plays whole boards, as in a match, in fresh processes for each few boards.
"""

from __future__ import annotations

import math
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from hashlib import sha256
from multiprocessing import get_context
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import engine
from engine.cards.chance import Dice
from engine.intervals import t95
from engine.responding import Choice, Habits, Responder, features, two_sided
from engine.runner import BotSpec, FaultReport, MatchSpec
from engine.runner.faults import Infrastructure
from engine.runner.feed import Feed
from engine.runner.match import forfeited, load, starter_of, suits_of
from engine.runner.sitting import Sitting, Texts
from engine.sandbox import Sandbox

SEARCH = "search"
BATCH = 4  # boards of one step of training ...
FIRST = 2  # ... of the first one of each candidate
UNIT = 2  # ... and of one piece of work, with processes of its own
REMEMBERED = 6000  # choices of a bot that are kept to learn from, the last ones
AGAIN = 3  # times that new choices are learned, with as many old ones
HOPE = 1.0  # standard errors that a candidate gets on top, when the next one to play is chosen
LOOKED_BACK = 10  # steps of training over which it is told how well the bot was foreseen
PROBED, RESPONSE = 0, 1  # parties

Advance = Callable[[int, int], None]


@dataclass(frozen=True)
class Task:
    """Some boards to be played between the probed bot and a response, in both seatings: all that it takes, as plain data.

    bot: the response where it is a bot; else `ours` and `theirs`, the habits by which it searches. noted: whether the choices are kept.
    """

    spec: MatchSpec
    bot: BotSpec | None
    ours: Habits
    theirs: Habits
    noted: bool


@dataclass
class Played:
    """Of a task: what the response was ahead by on each board, in units; the choices of both parties; the first fault of each."""

    ahead: list[float] = field(default_factory=list)
    choices: tuple[list[Choice], list[Choice]] = field(default_factory=lambda: ([], []))
    faults: dict[int, FaultReport] = field(default_factory=dict)


@dataclass
class Candidate:
    """A response, and what it was ahead by on each board of its training."""

    name: str
    bot: BotSpec | None
    ahead: list[float] = field(default_factory=list)
    choices: list[Choice] = field(default_factory=list)
    fault: FaultReport | None = None

    @property
    def mean(self) -> float:
        """Ahead a board; minus infinity before the first one."""
        return fmean(self.ahead) if self.ahead else -math.inf

    @property
    def error(self) -> float:
        """The standard error of that; infinite of a single board."""
        return stdev(self.ahead) / math.sqrt(len(self.ahead)) if len(self.ahead) > 1 else math.inf


@dataclass(frozen=True)
class Probe:
    """What was found. ahead: of the response on each board of the test, in units of the board score.

    foreseen: the share of the bot's choices in the last steps of training that its habits, as learned by then, foresaw; seconds: of
    training, of test.
    """

    response: str
    ahead: list[float]
    candidates: list[Candidate]
    trained: int
    foreseen: float | None
    seconds: tuple[float, float]
    fault: FaultReport | None = None

    @property
    def mean(self) -> float | None:
        """Ahead a board; None where the test was not played to its end."""
        return fmean(self.ahead) if self.ahead and self.fault is None else None

    @property
    def margin(self) -> float | None:
        """Half of the 95 % interval over boards; None of a single one."""
        count = len(self.ahead)
        return t95(count - 1) * stdev(self.ahead) / math.sqrt(count) if count > 1 and self.fault is None else None

    @property
    def clear(self) -> bool:
        """Whether the bot was exploited: the interval lies above zero."""
        return self.mean is not None and self.margin is not None and self.mean > self.margin


class NotTwoSidedBoardError(ValueError):
    """A table at which more than two sides play: there 0 is not what a bot has against itself, and no response is best for all."""


def probe(
    spec: MatchSpec,
    responses: Sequence[BotSpec],
    box: Sandbox,
    *,
    seconds: float | None,
    tries: int | None,
    boards: int,
    jobs: int = 1,
    advance: Advance | None = None,
) -> Probe:
    """Train for some seconds, or on so many boards (`tries`), until each candidate has played, then test on `boards` others.

    spec: its first party is probed; its boards are not read. With `tries` the answer follows from `spec.secret`, on any number of jobs, where the
    bots' choices follow from their seeds. Ends at the first fault of the probed bot. Raises NotTwoSidedBoardError, ValueError for fewer tries
    than each candidate wants (`fewest`), and what `play_match` raises.
    """
    if tries is not None and tries < fewest(responses):
        raise ValueError(f"{tries} boards of training are too few: with these candidates it takes {fewest(responses)}")
    game = load(spec)
    if not two_sided(game):
        raise NotTwoSidedBoardError(f"{game.key} with {game.players} players has {len(game.sides)} sides, not two")
    with _hands(box, jobs) as work:
        return _Training(spec, game, responses, work, advance or _nobody).run(seconds, tries, boards)


def fewest(responses: Sequence[BotSpec]) -> int:
    """The boards of training that let each candidate play."""
    return FIRST * (len(responses) + 1)


def _nobody(_done: int, _total: int) -> None:
    return


Work = Callable[[Sequence[Task]], Iterator[Played]]


class _Training:
    def __init__(
        self, spec: MatchSpec, game: engine.Game, responses: Sequence[BotSpec], work: Work, advance: Advance
    ) -> None:
        self.spec, self.game, self.work, self.advance = spec, game, work, advance
        self.search = Candidate(SEARCH, None)
        self.bots = [Candidate(bot.name, bot) for bot in responses]
        self.dice = Dice(int.from_bytes(sha256(spec.secret).digest()[:4], "big"))
        self.theirs, self.ours = Habits(), Habits()
        self.of_bot: list[Choice] = []
        self.trained = 0
        self.foresights: list[float] = []  # of each step
        self.fault: FaultReport | None = None

    def run(self, seconds: float | None, tries: int | None, boards: int) -> Probe:
        """Train, choose, test."""
        began = time.monotonic()
        step = 0
        while self.fault is None:
            used = time.monotonic() - began
            if tries is not None:
                self.advance(min(self.trained, tries), tries)
            elif seconds is not None:
                self.advance(min(int(used), int(seconds)), int(seconds))
            enough = self.trained >= tries if tries is not None else seconds is not None and used >= seconds
            if enough and all(one.ahead for one in (*self.bots, self.search)):
                break
            chosen = self.next(step)
            size = BATCH if chosen.ahead else FIRST
            self.step(chosen, size if tries is None else min(size, tries - self.trained))
            step += 1
        sound = [one for one in (*self.bots, self.search) if one.fault is None]
        best = max(sound, key=lambda one: one.mean - (one.error if one.error < math.inf else 0.0))
        trained_s = time.monotonic() - began
        ahead: list[float] = []
        if self.fault is None:
            ahead = self.test(best, boards)
        return Probe(
            response=best.name,
            ahead=ahead,
            candidates=[*self.bots, self.search],
            trained=self.trained,
            foreseen=fmean(self.foresights) if self.foresights else None,
            seconds=(trained_s, time.monotonic() - began - trained_s),
            fault=self.fault,
        )

    def next(self, step: int) -> Candidate:
        """Each bot once; then by turns the search and the bot that may be the best."""
        new = [one for one in (*self.bots, self.search) if not one.ahead]
        if new:
            return new[0]
        able = [one for one in self.bots if one.fault is None]
        if not able or step % 2 == 0:
            return self.search
        within = [(x - one.mean) ** 2 for one in able for x in one.ahead]
        spread = math.sqrt(fmean(within))
        return max(able, key=lambda one: one.mean + HOPE * spread / math.sqrt(len(one.ahead)))

    def step(self, chosen: Candidate, boards: int) -> None:
        """Let a candidate play the next boards of the training, and learn from them."""
        if chosen is self.search and not chosen.ahead:
            self.imitate()
        first = self.trained + 1
        before = len(self.of_bot)
        for played in self.work(list(self.tasks(chosen, "training", range(first, first + boards), noted=True))):
            chosen.ahead += played.ahead
            chosen.choices += played.choices[RESPONSE]
            self.of_bot += played.choices[PROBED]
            chosen.fault = chosen.fault or played.faults.get(RESPONSE)
            self.fault = self.fault or played.faults.get(PROBED)
        self.trained += boards
        new = self.of_bot[before:]
        if before and new:
            self.foresights = [*self.foresights, self.theirs.foreseen(new)][-LOOKED_BACK:]
        self.learn(self.theirs, self.of_bot, len(new))
        if chosen is self.search:
            self.learn(self.ours, chosen.choices, len(chosen.choices))
        self.of_bot = self.of_bot[-REMEMBERED:]
        chosen.choices = chosen.choices[-REMEMBERED:]

    def imitate(self) -> None:
        """Before the search plays for the first time, its own side goes on as the best bot by then did."""
        model = max(self.bots, key=lambda one: one.mean, default=None)
        self.learn(self.ours, model.choices if model else self.of_bot, REMEMBERED)

    def learn(self, habits: Habits, seen: Sequence[Choice], new: int) -> None:
        """The last `new` choices, and as many of those before, some times."""
        habits.learn(seen[-2 * new :] if new else [], self.dice, AGAIN)

    def tasks(self, chosen: Candidate, what: str, boards: range, *, noted: bool) -> Iterator[Task]:
        """The boards in pieces that can be played at once. Training and test are dealt as other tables: none of their boards is the same."""
        parties = (self.spec.parties[PROBED], *((chosen.bot,) if chosen.bot else ()))
        for at in range(0, len(boards), UNIT):
            part = boards[at : at + UNIT]
            name = f"{self.spec.match_id} {what} {part[0]} {chosen.name}"
            spec = replace(self.spec, match_id=name, table=f"probe {what}", boards=part, parties=parties)
            yield Task(spec, chosen.bot, self.ours, self.theirs, noted)

    def test(self, best: Candidate, boards: int) -> list[float]:
        """What the response is ahead by on boards that nothing was learned from."""
        ahead: list[float] = []
        for played in self.work(list(self.tasks(best, "test", range(1, boards + 1), noted=False))):
            ahead += played.ahead
            self.fault = self.fault or played.faults.get(PROBED)
            if self.fault is not None:
                break
            self.advance(len(ahead), boards)
        return ahead


# ---- the work, here or in other processes


@contextmanager
def _hands(box: Sandbox, jobs: int) -> Iterator[Work]:
    """What plays tasks, so many at a time, and gives what came of them in their order."""
    if jobs == 1:
        yield lambda tasks: (play(task, box) for task in tasks)
        return
    pool = ProcessPoolExecutor(jobs, get_context("spawn"), _begin, (box.tier, str(box.state_dir)))
    try:
        yield lambda tasks: pool.map(_play_there, tasks)
    finally:
        pool.shutdown(cancel_futures=True)


_there: dict[str, Sandbox] = {}  # in a process of the pool


def _begin(tier: str, state_dir: str) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who asked for the probe ends it
    _there["box"] = Sandbox(tier=tier, state_dir=Path(state_dir))


def _play_there(task: Task) -> Played:
    return play(task, _there["box"])


class _Noted(Sitting):
    """A sitting that keeps what each party chose from."""

    choices: tuple[list[Choice], list[Choice]]

    def _decide(self, seat: Any, legal: Sequence[int]) -> None:
        actions = features(self.state, legal)
        place = len(self.state.taken_actions)
        super()._decide(seat, legal)
        taken = self.state.taken_actions[place]
        if taken in legal:
            self.choices[seat.party].append(Choice(actions, legal.index(taken)))


def play(task: Task, box: Sandbox) -> Played:
    """Play the boards of a task in both seatings, each with fresh processes. Raises as `play_match`."""
    spec, game = task.spec, load(task.spec)
    played = Played(ahead=[0.0] * len(spec.boards))
    for number, probed in enumerate(game.sides):
        seating = [PROBED if seat in probed else RESPONSE for seat in range(game.players)]
        _play_pass(task, game, box, number, seating, played)
    return played


def _play_pass(
    task: Task, game: engine.Game, box: Sandbox, number: int, seating: Sequence[int], played: Played
) -> None:
    spec = task.spec
    absent = [seat for seat, party in enumerate(seating) if party == RESPONSE and task.bot is None]
    starter = replace(starter_of(spec, game, box), absent=absent)
    started = [PROBED if seat in absent else party for seat, party in enumerate(seating)]
    crew = starter.start(started, None)
    starter.begin(crew, number, started, None)
    try:
        table: list[Any] = [None] * game.players
        for seat in crew.seats:
            table[seat.seat] = seat
        for place in absent:
            table[place] = _responder(task, game, place, number)
        feed, texts = Feed(game.players), Texts(game)
        failed: set[int] = set()
        for order, board in enumerate(spec.boards):
            seed = engine.board_seed(spec.secret, game.key, spec.table, board)
            deals = game.board_deals if spec.deals is None else spec.deals
            state = game.new_match(seed=seed, deals=deals, suits=suits_of(game, seed, number))
            kind = _Noted if task.noted else Sitting
            sitting = kind(state, table, feed, texts, board, number)
            if isinstance(sitting, _Noted):
                sitting.choices = played.choices
            for late in crew.faults if not order else ():
                sitting.blame(late.party, late.seat, late.fault, -1, late.evidence)
            if not failed and not sitting.faults:
                sitting.play()
            for fault in sitting.faults:
                failed.add(fault.seat)
                played.faults.setdefault(fault.party, fault)
            scores = forfeited(game, failed) if failed else state.scores()
            ours, theirs = seating.index(RESPONSE), seating.index(PROBED)
            played.ahead[order] += (scores[ours] - scores[theirs]) / game.score_size
    finally:
        crew.close()
    if damage := starter.copies.damage({fault.party for fault in played.faults.values()}):
        raise Infrastructure(f"{spec.match_id} was played from damaged files: {damage}")


def _responder(task: Task, game: engine.Game, place: int, number: int) -> Responder:
    seed = engine.bot_seed(task.spec.secret, task.spec.match_id, number, place)
    return Responder(game, place, task.ours, task.theirs, seed)
