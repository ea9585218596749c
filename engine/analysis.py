"""Analyse the decisions of a recorded match: how much each one cost, in units of the board score.

There are two analyses, which are never mixed:

* `with_open_cards` compares what the deal is worth before and after each decision, if every seat saw all cards. It is exact, but it
  knows more than the seat did: a decision that cost nothing may have been lucky.
* `fairly` averages the same worth over deals that agree with everything the seat knew, so a seat is blamed only for what it could know.
  It is an estimate with a standard error, and from the next card on it still lets every seat see all cards.

Both need a deal between two sides. A decision that cannot be solved within the limit of nodes gets no verdict. As Python source the rules solve
endings only; compiled, they also solve whole deals of the games that `engine.search.solving.tricks` supports (docs/search.md).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from itertools import groupby
from math import sqrt
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from engine import replay as replays
from engine.cards.chance import Dice
from engine.errors import EngineError
from engine.game import load
from engine.intervals import t95
from engine.match.redaction import redact
from engine.portable import add_up
from engine.search.knowledge import Knowledge
from engine.search.masks import INTERPRETED
from engine.search.solving import NotTwoSidedError, camps, judge
from engine.search.solving.judging import Judge, Solution

if TYPE_CHECKING:
    from engine.match.state import State

Verdict = TypeVar("Verdict")

JUDGE = "open-1"  # Version of both analyses. Change it when a worth or a best action may come out differently.
USUAL_NODES = 20_000 if INTERPRETED else 5_000_000  # Search nodes per action: at most about a second.
LAST_TRICKS = 3
AUCTION, LEAD, FOLLOW, END = "auction", "lead", "follow", "end"
IN_PLAY = ("window", "exchange", "capote")  # Phases that come up between two cards.
PHASES = (AUCTION, LEAD, FOLLOW, END)


class Move(NamedTuple):
    """One action of a line of play, and the seat that takes it."""

    seat: int
    action: str


@dataclass(frozen=True, slots=True)
class Judged:
    """The verdict on one decision. `step` counts actions from 0.

    par, worth: what the deal is worth to its first camp before and after the action. lost: how much less the seat's own side gets than with the best
    action; None if unknown. best: all equally good best actions. samples: the number of sampled deals, 0 with open cards. error: the standard error
    of `lost` over these deals, 0 with open cards. line: best play after the first action of `best`, as far as it was proved; only with open cards, if
    requested, and if something was lost.
    """

    step: int
    deal: int
    seat: int
    action: str
    phase: str
    lost: float | None = None
    best: tuple[str, ...] = ()
    par: float | None = None
    worth: float | None = None
    samples: int = 0
    error: float = 0.0
    line: tuple[Move, ...] = ()


@dataclass(slots=True)
class Tally:
    """Decisions of one bot, in one phase or in all phases. boards: for each board, the total loss and the number of judged decisions."""

    decisions: int = 0
    right: int = 0
    boards: dict[int, tuple[float, int]] = field(default_factory=dict)

    def add(self, board: int, lost: float | None) -> None:
        """Count one decision and its loss; None if the loss is unknown."""
        self.decisions += 1
        if lost is None:
            return
        self.right += lost == 0
        before, judged = self.boards.get(board, (0.0, 0))
        self.boards[board] = before + lost, judged + 1

    @property
    def judged(self) -> int:
        """Number of decisions with a known loss."""
        return sum(judged for _, judged in self.boards.values())

    @property
    def lost(self) -> float | None:
        """Mean loss per judged decision; None if no decision was judged."""
        return add_up(lost for lost, _ in self.boards.values()) / self.judged if self.judged else None

    @property
    def margin(self) -> float | None:
        """Half-width of the 95% interval of `lost`, clustered by board. None for fewer than two boards."""
        count, mean = len(self.boards), self.lost
        if count < 2 or mean is None:
            return None
        squares = add_up((lost - mean * judged) ** 2 for lost, judged in self.boards.values())
        return t95(count - 1) * sqrt(count / (count - 1) * squares) / self.judged


class Decision(NamedTuple):
    """A position of a replay in which a seat had a choice, and the action it chose."""

    step: int
    state: State
    chosen: int


def decisions(replay: Mapping[str, Any]) -> Iterator[Decision]:
    """Yield all decisions of a replay in order. They share one state: clone it to keep it. Raise ReplayError if the replay is invalid."""
    state = replays.begin(dict(replay))
    for step, text in enumerate(replay["actions"]):
        try:
            action = state.game.parse_action(text)
            if len(state.legal_actions()) > 1:
                yield Decision(step, state, action)
            state.apply(action)
        except EngineError as error:
            raise replays.ReplayError(step + 1, f"action {text!r} cannot be taken: {error}") from None


def ply_of(state: State) -> int:
    """Count the events of this deal so far, the deal event included."""
    events: list[dict[str, Any]] = state.events
    return next((back for back, event in enumerate(reversed(events), 1) if event["e"] == "deal"), len(events))


def with_open_cards(
    replay: Mapping[str, Any], nodes: int = USUAL_NODES, *, lines: bool = False
) -> Iterator[list[Judged]]:
    """Judge every decision of a replay with all cards open, deal by deal, with at most `nodes` nodes per action. Raise ReplayError.

    lines: also find the line of each decision that lost something, the costliest first, with at most `nodes` more nodes per deal.
    """
    snapshots = (decision._replace(state=decision.state.clone()) for decision in decisions(replay))
    for _, deal in groupby(snapshots, key=lambda decision: decision.state.deal_no):
        moments, judge = list(deal), _OpenJudge(nodes)
        verdicts = _all(moments, judge)
        yield judge.with_lines(moments, verdicts) if lines else verdicts


class _OpenJudge:
    """Judges the decisions of one deal and reuses its search between them."""

    def __init__(self, nodes: int) -> None:
        self._nodes = nodes
        self._judge: Judge | None = None

    def __call__(self, decision: Decision) -> Judged | None:
        if self._judge is None:
            self._judge = Judge(decision.state)
        judge = self._judge
        return _open(
            decision,
            {action: judge.after(decision.state, action, self._nodes) for action in decision.state.legal_actions()},
        )

    def with_lines(self, moments: Sequence[Decision], verdicts: Sequence[Judged]) -> list[Judged]:
        """Return the verdicts with lines for losing decisions, the costliest first, until the nodes run out."""
        if self._judge is None:
            return list(verdicts)
        completed = list(verdicts)
        nodes = self._nodes
        for place in sorted(range(len(completed)), key=lambda place: -(completed[place].lost or 0.0)):
            verdict = completed[place]
            if not verdict.lost or verdict.par is None or nodes <= 0:
                break
            line, nodes = _line(self._judge, moments[place].state, verdict.best[0], int(verdict.par), nodes)
            completed[place] = replace(verdict, line=line)
        return completed


def _line(judge: Judge, before: State, first: str, worth: int, nodes: int) -> tuple[tuple[Move, ...], int]:
    """Return a line of best play that starts with `first`, and the nodes left. `first` makes the deal worth `worth`.

    Each later move is the first action that is proved to keep the worth. The line ends with the deal, or where no action is proved.
    """
    state, line, nodes_left = before.clone(), [], nodes
    state.deals, state.dice = state.deal_no, Dice(0)  # As in `Judge`: no further deal is dealt.
    deal, action = state.deal_no, state.game.parse_action(first)
    while True:
        line.append(Move(state.turn, state.game.action_text(action)))
        state.apply(action)
        if state.is_over or state.deal_no != deal:
            return tuple(line), nodes_left
        legal = state.legal_actions()
        next_action = legal[0] if len(legal) == 1 else None
        for other in legal if next_action is None else ():
            if nodes_left <= 0:
                break
            solution = judge.after(state, other, nodes_left, worth)
            nodes_left -= max(1, solution.nodes)
            if solution.low == solution.high == worth:
                next_action = other
                break
        if next_action is None:
            return tuple(line), nodes_left
        action = next_action


def fairly(replay: Mapping[str, Any], samples: int, nodes: int = USUAL_NODES) -> Iterator[list[Judged]]:
    """Judge every decision of a replay over `samples` deals that agree with what its seat knew, deal by deal. Raise ReplayError.

    nodes: limit per action and sample. The dice are seeded from the replay. The best action is the one with the highest mean over the same deals.
    Over few deals that mean is too high, and so is `lost`: by less than its error.
    """
    seats = [SeatKnowledge(replay, seat) for seat in range(replay["players"])]
    supposed: dict[int, list[State]] = {}

    def sampled() -> Iterator[Decision]:
        for decision in decisions(replay):
            supposed[decision.step] = list(seats[decision.state.turn].samples(decision, samples))
            yield decision._replace(state=decision.state.clone())

    for _, deal in groupby(sampled(), key=lambda decision: decision.state.deal_no):
        yield _all(list(deal), lambda decision: _fair(decision, worths(supposed.pop(decision.step), nodes)))


def _all(deal: Sequence[Decision], judged: Callable[[Decision], Judged | None]) -> list[Judged]:
    return [
        verdict or Judged(*_fields_of(decision))
        for decision, verdict in zip(deal, from_the_end(deal, judged), strict=True)
    ]


def from_the_end(deal: Sequence[Decision], judged: Callable[[Decision], Verdict | None]) -> list[Verdict | None]:
    """Call `judged` for the decisions of a deal from last to first, so that the search can reuse its results; return the verdicts in order.

    None means that the limit was too small. After two failures the earlier decisions are skipped: they have more cards left.
    """
    verdicts: list[Verdict | None] = []
    failed = 0
    for decision in reversed(deal):
        verdict = None
        try:
            if failed < 2:
                verdict = judged(decision)
                failed = 0 if verdict is not None else failed + 1
        except NotTwoSidedError:
            failed = 2
        verdicts.append(verdict)
    return verdicts[::-1]


def _open(decision: Decision, worths: Mapping[int, Solution]) -> Judged | None:
    if not all(worth.exact for worth in worths.values()):
        return None
    sign = _sign(decision.state)
    values = {action: sign * worth.low for action, worth in worths.items()}
    most = max(values.values())
    return Judged(
        *_fields_of(decision),
        lost=float(most - values[decision.chosen]),
        best=tuple(decision.state.game.action_text(action) for action, worth in values.items() if worth == most),
        par=float(sign * most),
        worth=float(worths[decision.chosen].low),
    )


class SeatKnowledge:
    """The knowledge of one seat of a replay at each of its decisions. Call `samples` for every decision of the seat, in order."""

    def __init__(self, replay: Mapping[str, Any], seat: int) -> None:
        self.seed = bytes.fromhex(replay["seed"])
        self._game = load(replay["game"], players=replay["players"], **replay["options"])
        self.seat = seat
        self._knowledge: Knowledge | None = None
        self._deals = replay["deals"]
        self._told = 0

    def samples(self, decision: Decision, count: int) -> Iterator[State]:
        """Yield `count` states that this seat cannot tell from the true one. The dice are seeded from the replay and the step."""
        if self._knowledge is None:
            self._knowledge = Knowledge(self._game, self.seat, self._deals)
        knowledge, state = self._knowledge, decision.state
        knowledge.follow(redact(state.events[self._told :], self.seat))
        self._told = len(state.events)
        knowledge.asked([state.game.action_text(action) for action in state.legal_actions()])
        deals = knowledge.deals()
        dice = Dice(int.from_bytes(sha256(self.seed + str(decision.step).encode()).digest()[:8], "big"))
        for _ in range(count):
            yield knowledge.state(deals.deal(dice))


def worths(supposed: Iterable[State], nodes: int) -> list[dict[str, int]] | None:
    """Return, for each state, what each action is worth to the side of the seat to move; None if a state cannot be solved within `nodes`."""
    rows: list[dict[str, int]] = []
    for state in supposed:
        sign = _sign(state)
        solutions = judge(state, nodes)
        if not all(worth.exact for worth in solutions.values()):
            return None
        rows.append({state.game.action_text(action): sign * worth.low for action, worth in solutions.items()})
    return rows


def mean_error(values: Sequence[float]) -> tuple[float, float]:
    """Return the mean of independent values and its standard error; 0 for a single value."""
    mean = add_up(values) / len(values)
    spread = add_up((value - mean) ** 2 for value in values) / (len(values) - 1) if len(values) > 1 else 0.0
    return mean, sqrt(spread / len(values))


def _fair(decision: Decision, rows: Sequence[Mapping[str, int]] | None) -> Judged | None:
    if rows is None:
        return None
    basics, sign = _fields_of(decision), _sign(decision.state)
    means = {text: sum(row[text] for row in rows) / len(rows) for text in rows[0]}
    most = max(means.values())
    best = next(text for text, mean in means.items() if mean == most)
    lost, error = mean_error([row[best] - row[basics.action] for row in rows])
    return Judged(
        *basics,
        lost=lost,
        best=tuple(text for text, mean in means.items() if mean == most),
        par=sign * most,
        worth=sign * means[basics.action],
        samples=len(rows),
        error=error,
    )


class _Known(NamedTuple):
    """The fields of a decision that need no analysis."""

    step: int
    deal: int
    seat: int
    action: str
    phase: str


def _fields_of(decision: Decision) -> _Known:
    state = decision.state
    return _Known(decision.step, state.deal_no, state.turn, state.game.action_text(decision.chosen), phase_of(state))


def phase_of(state: State) -> str:
    """Return the part of the deal in which a decision falls, one of `PHASES`. The end: an empty stock and at most three cards in hand."""
    if state.phase is not None and state.phase.name not in IN_PLAY:
        return AUCTION
    if not state.stock and len(state.hand_of(state.turn)) <= LAST_TRICKS:
        return END
    return FOLLOW if state.in_trick else LEAD


def _sign(state: State) -> int:
    """Return 1 if worths count for the seat to move, else -1. Raise NotTwoSidedError."""
    return 1 if state.turn in camps(state)[0] else -1
