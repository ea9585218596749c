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

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.match.state import State
from engine.rules.terms import Terms
from engine.search import encoding
from engine.search.encoding import ACTIONS, action, index

__all__ = ["ACTIONS", "SIZE", "action", "expand", "index", "legal", "legal_mask", "observation"]

SEATS = 7
CARDS = 52
SIZE = 761
PLANES = 6

Vector = NDArray[np.float32]


def legal(state: State) -> list[int]:
    """Return the dense numbers of the legal actions, ascending."""
    return sorted(encoding.legal(state))


def legal_mask(state: State) -> NDArray[np.int8]:
    """Return the action mask, shape (ACTIONS,): 1 where an action is legal for the seat to move."""
    mask = bytearray(ACTIONS)  # numpy is slow at setting single bytes.
    for number in encoding.legal(state):
        mask[number] = 1
    return np.frombuffer(mask, np.int8)


def observation(state: State, seat: int) -> Vector:
    """Return what the seat may know as a vector of shape (SIZE,); see the table of the module."""
    vector = _looked_up(np.frombuffer(encoding.observation(state, seat), np.uint8), state.game.pack.size)
    if any(state.chips):
        for other, chips in enumerate(state.chips):
            vector[743 + (other - seat) % state.seats] = chips / 1000
    vector[760] = state.current_seat == seat
    return vector


def expand(observations: NDArray[np.uint8], game: Terms) -> NDArray[np.float32]:
    """Convert observations of `engine.search.encoding` by seats to move, shape (n, encoding.SIZE), into vectors, shape (n, SIZE)."""
    vectors = _looked_up(observations, game.pack.size)
    chips = observations[:, 136:143] + 256.0 * observations[:, 144:151] + 65536.0 * observations[:, 152:159]
    vectors[:, 743 : 743 + game.players] = (chips[:, : game.players] - encoding.NO_CHIPS) / 1000
    return vectors


def _looked_up(observations: NDArray[np.uint8], pack_size: int) -> NDArray[np.float32]:
    """Return the vectors without the chips."""
    sources, starts, values = _lookups(pack_size)
    return values.take(observations.take(sources, axis=-1) + starts)


@cache
def _lookups(pack_size: int) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.float32]]:
    """Return, for each number of a vector, the byte it comes from and the offset of its values, and the table of all values."""
    sources = np.zeros(SIZE, np.intp)
    starts = np.zeros(SIZE, np.intp)
    # Many numbers of the vector share one table of values.
    tables: dict[bytes, int] = {np.zeros(256, np.float32).tobytes(): 0}
    for place, source, values in _numbers(pack_size):
        sources[place] = source
        starts[place] = 256 * tables.setdefault(values.astype(np.float32).tobytes(), len(tables))
    return sources, starts, np.frombuffer(b"".join(tables), np.float32)


def _numbers(pack_size: int) -> Iterator[tuple[int, int, NDArray[Any]]]:
    """Yield the index of a number in the vector, the byte it comes from, and its value for each of 256 byte values."""
    byte = np.arange(256)
    for card in range(4 * pack_size):
        for plane in range(PLANES):
            yield plane * CARDS + card, card // pack_size * 16 + card % pack_size, byte >> plane & 1
        for seat in range(SEATS):
            yield 312 + seat * CARDS + card, 64 + seat, byte == card + 1
    for start, width, source in ((676, 5, 72), (681, 5, 71), (686, 7, 73), (693, 8, 74)):
        for number in range(width):
            yield start + number, source, byte == number
    for start, source, unit in (
        (701, 80, 130),
        (708, 88, 100),
        (715, 96, 10),
        (722, 104, 130),
        (729, 112, 10),
        (736, 120, 10),
        (750, 128, 10),
    ):
        for seat in range(SEATS):
            yield start + seat, source + seat, byte / unit
    yield from ((757, 75, byte / 40), (758, 76, byte / 230), (759, 77, byte / 10), (760, 0, byte >= 0))
