"""Solving a deal, and judging the actions of one decision."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from engine.cards.chance import Dice
from engine.search.masks import INTERPRETED
from engine.search.solving.exact import Exact, key_of
from engine.search.solving.tricks import Tricks, knows
from engine.search.solving.worth import camps, difference

if TYPE_CHECKING:
    from engine.match.state import State

NODES = 300_000 if INTERPRETED else 60_000_000  # Default limit of cards to search: some seconds.
SLOWER: Final = 12  # One action of `State.apply` takes as long as this many cards of `tricks`.


class Solution(NamedTuple):
    """The worth of a deal to the first camp, between `low` and `high`, both included; `nodes` were searched."""

    low: int
    high: int
    nodes: int

    @property
    def exact(self) -> bool:
        """True if the worth is known."""
        return self.low == self.high


class Judge:
    """A solver for the states of one deal. It reuses results of earlier states."""

    def __init__(self, state: State) -> None:
        """Take any state of the deal. Raises NotTwoSidedError."""
        self.between = camps(state)
        self.deal_no = state.deal_no
        self.quick: Tricks | None = None
        if knows(state.game):
            spare = state.game.programs.get(SPARE)
            if spare is None:
                spare = state.game.programs[SPARE] = Tricks(state.game)
            self.quick = spare
            spare.begin()

    def solve(self, state: State, nodes: int = NODES, guess: int | None = None) -> Solution:
        """Return the worth of the whole deal to the first camp, with best play from here on.

        A `guess` that is off by a few points makes it faster.
        """
        if self.quick is None or state.trump > 3:
            slow = Exact(state, max(1, nodes // SLOWER))
            low, high = slow.solve()
            return Solution(low, high, slow.nodes)
        if state.phase is None:
            low, high = self.quick.solve(state, self.between[0], nodes, guess)
            return Solution(low, high, self.quick.nodes)
        solutions = [self.after(state, action, nodes, guess) for action in state.legal_actions()]
        least, most = [solution.low for solution in solutions], [solution.high for solution in solutions]
        nodes = sum([solution.nodes for solution in solutions])
        if state.turn in self.between[0]:
            return Solution(max(least), max(most), nodes)
        return Solution(min(least), min(most), nodes)

    def after(self, state: State, action: int, nodes: int = NODES, guess: int | None = None) -> Solution:
        """Return the worth after an action of the seat on turn, as `solve` does."""
        new = state.clone()
        new.deals = new.deal_no  # The match ends with this deal, so that no further one is dealt.
        new.dice = Dice(0)
        before = difference(new, self.between)
        new.apply(action)
        if new.is_over or new.deal_no != self.deal_no:
            worth = difference(new, self.between) - before
            return Solution(worth, worth, 1)
        return self.solve(new, nodes, guess)


SPARE = (-1,)  # Key of a game's spare solver among its programs.


def solve(state: State, nodes: int = NODES) -> Solution:
    """Return the worth of a deal to the first camp, with open cards and a stock of known order. Raises NotTwoSidedError."""
    return Judge(state).solve(state, nodes)


def judge(state: State, nodes: int = NODES) -> dict[int, Solution]:
    """Return the solution after each legal action, in their order, with this many nodes for each. Raises NotTwoSidedError."""
    solver = Judge(state)
    solutions: dict[int, Solution] = {}
    guess: int | None = None
    for action in state.legal_actions():
        solutions[action] = solution = solver.after(state, action, nodes, guess)
        if solution.exact:
            guess = solution.low
    return solutions


def max_n(state: State, nodes: int = NODES // SLOWER) -> list[int] | None:
    """Return the board scores by seat at the end of the deal if each seat plays for its own score alone and knows all cards (max^n).

    For three or more sides there is no exact value: of several equally good actions of a seat the first is taken, although another may be better for
    other seats. Partners have the same score, that of their side. Return None if the nodes run out.
    """
    root = state.clone()
    root.deals = root.deal_no
    root.dice = Dice(0)
    budget = [nodes]
    return _max_n(root, root.deal_no, {}, budget)


def _max_n(state: State, deal_no: int, table: dict[Any, list[int]], budget: list[int]) -> list[int] | None:
    if state.is_over or state.deal_no != deal_no:
        if state.game.score_unit in ("marks", "rank"):
            return [-marks for marks in state.marks]
        carried = [state.totals[state.side[seat]] for seat in range(state.seats)]
        return [score + more for score, more in zip(state.scores(), carried, strict=True)]
    if budget[0] <= 0:
        return None
    key = key_of(state) if not state.in_trick else None
    if key is not None and key in table:
        return table[key]
    best: list[int] | None = None
    for action in state.legal_actions():
        budget[0] -= 1
        new = state.clone()
        new.dice = state.dice
        new.apply(action)
        scores = _max_n(new, deal_no, table, budget)
        if scores is None:
            return None
        if best is None or scores[state.turn] > best[state.turn]:
            best = scores
    if key is not None and best is not None:
        table[key] = best
    return best
