"""What each decision of a recorded match gave away, in units of the board score.

Two judgements, which are never mixed:

* `with_open_cards`: the worth of the deal if all seats know all cards, before and after each decision. It is exact, and knows more than
  the seat did: who lost nothing may have been lucky.
* `fairly`: the same over deals that agree with all that the seat had been told, so that it is blamed only for what it could know. That is
  an estimate with a standard error, and it still lets all seats see all cards from the next one on.

Both want a deal between two sides. What cannot be proved within a limit of nodes is not judged: as Python source endings only, compiled
whole deals of the games that `engine.search.solving.tricks` knows (docs/search.md).
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
from engine.search.solving import NotTwoSidedError, camps, judge
from engine.search.solving.judging import Judge, Solution
from engine.search.words import INTERPRETED

if TYPE_CHECKING:
    from engine.match.state import State

Verdict = TypeVar("Verdict")

JUDGE = "open-1"  # of both: another number where another worth or another best action may come out
USUAL_NODES = 20_000 if INTERPRETED else 5_000_000  # a second at most, for an action
LAST_TRICKS = 3
AUCTION, LEAD, FOLLOW, END = "auction", "lead", "follow", "end"
IN_PLAY = ("window", "exchange", "capote")  # questions between two cards
PHASES = (AUCTION, LEAD, FOLLOW, END)


class Move(NamedTuple):
    """An action of a line, and whose it is."""

    seat: int
    action: str


@dataclass(frozen=True, slots=True)
class Judged:
    """One decision. `step` counts actions from 0.

    par, worth: of the deal before and after the action, to its first camp. lost: what the best action had brought more to the seat's own
    side, None where it is not known. best: all actions as good as that. samples: how many deals were judged, 0 with open cards. error: the
    standard error of `lost` over them, 0 with open cards. line: what the first of `best` leads to if all play as well as they can, as far as it
    was proved; with open cards, where something was lost, and where it was asked for.
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
    """Decisions of one bot, in one phase or in all. boards: by board, what was lost and in how many judged decisions."""

    decisions: int = 0
    right: int = 0
    boards: dict[int, tuple[float, int]] = field(default_factory=dict)

    def add(self, board: int, lost: float | None) -> None:
        """Count one decision, and what it lost; None where that is not known."""
        self.decisions += 1
        if lost is None:
            return
        self.right += lost == 0
        before, judged = self.boards.get(board, (0.0, 0))
        self.boards[board] = before + lost, judged + 1

    @property
    def judged(self) -> int:
        """Decisions that could be judged."""
        return sum(judged for _, judged in self.boards.values())

    @property
    def lost(self) -> float | None:
        """Lost a decision, on average over those that were judged."""
        return add_up(lost for lost, _ in self.boards.values()) / self.judged if self.judged else None

    @property
    def margin(self) -> float | None:
        """Half of the 95 % interval of `lost`, over boards: decisions of one board hang together. None for fewer than two boards."""
        count, mean = len(self.boards), self.lost
        if count < 2 or mean is None:
            return None
        squares = add_up((lost - mean * judged) ** 2 for lost, judged in self.boards.values())
        return t95(count - 1) * sqrt(count / (count - 1) * squares) / self.judged


class Decision(NamedTuple):
    """A moment of a replay in which a seat had a choice, and what it chose."""

    step: int
    state: State
    chosen: int


def decisions(replay: Mapping[str, Any]) -> Iterator[Decision]:
    """All decisions of a replay in order, with its one state: clone it to keep it. Raises ReplayError where the replay does not hold."""
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
    """How many moments of the record come before this one in its deal, the deal itself with them."""
    events: list[dict[str, Any]] = state.events
    return next((back for back, event in enumerate(reversed(events), 1) if event["e"] == "deal"), len(events))


def with_open_cards(
    replay: Mapping[str, Any], nodes: int = USUAL_NODES, *, lines: bool = False
) -> Iterator[list[Judged]]:
    """Every decision of a replay, judged with all cards open, deal by deal; at most `nodes` for each action. Raises ReplayError.

    lines: with those of decisions that lost something, the costliest first, for at most `nodes` more in all of a deal.
    """
    kept = (one._replace(state=one.state.clone()) for one in decisions(replay))
    for _, deal in groupby(kept, key=lambda one: one.state.deal_no):
        moments, judge = list(deal), _OpenJudge(nodes)
        found = _all(moments, judge)
        yield judge.with_lines(moments, found) if lines else found


class _OpenJudge:
    """Judges the decisions of one deal, and keeps what it has found from one to the next."""

    def __init__(self, nodes: int) -> None:
        self._nodes = nodes
        self._judge: Judge | None = None

    def __call__(self, one: Decision) -> Judged | None:
        if self._judge is None:
            self._judge = Judge(one.state)
        judge = self._judge
        return _open(one, {action: judge.after(one.state, action, self._nodes) for action in one.state.legal_actions()})

    def with_lines(self, moments: Sequence[Decision], found: Sequence[Judged]) -> list[Judged]:
        """The same with the lines of what lost something, while there are nodes for it."""
        if self._judge is None:
            return list(found)
        told = list(found)
        left = self._nodes
        for place in sorted(range(len(told)), key=lambda place: -(told[place].lost or 0.0)):
            one = told[place]
            if not one.lost or one.par is None or left <= 0:
                break
            line, left = _line(self._judge, moments[place].state, one.best[0], int(one.par), left)
            told[place] = replace(one, line=line)
        return told


def _line(judge: Judge, before: State, first: str, worth: int, nodes: int) -> tuple[tuple[Move, ...], int]:
    """From an action on, which makes the deal worth so much, with the first action of each seat that keeps it so; and the nodes that are left.

    It ends with the deal, or where no action was proved to keep the worth.
    """
    state, line, left = before.clone(), [], nodes
    state.deals, state.dice = state.deal_no, Dice(0)  # as the judge has it: no other deal is dealt
    deal, action = state.deal_no, state.game.parse_action(first)
    while True:
        line.append(Move(state.turn, state.game.action_text(action)))
        state.apply(action)
        if state.is_over or state.deal_no != deal:
            return tuple(line), left
        legal = state.legal_actions()
        keeping = legal[0] if len(legal) == 1 else None
        for other in legal if keeping is None else ():
            if left <= 0:
                break
            found = judge.after(state, other, left, worth)
            left -= max(1, found.nodes)
            if found.low == found.high == worth:
                keeping = other
                break
        if keeping is None:
            return tuple(line), left
        action = keeping


def fairly(replay: Mapping[str, Any], samples: int, nodes: int = USUAL_NODES) -> Iterator[list[Judged]]:
    """Every decision of a replay, judged over `samples` deals that agree with what its seat knew, deal by deal. Raises ReplayError.

    `nodes` as above; the dice follow from the replay. The best action is that of the best mean over the same deals, which a few deals take
    for better than it is: `lost` is rather too high than too low, by less than its error.
    """
    seats = [Seat(replay, seat) for seat in range(replay["players"])]
    supposed: dict[int, list[State]] = {}

    def noted() -> Iterator[Decision]:
        for one in decisions(replay):
            supposed[one.step] = list(seats[one.state.turn].samples(one, samples))
            yield one._replace(state=one.state.clone())

    for _, deal in groupby(noted(), key=lambda one: one.state.deal_no):
        yield _all(list(deal), lambda one: _fair(one, worths(supposed.pop(one.step), nodes)))


def _all(deal: Sequence[Decision], judged: Callable[[Decision], Judged | None]) -> list[Judged]:
    return [verdict or Judged(*_known(one)) for one, verdict in zip(deal, from_the_end(deal, judged), strict=True)]


def from_the_end(deal: Sequence[Decision], judged: Callable[[Decision], Verdict | None]) -> list[Verdict | None]:
    """What `judged` says of the decisions of a deal, in order, but asked from the last to the first: what is found about the end helps before it.

    None says that a limit was too small. After two of these the decisions before are not tried: there are more cards left.
    """
    found: list[Verdict | None] = []
    failed = 0
    for one in reversed(deal):
        verdict = None
        try:
            if failed < 2:
                verdict = judged(one)
                failed = 0 if verdict is not None else failed + 1
        except NotTwoSidedError:
            failed = 2
        found.append(verdict)
    return found[::-1]


def _open(one: Decision, worths: Mapping[int, Solution]) -> Judged | None:
    if not all(worth.exact for worth in worths.values()):
        return None
    sign = _sign(one.state)
    mine = {action: sign * worth.low for action, worth in worths.items()}
    most = max(mine.values())
    return Judged(
        *_known(one),
        lost=float(most - mine[one.chosen]),
        best=tuple(one.state.game.action_text(action) for action, worth in mine.items() if worth == most),
        par=float(sign * most),
        worth=float(worths[one.chosen].low),
    )


class Seat:
    """What one seat of a replay had been told by each of its decisions. It follows the replay: ask it for every decision of its seat, in order."""

    def __init__(self, replay: Mapping[str, Any], seat: int) -> None:
        self.seed = bytes.fromhex(replay["seed"])
        self._game = load(replay["game"], players=replay["players"], **replay["options"])
        self.seat = seat
        self._knowledge: Knowledge | None = None
        self._deals = replay["deals"]
        self._told = 0

    def samples(self, one: Decision, count: int) -> Iterator[State]:
        """So many states that this seat may take for the true one. The dice follow from the replay; further ones are independent of those before."""
        if self._knowledge is None:
            self._knowledge = Knowledge(self._game, self.seat, self._deals)
        knowledge, state = self._knowledge, one.state
        knowledge.follow(redact(state.events[self._told :], self.seat))
        self._told = len(state.events)
        knowledge.asked([state.game.action_text(action) for action in state.legal_actions()])
        deals = knowledge.deals()
        dice = Dice(int.from_bytes(sha256(self.seed + str(one.step).encode()).digest()[:8], "big"))
        for _ in range(count):
            yield knowledge.state(deals.deal(dice))


def worths(supposed: Iterable[State], nodes: int) -> list[dict[str, int]] | None:
    """What each action is worth to the side of the seat on turn, in each of these states; None where one cannot be proved with so many nodes."""
    rows: list[dict[str, int]] = []
    for state in supposed:
        sign = _sign(state)
        found = judge(state, nodes)
        if not all(worth.exact for worth in found.values()):
            return None
        rows.append({state.game.action_text(action): sign * worth.low for action, worth in found.items()})
    return rows


def mean_error(values: Sequence[float]) -> tuple[float, float]:
    """The mean of independent values, and its standard error; 0 for a single one."""
    mean = add_up(values) / len(values)
    spread = add_up((value - mean) ** 2 for value in values) / (len(values) - 1) if len(values) > 1 else 0.0
    return mean, sqrt(spread / len(values))


def _fair(one: Decision, rows: Sequence[Mapping[str, int]] | None) -> Judged | None:
    if rows is None:
        return None
    known, sign = _known(one), _sign(one.state)
    means = {text: sum(row[text] for row in rows) / len(rows) for text in rows[0]}
    most = max(means.values())
    best = next(text for text, mean in means.items() if mean == most)
    lost, error = mean_error([row[best] - row[known.action] for row in rows])
    return Judged(
        *known,
        lost=lost,
        best=tuple(text for text, mean in means.items() if mean == most),
        par=sign * most,
        worth=sign * means[known.action],
        samples=len(rows),
        error=error,
    )


class _Known(NamedTuple):
    """What is known of a decision without any judgement."""

    step: int
    deal: int
    seat: int
    action: str
    phase: str


def _known(one: Decision) -> _Known:
    state = one.state
    return _Known(one.step, state.deal_no, state.turn, state.game.action_text(one.chosen), phase_of(state))


def phase_of(state: State) -> str:
    """In which part of the deal a decision falls: one of `PHASES`. The end: no stock, and at most three cards in the hand."""
    if state.phase is not None and state.phase.name not in IN_PLAY:
        return AUCTION
    if not state.stock and len(state.hand_of(state.turn)) <= LAST_TRICKS:
        return END
    return FOLLOW if state.in_trick else LEAD


def _sign(state: State) -> int:
    """1 where the worth counts for the seat on turn, else -1. Raises NotTwoSidedError."""
    return 1 if state.turn in camps(state)[0] else -1
