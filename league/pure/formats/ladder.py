"""Ladder: a continuous format. A few matches are always open; new ones are those that say most about the order.

Newcomers (fewest boards, below 48) come first. Otherwise a pair is drawn by its information (`league.pure.pairing.telling`); with `head` the
information is divided by the rank of the better entry, which finds the best bot sooner. At larger tables each further entry is drawn by its
information with those who already sit there; mixed pairs are then split as in a Swiss event.

Measured against a round robin at equal order (docs/tournaments.md), it saves 21 to 34 of 100 games with 10 to 30 bots. A draw depends on the
results at that time. So existing tables never change, and only new ones are drawn.
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
from league.pure.pairing.telling import FAR, NEW, Rivals, pick
from league.pure.portable import comparable
from league.pure.rating.bradley_terry import GROUP_SD, Fit
from league.pure.rating.leaderboard import ENOUGH
from league.pure.rating.sketch import fit_large
from league.pure.refusal import translatable

# Entries. In larger fields a standard error comes from the boards of its two entries alone: exact ones take time cubic in the entries.
EXACT = 200


def play(field: Field, sheet: Sheet) -> Outcome:
    """Seat the existing tables, then draw new ones up to the number of open ones, while the budget lasts."""
    field = replace(field, revision=REVISION)  # Existing tables stay; new ones are drawn by the current rating model.
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
    is_finished = bool(budget) and not sheet.waiting and all(boards[entry] >= budget for entry in active)
    return Outcome(is_finished, lambda: rank_by_strength(field, sheet), "budget" if is_finished else "")


def _open(field: Field, active: int) -> int:
    return field.number("open") or max(1, active // field.table)


class _Draws:
    """The draw of the next tables, by the information of one more board between two entries, from the fit of all boards so far."""

    def __init__(self, field: Field, sheet: Sheet, active: list[int], boards: Counter[int]) -> None:
        self.seats, self.each = field.table, field.boards
        self.together = sheet.partnerships() if field.mixed else None
        strengths = _Strengths(field, sheet)
        self.open = np.zeros(field.entries)
        for table in sheet.pairings:
            if table.slot not in sheet.results:
                self.open[list(table.entries)] += 1
        self.active = np.zeros(field.entries, dtype=bool)
        self.active[active] = True
        self.boards = np.array([boards[entry] for entry in range(field.entries)], dtype=np.int64)
        self.budget = field.number("budget")
        self.fresh = [(int(self.boards[entry]), entry) for entry in active if self._is_fresh(entry)]
        heapify(self.fresh)
        self.rivals = Rivals(strengths.theta, strengths.sd, active, self.open, head=field.flag("head"))
        self.information = self.rivals.sums()

    def _is_fresh(self, entry: int) -> bool:
        return bool(self.boards[entry] < min(NEW, self.budget or NEW))

    def draw(self, rng: random.Random) -> tuple[int, ...]:
        """Draw the next table; empty if all entries have used their budget."""
        while self.fresh and self.fresh[0][0] != self.boards[self.fresh[0][1]]:
            heappop(self.fresh)  # The entry has been seated elsewhere since.
        if self.fresh:
            table = [self.fresh[0][1]]
        else:
            hungry = self.active & (self.boards < self.budget) if self.budget else self.active
            if not hungry.any():
                return ()
            table = [pick(rng, np.where(hungry, np.maximum(self.information, 1e-300), 0.0))]
        anybody = rng.random() < FAR
        while len(table) < self.seats:
            entry = None if anybody else self.rivals.near(rng, table)
            table.append(self.rivals.even(rng, table) if entry is None else entry)
        for entry in table:
            self.information[entry] *= (1 + self.open[entry]) / (2 + self.open[entry])
            self.open[entry] += 1
            self.boards[entry] += self.each
            if self._is_fresh(entry):
                heappush(self.fresh, (int(self.boards[entry]), entry))
        if self.together is None:
            return tuple(table)
        seated = parted(sorted(table, key=self.rivals.rank.__getitem__), self.together)
        self.together.update(partners(seated))
        return seated


class _Strengths:
    """Strengths and standard deviations of their differences. An entry without boards has the prior."""

    def __init__(self, field: Field, sheet: Sheet) -> None:
        self.theta = np.zeros(field.entries)
        self.table: Any = None
        estimate = (
            fitted(field, sheet)
            if field.entries <= EXACT
            else fit_large(tallied(field, sheet), errors=False, rough=True, close=ENOUGH)
        )
        entries = np.array(estimate.bots, dtype=np.int64)
        self.theta[entries] = comparable(estimate.theta)
        if isinstance(estimate, Fit):
            self.table = np.full((field.entries, field.entries), GROUP_SD * sqrt(2))
            self.table[np.ix_(entries, entries)] = np.maximum(comparable(estimate.sd_of_differences()), 1e-6)
        else:
            self.variance = np.full(field.entries, GROUP_SD**2)
            self.variance[entries] = comparable(estimate.variances())

    def sd(self, a: Any, b: Any) -> Any:
        """Return the standard deviations of the differences, pair by pair.

        In a large field they come from the boards of the two alone and are 5% too small.
        """
        return np.sqrt(self.variance[a] + self.variance[b]) if self.table is None else self.table[a, b]


def size(field: Field) -> Size:
    """Return entries x budget / seats boards; 0 without a budget, because then the owner ends the tournament."""
    boards = -(-field.entries * field.number("budget") // field.table)
    matches = -(-boards // field.boards)
    return Size((matches, 2 * matches), (boards, 2 * matches * field.boards)) if boards else Size((0, 0), (0, 0))


FORMAT = Format(
    key="ladder",
    place=7,
    title=translatable("ladder"),
    sentence=translatable(
        "A continuous format: some matches are always open, chosen where they are most informative, and bots may join and leave."
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
            help=translatable(
                "The ladder ends when each bot has played this number of boards. 0: it goes on until you end it."
            ),
        ),
        Parameter(
            name="head",
            default=False,
            help=translatable("Prefer the top of the table: it finds the best sooner and orders the rest later."),
        ),
    ),
    grows=True,
    stands=True,
    eager=True,
)
