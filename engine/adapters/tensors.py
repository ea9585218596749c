"""Observations as one vector of floats, the same layout for every game. Actions are the dense numbers of `engine.search.encoding`.

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

from functools import cache

import numpy as np
from numpy.typing import NDArray

import engine
from engine.match.state import State
from engine.search import encoding
from engine.search.encoding import ACTIONS, action, index

__all__ = ["ACTIONS", "SIZE", "action", "expand", "index", "legal", "legal_mask", "observation"]

SEATS = 7
CARDS = 52
SIZE = 761
PLANES = 6

Vector = NDArray[np.float32]

_BY_SEAT = np.repeat((130, 100, 10, 130, 10, 10), SEATS).astype(float)
_IN_BYTES = np.array([80 + 8 * row + seat for row in range(6) for seat in range(SEATS)])


def legal(state: State) -> list[int]:
    """Dense numbers of the legal actions, ascending."""
    return sorted(encoding.legal(state))


def legal_mask(state: State) -> NDArray[np.int8]:
    """Shape (ACTIONS,): 1 where an action is legal for the seat to act."""
    mask = np.zeros(ACTIONS, dtype=np.int8)
    mask[list(encoding.legal(state))] = 1
    return mask


def observation(state: State, seat: int) -> Vector:
    """What the seat may know, as a vector of shape (SIZE,); see the module's table."""
    seen = np.frombuffer(encoding.observation(state, seat), np.uint8)
    vector = expand(seen[None], state.game.origin)[0]
    vector[760] = state.current_seat == seat
    return vector


def expand(observations: NDArray[np.uint8], game: engine.Terms) -> NDArray[np.float32]:
    """Bytes of `engine.search.encoding`, shape (n, encoding.SIZE), of seats that are to act, as vectors, shape (n, SIZE)."""
    seen = observations
    n = len(seen)
    vectors = np.zeros((n, SIZE), np.float32)
    planes = np.unpackbits(seen[:, :64], axis=1, bitorder="little")
    where, planes_of = _cards(game.pack.size)
    vectors[:, where] = planes[:, planes_of]
    row, seat = np.nonzero(seen[:, 64:71])
    vectors[row, 311 + CARDS * seat + seen[row, 64 + seat]] = 1  # the byte is the card's number + 1
    rows = np.arange(n)
    for start, byte in ((676, 72), (681, 71), (686, 73), (693, 74)):
        number = seen[:, byte].astype(np.intp)
        if byte == 74:
            number[number == encoding.SEATS] = SEATS
        vectors[rows, start + number] = 1
    vectors[:, 701:743] = seen[:, _IN_BYTES] / _BY_SEAT
    chips = seen[:, 136:143] + 256.0 * seen[:, 144:151] + 65536.0 * seen[:, 152:159]
    seats = np.arange(SEATS) < seen[:, 78:79]
    vectors[:, 743:750] = (chips - encoding.NO_CHIPS) / 1000 * seats
    vectors[:, 750:757] = seen[:, 128:135] / 10
    vectors[:, 757] = seen[:, 75] / 40
    vectors[:, 758] = seen[:, 76] / 230
    vectors[:, 759] = seen[:, 77] / 10
    vectors[:, 760] = 1
    return vectors


@cache
def _cards(pack_size: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """For the numbers of the first planes: where they stand in a vector, and which bit of an observation they are."""
    cards = np.arange(4 * pack_size)
    place = cards // pack_size * 16 + cards % pack_size
    where = [plane * CARDS + cards for plane in range(PLANES)]
    bits = [8 * place + plane for plane in range(PLANES)]
    return np.concatenate(where), np.concatenate(bits)
