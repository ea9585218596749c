"""Who tells most about whom: opponents drawn by what one more board of two would tell, for ladders of tournaments and standing ones.

The weight of a pair is the chance that its order is wrong, times what one more board would take off its uncertainty. Drawing, rather than taking the
largest weight, keeps everybody in play. One table in eight (FAR) is drawn evenly from everybody: where neighbours meet only
neighbours, nothing tells how long the ladder is.

No look at all pairs: of the others, in the order of strength, an entry sees the nearest one by one, the rest in groups that get larger with
the distance, of which one stands for all.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Sequence
from math import sqrt
from typing import Any

import numpy as np

from league.pure.portable import comparable

FAR = (
    1 / 8
)  # of the tables are drawn evenly: some 7% of all pairs are then a quarter of the field apart or more (docs/ratings.md)
LOOK = 64  # neighbours in the order, either way, whom an entry sees one by one; and into so many groups the others fall, at most
TRIES = 100  # to find somebody who does not sit at the table yet
BLOCK = 1000  # entries that are looked at together
NEW = 48  # boards until an entry counts as placed: an error of about 50 Elo

Fits = Callable[[int], bool]  # whether an entry may sit down


class Rivals:
    """The others, as each entry of a field sees them.

    theta: (N,) strengths in logits. sd: standard deviations of the differences of entries a and b, pair by pair. active: entries that may be drawn,
    ascending. tables: (N,) at how many tables that are not over each sits; who draws keeps it. head: prefer the head of the table.
    """

    def __init__(
        self, theta: Any, sd: Callable[[Any, Any], Any], active: Sequence[int], tables: Any, *, head: bool = False
    ) -> None:
        self.theta, self.sd, self.tables, self.head = comparable(theta), sd, tables, head
        self.everybody = active
        line = np.lexsort([np.arange(len(theta)), -self.theta])
        self.rank = np.empty(len(theta), dtype=np.int64)
        self.rank[line] = np.arange(1, len(theta) + 1)
        there = np.zeros(len(theta), dtype=bool)
        there[list(active)] = True
        self.line = line[there[line]]
        self.at = np.zeros(len(theta), dtype=np.int64)
        self.at[self.line] = np.arange(len(self.line))
        self.steps, self.width = _groups(len(self.line))

    def even(self, rng: random.Random, table: Collection[int]) -> int:
        """Anybody who does not sit at `table`; there is somebody."""
        while True:
            entry = self.everybody[int(rng.random() * len(self.everybody))]
            if entry not in table:
                return entry

    def near(self, rng: random.Random, table: Sequence[int], fits: Fits | None = None) -> int | None:
        """One more for `table`, by weight: first how far away in the order from its first entry, then who of those that are about so far away.

        fits: who may sit down, not at the table already; by default everybody. Asked anew each time, so what it refuses by chance is drawn less
        often. None: nobody who fits was found.
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
        """(A, D) first places of the groups that others fall into as seen from the places `at`, by distance; (A, D) how many are in each."""
        low = np.concatenate([at[:, None] - self.steps - self.width + 1, at[:, None] + self.steps], axis=1)
        high = np.minimum(low + np.tile(self.width, 2), len(self.line))
        low = np.maximum(low, 0)
        return low, np.maximum(high - low, 0)

    def weights(self, a: Any, b: Any) -> Any:
        """P(wrong order) x the gain of one board, shared by the tables at which the two sit already and which are not over. Pair by pair."""
        from scipy import special  # takes longer to load than all else here, and most processes never draw a ladder

        apart, sd = np.abs(self.theta[a] - self.theta[b]), self.sd(a, b)
        wrong = special.erfc(apart / sd / sqrt(2)) / 2
        chance = 1 / (1 + np.exp(-apart))
        q = chance * (1 - chance)
        told = wrong * q * sd**2 / (1 + q * sd**2)
        head = np.minimum(self.rank[a], self.rank[b]) if self.head else 1
        return told / head / (1 + self.tables[a] + self.tables[b])

    def sums(self) -> Any:
        """(N,) the weights of each entry with all others that are active, added up."""
        found = np.zeros(len(self.tables))
        for start in range(0, len(self.line), BLOCK):
            mine = self.line[start : start + BLOCK]
            low, size = self._distances(self.at[mine])
            others = self.line[np.clip(low, 0, len(self.line) - 1)]
            found[mine] = (self.weights(mine[:, None], others) * size).sum(axis=1)
        return found


def _groups(count: int) -> tuple[Any, Any]:
    """Distances in an order of `count`: where groups of others begin, and how many are in each. The nearest LOOK are alone."""
    near = np.arange(1, min(count, LOOK + 1))
    if count <= LOOK + 1:
        return near, np.ones_like(near)
    far = np.unique(np.geomspace(LOOK + 1, count, LOOK).astype(np.int64))
    return np.append(near, far), np.append(np.ones_like(near), np.diff(np.append(far, count)))


def pick(rng: random.Random, weights: Any) -> int:
    """A place, drawn by weight. Only `Random.random` is used: the same in all versions of Python."""
    marks = np.cumsum(weights)
    if not marks[-1] > 0:  # all are surely in order, to the last digit: whoever it is
        return int(rng.random() * len(marks))
    return min(int(np.searchsorted(marks, rng.random() * marks[-1], "right")), int(np.flatnonzero(weights)[-1]))
