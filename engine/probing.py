"""Estimate how much a bot can be exploited: find a good response and measure it on unseen boards.

The candidates are given bots and `search`, an `engine.responding.Responder` that learns the probed bot's habits from its choices. They play the
probed bot on training boards. `search` gets half of these, the bot that looks best so far the other half. The candidate with the best result then
plays the test boards without learning any further; only the test boards count. On demand `learned` is trained after that, another `Responder`: its
own habits improve by practice against the bot's habits, which learn from a few boards against the bot in between. It plays the same test boards.

The result is a lower bound: a better response may exist. A bot scores 0 against itself on boards that are played in both seatings.
The probed bot is a black box in its sandbox: it plays whole boards as in a match, in fresh processes for every few boards.
"""

from __future__ import annotations

import math
import os
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import sha256
from multiprocessing import get_context
from pathlib import Path
from statistics import fmean, stdev
from typing import Any, Protocol, TypeVar

import engine
from engine.cards.chance import Dice
from engine.intervals import t95, wilson
from engine.parent import end_with
from engine.responding import (
    BOARDS_A_STEP,
    ChoiceModel,
    ObservedChoice,
    Responder,
    features,
    practise,
    two_sided,
)
from engine.runner import BotSpec, FaultReport, MatchSpec
from engine.runner.faults import Infrastructure
from engine.runner.feed import Feed
from engine.runner.match import deal, forfeited, load, starter_of
from engine.runner.sitting import BoardRun, Texts
from engine.sandbox import Sandbox
from engine.sprt import elo_of

SEARCH, LEARNED = "search", "learned"
BATCH = 4  # Boards of one training step.
FIRST = 2  # Boards of the first training step of each candidate.
UNIT = 2  # Boards per task. Each task starts its own processes.
REMEMBERED = 6000  # The habits are learned from this many latest choices of a bot.
AGAIN = 3  # Passes over the new choices and as many old choices.
HOPE = 1.0  # Standard errors added to a candidate's mean when the next one to play is chosen.
STEPS = 32  # Steps of practice between two visits to the bot, in each of the `APART` models.
APART = 2  # Models that practise side by side, whatever the number of jobs; then their mean goes on.
PRACTICE = STEPS * APART * BOARDS_A_STEP  # Boards of practice between two visits to the bot.
LOOKED_BACK = 10  # Training steps over which the foreseen share is averaged.
PROBED, RESPONSE = 0, 1  # Numbers of the parties.

Advance = Callable[[int, int], None]


@dataclass(frozen=True)
class ProbeTask:
    """Some boards between the probed bot and a response, in both seatings, as plain data.

    bot: the response if it is a bot; None: the response searches by the habits `ours` and `theirs`. noted: record the choices.
    """

    spec: MatchSpec
    bot: BotSpec | None
    ours: ChoiceModel
    theirs: ChoiceModel
    noted: bool


@dataclass
class TaskResult:
    """The result of a task: the response's lead on each board, in units; the choices of both parties; the first fault of each."""

    ahead: list[float] = field(default_factory=list)
    choices: tuple[list[ObservedChoice], list[ObservedChoice]] = field(default_factory=lambda: ([], []))
    faults: dict[int, FaultReport] = field(default_factory=dict)


@dataclass
class Candidate:
    """A response, and its lead on each board of its training."""

    name: str
    bot: BotSpec | None
    ahead: list[float] = field(default_factory=list)
    choices: list[ObservedChoice] = field(default_factory=list)
    fault: FaultReport | None = None

    @property
    def mean(self) -> float:
        """Mean lead per board; minus infinity before the first one."""
        return fmean(self.ahead) if self.ahead else -math.inf

    @property
    def error(self) -> float:
        """Standard error of the mean; infinite for a single board."""
        return stdev(self.ahead) / math.sqrt(len(self.ahead)) if len(self.ahead) > 1 else math.inf


@dataclass(frozen=True)
class TestedResponse:
    """A response on the test boards. ahead: its lead on each, in units of the board score."""

    name: str
    ahead: list[float]

    @property
    def mean(self) -> float:
        """Mean lead per board."""
        return fmean(self.ahead)

    @property
    def margin(self) -> float | None:
        """Half-width of the 95% interval over boards; None for a single board."""
        count = len(self.ahead)
        return t95(count - 1) * stdev(self.ahead) / math.sqrt(count) if count > 1 else None

    @property
    def clear(self) -> bool:
        """True if the bot was exploited: the interval lies above zero."""
        return self.margin is not None and self.mean > self.margin

    @property
    def elo(self) -> tuple[float, float, float]:
        """The Elo difference that the share of boards won predicts, and its 95% interval; at most 1200 either way."""
        share = fmean((ahead > 0) + (ahead == 0) / 2 for ahead in self.ahead)
        low, high = (elo_of(end) for end in wilson(share, len(self.ahead)))
        return elo_of(share), low, high


@dataclass(frozen=True)
class Probe:
    """The result of a probe. tested: the best searched response, then the learned one if wanted; empty if the bot failed.

    practised: boards of practice. foreseen: the share of the bot's choices in the last training steps that the habits learned before them predicted.
    seconds: the duration of training and of the test.
    """

    tested: list[TestedResponse]
    candidates: list[Candidate]
    trained: int
    practised: int
    foreseen: float | None
    seconds: tuple[float, float]
    fault: FaultReport | None = None

    @property
    def best(self) -> TestedResponse | None:
        """The response that won more.

        Its interval may be taken as it is: each lower end is too high in 2.5% of all probes, so one of two is in at most 5%.
        """
        return max(self.tested, key=lambda response: response.mean, default=None)


class NotTwoSidedBoardError(ValueError):
    """The table has more than two sides: a bot does not score 0 against itself, and no response is best for all."""


def probe(
    spec: MatchSpec,
    responses: Sequence[BotSpec],
    box: Sandbox,
    *,
    seconds: float | None,
    tries: int | None,
    boards: int,
    episodes: int | None = None,
    learned: bool = False,
    jobs: int = 1,
    advance: Advance | None = None,
) -> Probe:
    """Train for `seconds` or on `tries` boards, at least until each candidate has played; then test on `boards` other boards.

    learned: let `learned` practise for as many seconds again, or on about `episodes` boards. The first party of `spec` is probed; the boards of
    `spec` are ignored. With `tries` (and `episodes`) the result follows from `spec.secret`, for any number of jobs, if the bots are deterministic.
    Stop at the first fault of the probed bot. Raise NotTwoSidedBoardError, ValueError if `tries` is less than `fewest`, and whatever `play_match`
    raises.
    """
    if tries is not None and tries < fewest(responses):
        raise ValueError(f"{tries} training boards are too few: these candidates need {fewest(responses)}")
    game = load(spec)
    if not two_sided(game):
        raise NotTwoSidedBoardError(f"{game.key} with {game.players} players has {len(game.sides)} sides, not two")
    with _hands(box, jobs) as work:
        return _Training(spec, game, responses, work, advance or _nobody).run(seconds, tries, boards, episodes, learned)


def fewest(responses: Sequence[BotSpec]) -> int:
    """Return the number of training boards that lets each candidate play."""
    return FIRST * (len(responses) + 1)


def _nobody(_boards: int, _total: int) -> None:
    return


T = TypeVar("T")


class TaskRunner(Protocol):
    """Plays tasks and yields their results in order."""

    def __call__(self, tasks: Sequence[Callable[[Sandbox], T]], /) -> Iterator[T]:
        """Begin at once."""


class _Training:
    def __init__(
        self, spec: MatchSpec, game: engine.Game, responses: Sequence[BotSpec], work: TaskRunner, advance: Advance
    ) -> None:
        self.spec, self.game, self.work, self.advance = spec, game, work, advance
        self.search, self.learned = Candidate(SEARCH, None), Candidate(LEARNED, None)
        self.bots = [Candidate(bot.name, bot) for bot in responses]
        self.dice = Dice(int.from_bytes(sha256(spec.secret).digest()[:4], "big"))
        self.theirs, self.ours, self.learned_habits = ChoiceModel(), ChoiceModel(), ChoiceModel()
        self.of_bot: list[ObservedChoice] = []
        self.trained = 0
        self.foresights: list[float] = []  # The share of foreseen choices in each of the last steps.
        self.fault: FaultReport | None = None

    def run(self, seconds: float | None, tries: int | None, boards: int, episodes: int | None, learned: bool) -> Probe:
        """Train, choose, test."""
        began = time.monotonic()
        step = 0
        while self.fault is None:
            if self.enough(began, seconds, tries, self.trained) and all(
                candidate.ahead for candidate in (*self.bots, self.search)
            ):
                break
            chosen = self.next(step)
            size = BATCH if chosen.ahead else FIRST
            self.step(chosen, size if tries is None else min(size, tries - self.trained))
            step += 1
        sound = [candidate for candidate in (*self.bots, self.search) if candidate.fault is None]
        best = max(
            sound, key=lambda candidate: candidate.mean - (candidate.error if candidate.error < math.inf else 0.0)
        )
        responses = [best]
        practised = 0
        if learned:
            responses.append(self.learned)
            self.learn(self.learned_habits, best.choices or self.of_bot, REMEMBERED)
            began_practice = time.monotonic()
            while self.fault is None and not (
                self.learned.ahead and self.enough(began_practice, seconds, episodes, practised)
            ):
                self.practise()
                practised += PRACTICE
        trained_s = time.monotonic() - began
        tested = [TestedResponse(each.name, self.test(each, boards)) for each in responses if self.fault is None]
        return Probe(
            tested=[] if self.fault else tested,
            candidates=[*self.bots, self.search, *responses[1:]],
            trained=self.trained,
            practised=practised,
            foreseen=fmean(self.foresights) if self.foresights else None,
            seconds=(trained_s, time.monotonic() - began - trained_s),
            fault=self.fault,
        )

    def enough(self, began: float, seconds: float | None, number: int | None, boards: int) -> bool:
        """Report progress; return True if the budget is used up."""
        used = time.monotonic() - began
        if number is not None:
            self.advance(min(boards, number), number)
            return boards >= number
        self.advance(min(int(used), int(seconds or 0)), int(seconds or 0))
        return used >= (seconds or 0)

    def practise(self) -> None:
        """Practise against the bot's habits, then visit the bot to learn them better."""
        seeds = [self.dice.below(1 << 30) for _ in range(APART)]
        practice = [partial(_practise, self.spec, self.learned_habits, self.theirs, seed) for seed in seeds]
        self.learned_habits.become_mean(list(self.work(practice)))
        self.step(self.learned, FIRST)

    def next(self, step: int) -> Candidate:
        """Return the next candidate: each bot once, then alternately the search and the most promising bot."""
        new = [candidate for candidate in (*self.bots, self.search) if not candidate.ahead]
        if new:
            return new[0]
        able = [candidate for candidate in self.bots if candidate.fault is None]
        if not able or step % 2 == 0:
            return self.search
        within = [(x - candidate.mean) ** 2 for candidate in able for x in candidate.ahead]
        spread = math.sqrt(fmean(within))
        return max(able, key=lambda candidate: candidate.mean + HOPE * spread / math.sqrt(len(candidate.ahead)))

    def step(self, chosen: Candidate, boards: int) -> None:
        """Let a candidate play the next training boards, and learn from them."""
        if chosen is self.search and not chosen.ahead:
            self.imitate()
        first = self.trained + 1
        before = len(self.of_bot)
        for results in self.work(self.tasks(chosen, "training", range(first, first + boards), noted=True)):
            chosen.ahead += results.ahead
            chosen.choices += results.choices[RESPONSE]
            self.of_bot += results.choices[PROBED]
            chosen.fault = chosen.fault or results.faults.get(RESPONSE)
            self.fault = self.fault or results.faults.get(PROBED)
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
        """Start the search with the habits of the best bot so far."""
        model = max(self.bots, key=lambda candidate: candidate.mean, default=None)
        self.learn(self.ours, model.choices if model else self.of_bot, REMEMBERED)

    def learn(self, habits: ChoiceModel, sample: Sequence[ObservedChoice], new: int) -> None:
        """Learn from the last `new` choices and from as many before them, several times."""
        habits.learn(sample[-2 * new :] if new else [], self.dice, AGAIN)

    def tasks(
        self, chosen: Candidate, what: str, boards: range, *, noted: bool
    ) -> Sequence[Callable[[Sandbox], TaskResult]]:
        """Return the boards as tasks that can run in parallel. Training and test use different tables, so no board is the same."""
        ours = self.learned_habits if chosen is self.learned else self.ours
        tasks = []
        parties = (self.spec.parties[PROBED], *((chosen.bot,) if chosen.bot else ()))
        for at in range(0, len(boards), UNIT):
            part = boards[at : at + UNIT]
            name = f"{self.spec.match_id} {what} {part[0]} {chosen.name}"
            spec = replace(self.spec, match_id=name, table=f"probe {what}", boards=part, parties=parties)
            tasks.append(partial(play, ProbeTask(spec, chosen.bot, ours, self.theirs, noted)))
        return tasks

    def test(self, best: Candidate, boards: int) -> list[float]:
        """Return the lead of the response on boards that nothing was learned from."""
        ahead: list[float] = []
        for results in self.work(self.tasks(best, "test", range(1, boards + 1), noted=False)):
            ahead += results.ahead
            self.fault = self.fault or results.faults.get(PROBED)
            if self.fault is not None:
                break
            self.advance(len(ahead), boards)
        return ahead


# ---- Tasks, played here or in other processes


@contextmanager
def _hands(box: Sandbox, jobs: int) -> Iterator[TaskRunner]:
    """Yield a function that plays tasks, `jobs` at a time, and returns their results in order."""
    if jobs == 1:
        yield lambda tasks: (task(box) for task in tasks)
        return
    pool = ProcessPoolExecutor(jobs, get_context("spawn"), _begin, (os.getpid(), box.tier, str(box.state_dir)))
    try:
        yield lambda tasks: pool.map(_do_in_pool, tasks)
    finally:
        pool.shutdown(cancel_futures=True)


_pool_box: dict[str, Sandbox] = {}  # Filled in each process of the pool.


def _begin(parent: int, tier: str, state_dir: str) -> None:
    end_with(parent)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # The main process handles Ctrl-C.
    _pool_box["box"] = Sandbox(tier=tier, state_dir=Path(state_dir))


def _do_in_pool(task: Callable[[Sandbox], T]) -> T:
    return task(_pool_box["box"])


def _practise(spec: MatchSpec, ours: ChoiceModel, theirs: ChoiceModel, seed: int, _box: Sandbox) -> ChoiceModel:
    model = ours.copy()
    practise(load(spec), model, theirs, seed, STEPS)
    return model


class _Noted(BoardRun):
    """A sitting that records every choice of each party."""

    choices: tuple[list[ObservedChoice], list[ObservedChoice]]

    def _decide(self, seat: Any, legal: Sequence[int]) -> None:
        actions = features(self.state, legal)
        place = len(self.state.taken_actions)
        super()._decide(seat, legal)
        taken = self.state.taken_actions[place]
        if taken in legal:
            self.choices[seat.party].append(ObservedChoice(actions, legal.index(taken)))


def play(task: ProbeTask, box: Sandbox) -> TaskResult:
    """Play the boards of a task in both seatings, each with fresh processes. Raise what `play_match` raises."""
    spec, game = task.spec, load(task.spec)
    results = TaskResult(ahead=[0.0] * len(spec.boards))
    for number, probed in enumerate(game.sides):
        seating = [PROBED if seat in probed else RESPONSE for seat in range(game.players)]
        _play_pass(task, game, box, number, seating, results)
    return results


def _play_pass(
    task: ProbeTask, game: engine.Game, box: Sandbox, number: int, seating: Sequence[int], results: TaskResult
) -> None:
    spec = task.spec
    absent = [seat for seat, party in enumerate(seating) if party == RESPONSE and task.bot is None]
    starter = replace(starter_of(spec, game, box), absent=absent)
    started = [PROBED if seat in absent else party for seat, party in enumerate(seating)]
    bots = starter.start(started, None)
    starter.begin(bots, starter.pass_record(number, started), started, None)
    try:
        table: list[Any] = [None] * game.players
        for seat in bots.seats:
            table[seat.seat] = seat
        for place in absent:
            table[place] = _responder(task, game, place, number)
        feed, texts = Feed(game.players), Texts(game)
        failed: set[int] = set()
        for order, board in enumerate(spec.boards):
            state = deal(spec, game, board, number)
            kind = _Noted if task.noted else BoardRun
            sitting = kind(state, table, feed, texts, board, number)
            if isinstance(sitting, _Noted):
                sitting.choices = results.choices
            for failure in bots.faults if not order else ():
                sitting.blame(failure.party, failure.seat, failure.fault, -1, failure.evidence)
            if not failed and not sitting.faults:
                sitting.play()
            for fault in sitting.faults:
                failed.add(fault.seat)
                results.faults.setdefault(fault.party, fault)
            scores = forfeited(game, failed) if failed else state.scores()
            ours, theirs = seating.index(RESPONSE), seating.index(PROBED)
            results.ahead[order] += (scores[ours] - scores[theirs]) / game.score_size
    finally:
        bots.close()
    if damage := starter.copies.damage({fault.party for fault in results.faults.values()}):
        raise Infrastructure(f"{spec.match_id} was played from damaged files: {damage}")


def _responder(task: ProbeTask, game: engine.Game, place: int, number: int) -> Responder:
    seed = engine.bot_seed(task.spec.secret, task.spec.match_id, number, place)
    return Responder(game, place, task.ours, task.theirs, seed)
