"""Exact solving by the rules themselves: alpha-beta over `State.apply`, for every two-sided game with all its options.

It is slow, so it is only for endings: about four tricks as Python source. It tries every answer to every question of the rules: songs, tutes,
exchanges, claims, capotes, the bonus of the last trick. Tests compare `engine.search.solving.tricks` with it, and it solves the games that `tricks`
does not know.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from engine.cards.chance import Dice
from engine.search.solving.worth import camps, difference

if TYPE_CHECKING:
    from engine.match.state import State

FAR: Final = 10**12  # More than any deal is worth.


class OutOfNodesError(Exception):
    """The limit of nodes of a search is reached."""


class Exact:
    """A solver of the rest of one deal, for the first of its camps."""

    def __init__(self, state: State, nodes: int) -> None:
        """`nodes`: most actions to carry out. Raises NotTwoSidedError."""
        self.between = camps(state)
        self.first = [seat in self.between[0] for seat in range(state.seats)]
        self.root = root = state.clone()
        root.deals = root.deal_no  # The match ends with this deal, so that no further one is dealt.
        root.dice = Dice(0)
        self.before = difference(root, self.between)
        self.deal_no = root.deal_no
        self.nodes = 0
        self.limit = nodes
        self.table: dict[Any, tuple[int, int, int]] = {}

    def solve(self) -> tuple[int, int]:
        """Return the least and the most that the deal is worth to the first camp, from its beginning on; equal if the search was complete."""
        low, high, guess = -FAR, FAR, 0
        try:
            while low < high:
                beta = max(guess, low + 1)
                guess = self.search(self.root, beta - 1, beta)
                if guess < beta:
                    high = guess
                else:
                    low = guess
        except OutOfNodesError:
            pass
        return low, high

    def is_done(self, state: State) -> bool:
        """Return True if the deal has been counted."""
        return state.is_over or state.deal_no != self.deal_no

    def value(self, state: State) -> int:
        """Return the worth of a counted deal."""
        return difference(state, self.between) - self.before

    def search(self, state: State, alpha: int, beta: int) -> int:  # noqa: C901 - alpha-beta in one place
        """Return the worth of the deal from here, or a bound of it if it lies outside of alpha to beta."""
        if self.is_done(state):
            return self.value(state)
        if self.nodes >= self.limit:
            raise OutOfNodesError
        key = key_of(state) if not state.in_trick else None
        low, high, first = -FAR, FAR, -1
        if key is not None and (stored := self.table.get(key)):
            low, high, first = stored
            if low >= beta or low == high:
                return low
            if high <= alpha:
                return high
        legal = state.legal_actions()
        if first >= 0:
            legal = (first, *(action for action in legal if action != first))
        maximizes = self.first[state.turn]
        best = -FAR if maximizes else FAR
        chosen = first
        a, b = alpha, beta
        for action in legal:
            self.nodes += 1
            new = state.clone()
            new.dice = state.dice
            new.apply(action)
            value = self.search(new, a, b)
            if (value > best) if maximizes else (value < best):
                best = value
                chosen = action
                if maximizes:
                    a = max(a, best)
                else:
                    b = min(b, best)
                if a >= b:
                    break
        if key is not None:
            if best >= beta:
                low = max(low, best)
            elif best <= alpha:
                high = min(high, best)
            else:
                low = high = best
            self.table[key] = (low, high, chosen)
        return best


def key_of(state: State) -> Any:
    """Return everything that the rest of a deal depends on, between two tricks."""
    notes = state.notes
    phase = state.phase
    return (
        tuple([tuple(hand) for hand in state.hands]),
        state.turn,
        "" if phase is None else phase.name,
        state.window,
        state.queue,
        tuple(state.cards),
        tuple(state.songs),
        state.songs_made,
        tuple(state.tricks),
        state.last_trick,
        state.window_songs,
        state.shown,
        state.pending,
        state.swapped,
        state.trump,
        state.n,
        state.capote_by,
        state.reached,
        None if state.drawn is None else tuple(state.drawn),
        repr(notes) if notes else "",
    )
