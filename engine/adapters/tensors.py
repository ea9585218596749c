"""Actions as a dense range and observations as one vector, the same layout for every game.

Actions: the numbers of `engine.cards.actions` up to the highest bid are kept as they are; a change of cards (bato), whose number grows with the
cards, becomes one of 16 subsets of the hand in ascending order of its cards.

Observation: float32, `SIZE` numbers. Seats are counted from the observer: 0 is the observer, 1 the next in order of play.

    start  rows x columns  what                                                         unit
    0      6 x 52          cards by number: own hand; on the table; winning the trick;  0 or 1
                           out of play or played in completed tricks; shown card;
                           cards of songs announced in this deal
    312    7 x 52          who played which card of the trick on the table              0 or 1
    676    5               trump: o c e b, none                                         one-hot
    681    5               lead suit of the trick, none between tricks                  one-hot
    686    7               dealer                                                       one-hot
    693    8               soloist, nobody last                                         one-hot
    701    7               card points captured in the deal, by seat                    / 130
    708    7               points of songs in the deal, by seat                          / 100
    715    7               tricks won in the deal, by seat                              / 10
    722    7               points carried from earlier deals of the game, by seat       / 130
    729    7               games won, by seat                                           / 10
    736    7               loss marks, by seat                                          / 10
    743    7               chips, by seat                                               / 1000
    750    7               tricks predicted + 1, by seat; 0: has not spoken             / 10
    757    4               stock / 40; bid / 230; deal / 10; 1 if the observer is to act
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from engine.cards import actions as act
from engine.cards.pack import NO_SUIT
from engine.match.opening.joining import CHANGE
from engine.match.state import State
from engine.match.view import played

SEATS = 7
CARDS = 52
_DISCARDS = act.BID + 231  # first number of the 16 subsets
ACTIONS = _DISCARDS + 16
SIZE = 761

Vector = NDArray[np.float32]


def index(state: State, action: int) -> int:
    """The dense number, 0 to ACTIONS - 1, of an action that is legal in this state."""
    if action < act.DISCARD:
        return action
    hand = state.hand_of(state.turn)
    return _DISCARDS + sum(1 << hand.index(card) for card in act.discarded(action))


def action(state: State, number: int) -> int:
    """The action of a dense number; the inverse of `index` in the same state."""
    if number < _DISCARDS:
        return number
    hand, subset = state.hand_of(state.turn), number - _DISCARDS
    return act.discard(tuple(card for place, card in enumerate(hand) if subset >> place & 1))


def legal(state: State) -> list[int]:
    """Dense numbers of the legal actions, ascending."""
    if state.phase is CHANGE:
        return sorted(index(state, a) for a in state.legal_actions())
    return sorted(state.legal_actions())


def legal_mask(state: State) -> NDArray[np.int8]:
    """Shape (ACTIONS,): 1 where an action is legal for the seat to act."""
    mask = np.zeros(ACTIONS, dtype=np.int8)
    mask[legal(state)] = 1
    return mask


def observation(state: State, seat: int) -> Vector:
    """What the seat may know, as a vector of shape (SIZE,); see the module's table. Made of `State.observation`, so nothing hidden is in it."""
    seen = state.observation(seat)
    numbers = {text: number for number, text in enumerate(state.game.pack.texts)}
    vector = np.zeros(SIZE, dtype=np.float32)
    rows = vector[:312].reshape(6, CARDS)
    trick = seen["trick"]
    hand = [numbers[card] for card in seen["hand"]]
    table = [numbers[play["card"]] for play in trick]
    rows[0, hand] = 1
    rows[1, table] = 1
    if trick:
        rows[2, next(numbers[p["card"]] for p in trick if p["seat"] == seen["winning"])] = 1
    rows[3, [card for card in played(state) if card not in state.table]] = 1
    if seen["shown"] is not None:
        rows[4, numbers[seen["shown"]]] = 1
    for song in seen["sung"]:
        if song["suit"] is not None:
            rows[5, [numbers[rank + song["suit"]] for rank in state.rules.pair_ranks]] = 1
    by_whom = vector[312:676].reshape(SEATS, CARDS)
    for play in trick:
        by_whom[_from(state, seat, play["seat"]), numbers[play["card"]]] = 1
    suits = state.game.pack.suits
    vector[676 + (NO_SUIT if seen["trump"] is None else suits.index(seen["trump"]))] = 1
    vector[681 + (state.lead if trick else NO_SUIT)] = 1
    vector[686 + _from(state, seat, seen["dealer"])] = 1
    soloist = state.notes.get("soloist")
    vector[693 + (SEATS if soloist is None else _from(state, seat, soloist))] = 1
    sides = state.side
    by_seat: list[tuple[int, Sequence[float], float]] = [
        (701, seen["cards"], 130),
        (708, seen["songs"], 100),
        (715, seen["tricks"], 10),
        (722, [seen["totals"][side] for side in sides], 130),
        (729, [seen["games"][side] for side in sides], 10),
        (736, seen["marks"], 10),
        (743, seen["chips"], 1000),
    ]
    for start, values, unit in by_seat:
        for other, value in enumerate(values):
            vector[start + _from(state, seat, other)] = value / unit
    for other, said in state.notes.get("predictions", {}).items():
        vector[750 + _from(state, seat, other)] = (said + 1) / 10
    bid = state.notes.get("bid") or 0
    vector[757:761] = (seen["stock"] / 40, bid / 230, seen["deal"] / 10, float(state.current_seat == seat))
    return vector


def _from(state: State, seat: int, other: int) -> int:
    return (other - seat) % state.seats
