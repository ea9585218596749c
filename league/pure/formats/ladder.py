"""Ladder: continuous. A few matches are always open; each new one goes where it tells most.

Newcomers (fewest boards, below 48) come first. Otherwise a pair is drawn with a weight: the chance that its order is wrong, times what
one more board would take off its uncertainty; with `head` divided by the rank of its better entry, which finds the best one sooner.
Drawing, rather than taking the largest weight, keeps everybody in play and the field connected. At larger tables the other seats
are drawn by their weights with those who sit there; mixed pairs are then parted as in a Swiss event.

One table in eight is drawn evenly from everybody: where neighbours meet only neighbours, nothing tells how long the ladder is.

Measured against a round robin at equal order (docs/tournaments.md): 21 to 34 of 100 games saved at 10 to 30 bots.
Whom a match is given to depends on what was known when it was made. So the tables that exist stand as they are, and only what is
missing to the number of open ones is drawn.
"""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from heapq import heapify, heappop, heappush
from math import sqrt
from typing import Any

import numpy as np

from league.pure.formats.base import Format, Outcome, Parameter, Size
from league.pure.formats.ranks import fitted, rank_by_strength, tallied
from league.pure.formats.sheet import REVISION, Field, Sheet, partners
from league.pure.formats.swiss import parted
from league.pure.rating.bradley_terry import GROUP_SD, Fit
from league.pure.rating.leaderboard import ENOUGH
from league.pure.rating.sketch import fit_large
from league.pure.refusal import translatable

FAR = (
    1 / 8
)  # of the tables are drawn evenly: some 7% of all pairs are then a quarter of the field apart or more (docs/ratings.md)
LOOK = 64  # neighbours in the order, either way, whom an entry sees one by one; and into so many groups the others fall, at most
TRIES = 100  # to find somebody who does not sit at the table yet
BLOCK = 1000  # entries that are looked at together
EXACT = 200  # entries; beyond it standard errors are those by the boards of the two alone: exact ones take time as the cube of the entries
NEW = 48  # boards until an entry counts as placed: an error of about 50 Elo


def play(field: Field, sheet: Sheet) -> Outcome:
    """Seat the tables that exist; add new ones up to the number of open ones, while the budget lasts."""
    field = replace(field, revision=REVISION)  # what was drawn stands; what is missing is drawn by the present ratings
    boards: Counter[int] = Counter()
    for table in sheet.drawn:
        sheet.stand(table)
        for entry in table.entries:
            boards[entry] += table.boards
    active = [entry for entry in range(field.entries) if entry not in field.withdrawn]
    budget = field.number("budget")
    draws: _Draws | None = None
    while sheet.waiting < _open(field, len(active)):
        if len(active) < field.table or (not draws and budget and all(boards[entry] >= budget for entry in active)):
            break
        draws = draws or _Draws(field, sheet, active, boards)
        rng = random.Random(f"ladder\n{field.lot}\n{len(sheet.pairings)}")
        seated = draws.draw(rng)
        if not seated:
            break
        sheet.seat(1, seated, field.boards)
        boards.update(dict.fromkeys(seated, field.boards))
    done = bool(budget) and not sheet.waiting and all(boards[entry] >= budget for entry in active)
    return Outcome(done, lambda: rank_by_strength(field, sheet), "budget" if done else "")


def _open(field: Field, active: int) -> int:
    return field.number("open") or max(1, active // field.table)


class _Draws:
    """Who sits at the next tables: what one more board between two entries would tell, from the fit of all boards so far.

    No look at all pairs: of the others, in the order of strength, an entry sees the nearest one by one, the rest in groups that get larger with
    the distance, of which one stands for all.
    """

    def __init__(self, field: Field, sheet: Sheet, active: list[int], boards: Counter[int]) -> None:
        self.seats, self.each = field.table, field.boards
        self.together = sheet.partnerships() if field.mixed else None
        self.head = field.flag("head")
        self.strengths = _Strengths(field, sheet)
        line = np.lexsort([np.arange(field.entries), -self.strengths.theta])
        self.rank = np.empty(field.entries, dtype=np.int64)
        self.rank[line] = np.arange(1, field.entries + 1)
        self.open = np.zeros(field.entries)
        for table in sheet.pairings:
            if table.slot not in sheet.results:
                self.open[list(table.entries)] += 1
        self.active = np.zeros(field.entries, dtype=bool)
        self.active[active] = True
        self.everybody = active
        self.boards = np.array([boards[entry] for entry in range(field.entries)], dtype=np.int64)
        self.budget = field.number("budget")
        self.fresh = [(int(self.boards[entry]), entry) for entry in active if self._is_fresh(entry)]
        heapify(self.fresh)
        self.line = line[self.active[line]]
        self.at = np.zeros(field.entries, dtype=np.int64)
        self.at[self.line] = np.arange(len(self.line))
        self.steps, self.width = _groups(len(self.line))
        self.told = self._sums()

    def _is_fresh(self, entry: int) -> bool:
        return bool(self.boards[entry] < min(NEW, self.budget or NEW))

    def draw(self, rng: random.Random) -> tuple[int, ...]:
        """Who sits at the next table; nobody where all have their budget."""
        while self.fresh and self.fresh[0][0] != self.boards[self.fresh[0][1]]:
            heappop(self.fresh)  # has sat elsewhere since
        if self.fresh:
            table = [self.fresh[0][1]]
        else:
            hungry = self.active & (self.boards < self.budget) if self.budget else self.active
            if not hungry.any():
                return ()
            table = [_pick(rng, np.where(hungry, np.maximum(self.told, 1e-300), 0.0))]
        anybody = rng.random() < FAR
        while len(table) < self.seats:
            table.append(self._even(rng, table) if anybody else self._near(rng, table))
        for entry in table:
            self.told[entry] *= (1 + self.open[entry]) / (2 + self.open[entry])
            self.open[entry] += 1
            self.boards[entry] += self.each
            if self._is_fresh(entry):
                heappush(self.fresh, (int(self.boards[entry]), entry))
        if self.together is None:
            return tuple(table)
        seated = parted(sorted(table, key=self.rank.__getitem__), self.together)
        self.together.update(partners(seated))
        return seated

    def _even(self, rng: random.Random, table: list[int]) -> int:
        while True:
            entry = self.everybody[int(rng.random() * len(self.everybody))]
            if entry not in table:
                return entry

    def _near(self, rng: random.Random, table: list[int]) -> int:
        """One more for the table, by weight: first how far away in the order, then who of those that are about so far away."""
        low, size = self._distances(self.at[table[:1]])
        others = self.line[np.clip(low, 0, len(self.line) - 1)]
        weights = sum((self.weights(entry, others) for entry in table), np.zeros(others.shape)) * size
        for _ in range(TRIES):
            place = _pick(rng, weights[0])
            entry = int(self.line[low[0, place] + int(rng.random() * size[0, place])]) if size[0, place] else table[0]
            if entry not in table:
                return entry
        return self._even(rng, table)

    def _distances(self, at: Any) -> tuple[Any, Any]:
        """(A, D) first places of the groups that others fall into as seen from the places `at`, by distance; (A, D) how many are in each."""
        low = np.concatenate([at[:, None] - self.steps - self.width + 1, at[:, None] + self.steps], axis=1)
        high = np.minimum(low + np.tile(self.width, 2), len(self.line))
        low = np.maximum(low, 0)
        return low, np.maximum(high - low, 0)

    def weights(self, a: Any, b: Any) -> Any:
        """P(wrong order) x the gain of one board, shared by the tables at which the two sit already and which are not over. Pair by pair."""
        from scipy import special  # takes longer to load than all else here, and most processes never draw a ladder

        apart, sd = np.abs(self.strengths.theta[a] - self.strengths.theta[b]), self.strengths.sd(a, b)
        wrong = special.erfc(apart / sd / sqrt(2)) / 2
        chance = 1 / (1 + np.exp(-apart))
        q = chance * (1 - chance)
        told = wrong * q * sd**2 / (1 + q * sd**2)
        head = np.minimum(self.rank[a], self.rank[b]) if self.head else 1
        return told / head / (1 + self.open[a] + self.open[b])

    def _sums(self) -> Any:
        """(N,) the weights of each entry with all others that are active, added up."""
        found = np.zeros(len(self.open))
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


class _Strengths:
    """Strengths and standard deviations of differences; of one who has not played: what is believed of anybody."""

    def __init__(self, field: Field, sheet: Sheet) -> None:
        self.theta = np.zeros(field.entries)
        self.table: Any = None
        found = (
            fitted(field, sheet)
            if field.entries <= EXACT
            else fit_large(tallied(field, sheet), errors=False, rough=True, close=ENOUGH)
        )
        there = np.array(found.bots, dtype=np.int64)
        self.theta[there] = found.theta
        if isinstance(found, Fit):
            self.table = np.full((field.entries, field.entries), GROUP_SD * sqrt(2))
            self.table[np.ix_(there, there)] = np.maximum(found.sd_of_differences(), 1e-6)
        else:
            self.variance = np.full(field.entries, GROUP_SD**2)
            self.variance[there] = found.variances()

    def sd(self, a: Any, b: Any) -> Any:
        """Of the differences, pair by pair. In a large field by the boards of the two alone, which is 5% too little."""
        return np.sqrt(self.variance[a] + self.variance[b]) if self.table is None else self.table[a, b]


def _pick(rng: random.Random, weights: Any) -> int:
    """A place, drawn by weight. Only `Random.random` is used: the same in all versions of Python."""
    marks = np.cumsum(weights)
    if not marks[-1] > 0:  # all are surely in order, to the last digit: whoever it is
        return int(rng.random() * len(marks))
    return min(int(np.searchsorted(marks, rng.random() * marks[-1], "right")), int(np.flatnonzero(weights)[-1]))


def size(field: Field) -> Size:
    """Entries x budget / seats boards; without a budget it goes on until its owner ends it."""
    boards = -(-field.entries * field.number("budget") // field.table)
    matches = -(-boards // field.boards)
    return Size((matches, 2 * matches), (boards, 2 * matches * field.boards)) if boards else Size((0, 0), (0, 0))


FORMAT = Format(
    key="ladder",
    place=7,
    title=translatable("ladder"),
    sentence=translatable(
        "It goes on without an end: some matches are always open, chosen where they tell most, and bots may join and leave."
    ),
    rounds=False,
    play=play,
    size=size,
    parameters=(
        Parameter(
            name="open",
            default=0,
            low=0,
            high=200,
            help=translatable("How many matches are open at a time. 0: as many as tables can be filled."),
        ),
        Parameter(
            name="budget",
            can_grow=True,
            default=0,
            low=0,
            high=1_000_000,
            help=translatable("Boards of each bot, then the ladder ends. 0: it goes on until you end it."),
        ),
        Parameter(
            name="head",
            default=False,
            help=translatable("Prefer the head of the table: it finds the best sooner and orders the rest later."),
        ),
    ),
    grows=True,
    eager=True,
)
