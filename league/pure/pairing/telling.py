"""Informative pairings: opponents drawn by the information of one more board between them, for ladder tournaments and standing ladders.

The weight of a pair is the chance that its order is wrong, times the reduction of its uncertainty by one more board. Pairs are drawn by weight,
rather than the largest weight taken, so that everybody plays. One table in eight (FAR) is drawn at random: if neighbours meet only neighbours, the
distance between top and bottom stays unknown.

Not all pairs are computed: in the order of strength, the nearest others of an entry are looked at one by one, and the rest in groups that grow with
the distance, each represented by one entry.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Sequence
from math import erfc, sqrt
from typing import Any

import numpy as np

from league.pure.portable import comparable

# Share of tables drawn at random: some 7% of all pairs are then a quarter of the field apart or more (docs/ratings.md).
FAR = 1 / 8
LOOK = 64  # Neighbours on either side that are looked at one by one, and the most groups of others.
TRIES = 100  # Attempts to draw an entry that is not at the table yet.
BLOCK = 1000  # Entries computed together.
NEW = 48  # Boards until an entry counts as placed, with a standard error of about 50 Elo.

_erfc = np.vectorize(erfc, otypes=[float])  # SciPy's would load 15 MB for this one function.

Fits = Callable[[int], bool]  # Returns True if an entry may sit down.


class Rivals:
    """The weights of pairs: for each entry of a field, how informative the others are as opponents."""

    def __init__(
        self, theta: Any, sd: Callable[[Any, Any], Any], active: Sequence[int], tables: Any, *, head: bool = False
    ) -> None:
        self.theta, self.sd, self.tables, self.head = comparable(theta), sd, tables, head
        self.everybody = active
        line = np.lexsort([np.arange(len(theta)), -self.theta])
        self.rank = np.empty(len(theta), dtype=np.int64)
        self.rank[line] = np.arange(1, len(theta) + 1)
        is_active = np.zeros(len(theta), dtype=bool)
        is_active[list(active)] = True
        self.line = line[is_active[line]]
        self.at = np.zeros(len(theta), dtype=np.int64)
        self.at[self.line] = np.arange(len(self.line))
        self.steps, self.width = _groups(len(self.line))

    def even(self, rng: random.Random, table: Collection[int]) -> int:
        """Draw any entry that does not sit at `table`; there must be one."""
        while True:
            entry = self.everybody[int(rng.random() * len(self.everybody))]
            if entry not in table:
                return entry

    def near(self, rng: random.Random, table: Sequence[int], fits: Fits | None = None) -> int | None:
        """Draw one more entry for `table`: first a distance from the first entry in the order, by weight, then an entry at about that distance.

        fits: returns True for entries that may sit down; by default those that are not at the table. It is called at each attempt, so an entry that
        it refuses at random is drawn less often. Return None if no entry that fits was drawn.
        """
        fits = fits or (lambda entry: entry not in table)
        low, size = self._distances(self.at[list(table[:1])])
        others = self.line[np.clip(low, 0, len(self.line) - 1)]
        weights = sum((self.weights(entry, others) for entry in table), np.zeros(others.shape)) * size
        for _ in range(TRIES):
            place = pick(rng, weights[0])
            entry = int(self.line[low[0, place] + int(rng.random() * size[0, place])]) if size[0, place] else table[0]
            if fits(entry):
                return entry
        return None

    def _distances(self, at: Any) -> tuple[Any, Any]:
        """Return (A, D) the first places of the groups of others by distance from the places `at`, and (A, D) the sizes of these groups."""
        low = np.concatenate([at[:, None] - self.steps - self.width + 1, at[:, None] + self.steps], axis=1)
        high = np.minimum(low + np.tile(self.width, 2), len(self.line))
        low = np.maximum(low, 0)
        return low, np.maximum(high - low, 0)

    def weights(self, a: Any, b: Any) -> Any:
        """Return P(wrong order) x the gain of one board, divided by the number of unfinished tables of the two, for each pair of `a` and `b`."""
        apart, sd = np.abs(self.theta[a] - self.theta[b]), self.sd(a, b)
        wrong = _erfc(apart / sd / sqrt(2)) / 2
        chance = 1 / (1 + np.exp(-apart))
        q = chance * (1 - chance)
        information = wrong * q * sd**2 / (1 + q * sd**2)
        head = np.minimum(self.rank[a], self.rank[b]) if self.head else 1
        return information / head / (1 + self.tables[a] + self.tables[b])

    def sums(self) -> Any:
        """Return (N,) the sum of the weights of each entry with all other active ones."""
        sums = np.zeros(len(self.tables))
        for start in range(0, len(self.line), BLOCK):
            block = self.line[start : start + BLOCK]
            low, size = self._distances(self.at[block])
            others = self.line[np.clip(low, 0, len(self.line) - 1)]
            sums[block] = (self.weights(block[:, None], others) * size).sum(axis=1)
        return sums


def _groups(count: int) -> tuple[Any, Any]:
    """Return where the groups of others begin in an order of `count`, and their sizes. The nearest LOOK are single."""
    near = np.arange(1, min(count, LOOK + 1))
    if count <= LOOK + 1:
        return near, np.ones_like(near)
    far = np.unique(np.geomspace(LOOK + 1, count, LOOK).astype(np.int64))
    return np.append(near, far), np.append(np.ones_like(near), np.diff(np.append(far, count)))


def pick(rng: random.Random, weights: Any) -> int:
    """Draw a place by weight. Only `Random.random` is used, because it is the same in all versions of Python."""
    marks = np.cumsum(weights)
    if not marks[-1] > 0:  # No order is in doubt within the precision of floats, so any entry will do.
        return int(rng.random() * len(marks))
    return min(int(np.searchsorted(marks, rng.random() * marks[-1], "right")), int(np.flatnonzero(weights)[-1]))
