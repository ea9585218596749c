"""Random draws and sums that are the same in every version of Python.

Python guarantees the sequence of `random.Random.random` only: `choice`, `choices`, `shuffle` and `sample` may consume it differently in
another version. Since Python 3.12 `sum` adds floats with compensation, which changes the last bits.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    import random

T = TypeVar("T")


def add_up(values: Iterable[float]) -> float:
    """Add floats from left to right, as `sum` did before Python 3.12."""
    total = 0.0
    for value in values:
        total += value
    return total


def draw_one(values: Sequence[T], rng: random.Random) -> T:
    """Draw one of the values uniformly: `Random.choice` of Python 3.11, from the words of the Mersenne Twister."""
    bits = len(values).bit_length()
    number = rng.getrandbits(bits)
    while number >= len(values):
        number = rng.getrandbits(bits)
    return values[number]


def draw_weighted(values: Sequence[T], weights: Sequence[float], rng: random.Random) -> T:
    """Draw one of the values by weight: `Random.choices` of Python 3.11."""
    marks = list(accumulate(weights))
    return values[bisect(marks, rng.random() * marks[-1], 0, len(values) - 1)]
