"""Draws and sums that are the same in every version of Python.

Python promises the sequence of `random.Random.random`, and that alone: `choice`, `choices`, `shuffle` and `sample` may take other
numbers from it in another version. `sum` has added floats with compensation since Python 3.12, so its last bits changed there.
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
    """Add floats one after the other, as `sum` did before Python 3.12."""
    total = 0.0
    for value in values:
        total += value
    return total


def draw_one(values: Sequence[T], rng: random.Random) -> T:
    """Draw one of the values, each with the same chance: `Random.choice` as of Python 3.11, from the words of the Mersenne Twister."""
    bits = len(values).bit_length()
    number = rng.getrandbits(bits)
    while number >= len(values):
        number = rng.getrandbits(bits)
    return values[number]


def draw_weighted(values: Sequence[T], weights: Sequence[float], rng: random.Random) -> T:
    """Draw one of the values by weight: `Random.choices` as of Python 3.11."""
    marks = list(accumulate(weights))
    return values[bisect(marks, rng.random() * marks[-1], 0, len(values) - 1)]
