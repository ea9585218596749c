"""The final order of a tournament: board points, then tie-breaks by their standard definitions.

Board points: 1 for each opponent beaten on a board, 1/2 for each tie. Order: points, direct encounter, Sonneborn-Berger, score per board in the
game's unit, boards won; entries that are still equal share the place.
Source of the definitions: FIDE Handbook C.07 (in force 1 August 2024), 6 Direct Encounter, 9 Sonneborn-Berger, 7.2 wins.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations, groupby, product
from typing import TypeAlias

import numpy as np

from league.pure.rating.bradley_terry import fit
from league.pure.rating.leaderboard import superiority
from league.pure.rating.tallies import Board, BotTally, Ints, Sides, Tallies, tally

TIED = 0.95  # A likelihood of superiority between 1 - TIED and TIED is a statistical tie.


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """The results of one entry against another."""

    boards: int
    wins: int
    draws: int
    losses: int

    @property
    def points(self) -> float:
        """Return the board points."""
        return self.wins + self.draws / 2


TieBreaks: TypeAlias = tuple[int, Fraction, int]  # Negated, so that the better one sorts first.


class Crosstable(Mapping[tuple[int, int], Cell]):
    """The results of each entry against each opponent: a cell by (entry, opponent). `wins` and `draws`: boards, (N, N)."""

    def __init__(self, entries: Sequence[int], tallies: Tallies) -> None:
        self.entries = sorted(entries)
        self.place = {entry: place for place, entry in enumerate(self.entries)}
        self.wins, self.draws = _matrices(np.array(self.entries, dtype=np.int64), tallies)
        self.boards = self.wins + self.draws + self.wins.T

    def __getitem__(self, pair: tuple[int, int]) -> Cell:
        a, b = (self.place[entry] for entry in pair)
        if not self.boards[a, b]:
            raise KeyError(pair)
        wins, draws, losses = int(self.wins[a, b]), int(self.draws[a, b]), int(self.wins[b, a])
        return Cell(boards=wins + draws + losses, wins=wins, draws=draws, losses=losses)

    def __iter__(self) -> Iterator[tuple[int, int]]:
        for a, b in np.argwhere(self.boards).tolist():
            yield self.entries[a], self.entries[b]

    def __len__(self) -> int:
        return int(np.count_nonzero(self.boards))

    @cached_property
    def halves(self) -> Ints:
        """Return (N, N) half points of the row against the column."""
        return 2 * self.wins + self.draws


def _matrices(entries: Ints, tallies: Tallies) -> tuple[Ints, Ints]:
    """Return the boards that the row won against the column, and those it drew."""
    wins = np.zeros((len(entries), len(entries)), dtype=np.int64)
    draws = np.zeros_like(wins)

    def add(a: Ints, b: Ints, won: Ints, drawn: Ints, lost: Ints) -> None:
        i, j = np.searchsorted(entries, a), np.searchsorted(entries, b)
        np.add.at(wins, (i, j), won)
        np.add.at(wins, (j, i), lost)
        np.add.at(draws, (i, j), drawn)
        np.add.at(draws, (j, i), drawn)

    for m, rows in tallies.sides.items():
        for x, y in product(range(m), range(m, 2 * m)):
            add(rows[:, x], rows[:, y], rows[:, 2 * m], rows[:, 2 * m + 1], rows[:, 2 * m + 2])
    for k, rows in tallies.tables.items():
        for x, y in combinations(range(k), 2):
            better, times = rows[:, k + y] - rows[:, k + x], rows[:, -1]
            add(rows[:, x], rows[:, y], times * (better > 0), times * (better == 0), times * (better < 0))
    return wins, draws


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryResult:
    """A row of the standings of a tournament."""

    entry: int
    place: int  # 1 for the first; equal rows share the smaller number.
    shared: bool
    points: float
    boards: int
    wins: int  # Boards won, counted for each opponent.
    draws: int
    losses: int
    sonneborn_berger: float  # Sum over opponents of their points times the points scored against them.
    direct: float | None  # Points against the entries level on points, if all of these have met; else None.
    score_per_board: float | None  # None before the first board.
    tied_with_next: bool  # True if the boards do not show whether this row or the next is stronger (5% to 95%).


@dataclass(frozen=True, slots=True)
class RankedResults:
    """The rows from first to last, and the crosstable."""

    rows: tuple[EntryResult, ...]
    crosstable: Crosstable


def rank_entries(entries: Sequence[int], boards: Iterable[Board], sides: Sides | None = None) -> RankedResults:
    """Order `entries` by the `boards` among them.

    `sides`: which parties play together, on every board. Entries without a board come last. Raise ValueError for a board with a party that is not
    in `entries`.
    """
    return rank_tallies(entries, tally(boards, sides))


def rank_tallies(
    entries: Sequence[int], tallies: Tallies, levels: Sequence[Sequence[int]] | None = None
) -> RankedResults:
    """Order entries like `rank_entries`, from the tallies of the boards; or by `levels` (from first to last; entries of a level share a place)."""
    strangers = sorted(set(tallies.ids.tolist()) - set(entries))
    if strangers:
        raise ValueError(f"boards with {strangers}, which are not among the entries {sorted(entries)}")
    tally_of = {entry: tallies.bots.get(entry, BotTally()) for entry in sorted(entries)}
    cells = Crosstable(entries, tallies)
    halves = cells.halves
    own_points = np.array([tally_of[entry].half_points for entry in cells.entries], dtype=np.int64)
    berger = dict(zip(cells.entries, (halves @ own_points).tolist(), strict=True))  # Values are quarters of a point.
    wins, draws, losses = (
        dict(zip(cells.entries, values.tolist(), strict=True))
        for values in (cells.wins.sum(axis=1), cells.draws.sum(axis=1), cells.wins.sum(axis=0))
    )

    def points(entry: int) -> int:
        return -tally_of[entry].half_points

    def later(entry: int) -> TieBreaks:
        return -berger[entry], -Fraction(tally_of[entry].points, max(tally_of[entry].boards, 1)), -wins[entry]

    groups = [list(group) for _, group in groupby(sorted(tally_of, key=points), key=points)]
    direct = {entry: value for group in groups for entry, value in _direct(group, cells).items()}
    if levels is None:
        levels = [level for group in groups for level in _order(group, cells, later)]
    line = [entry for level in levels for entry in level]
    tied = _ties(tallies)
    rows: list[EntryResult] = []
    for level in levels:
        place = len(rows) + 1
        for entry in level:
            own, against = tally_of[entry], direct[entry]
            below = line[len(rows) + 1 : len(rows) + 2]
            rows.append(
                EntryResult(
                    entry=entry,
                    place=place,
                    shared=len(level) > 1,
                    points=own.half_points / 2,
                    boards=own.boards,
                    wins=wins[entry],
                    draws=draws[entry],
                    losses=losses[entry],
                    sonneborn_berger=berger[entry] / 4,
                    direct=None if against is None else against / 2,
                    score_per_board=own.points / own.boards if own.boards else None,
                    tied_with_next=bool(below) and tied(entry, below[0]),
                )
            )
    return RankedResults(tuple(rows), cells)


def _direct(group: list[int], cells: Crosstable) -> dict[int, int | None]:
    """Return for each of `group` the half points against the rest of the group; None if some have not met, or the group has one entry."""
    if len(group) == 1:
        return dict.fromkeys(group)
    places = [cells.place[entry] for entry in group]
    among = np.ix_(places, places)
    met = bool((cells.boards[among].astype(bool) | np.eye(len(group), dtype=bool)).all())
    if not met:
        return dict.fromkeys(group)
    return dict(zip(group, cells.halves[among].sum(axis=1).tolist(), strict=True))


def _order(group: list[int], cells: Crosstable, later: Callable[[int], TieBreaks]) -> list[list[int]]:
    """Split entries that are level on points into places, best first.

    1. Direct encounter among all of them. 2. Entries still level: direct encounter again among these.
    3. If that separates nobody: the later tie-breaks. Entries still level share a place.
    """
    direct = _direct(group, cells)
    if len(group) > 1 and len(set(direct.values())) > 1:
        ranked = sorted(group, key=lambda entry: -(direct[entry] or 0))
        parts = [list(part) for _, part in groupby(ranked, key=direct.__getitem__)]
        return [level for part in parts for level in _order(part, cells, later)]
    ranked = sorted(group, key=lambda entry: (later(entry), entry))
    return [list(part) for _, part in groupby(ranked, key=later)]


def _ties(tallies: Tallies) -> Callable[[int, int], bool]:
    """Return a test whether two entries are statistically tied, from a Bradley-Terry fit of these boards alone; always True without boards."""
    fitted = fit(tallies)
    place = {bot: i for i, bot in enumerate(fitted.bots)}
    los = superiority(fitted)

    def tied(a: int, b: int) -> bool:
        if a not in place or b not in place:
            return True
        return bool(1 - TIED < los[place[a], place[b]] < TIED)

    return tied
