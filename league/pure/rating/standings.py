"""The final order of a tournament: board points, then tie-breaks with their standard definitions.

Board points: 1 for each opponent beaten on a board, 1/2 for each one tied with. Order: points, direct encounter,
Sonneborn-Berger, score per board in the game's unit, boards won; what is still equal shares its place.
Source of the definitions: FIDE Handbook C.07 (in force 1 August 2024), 6 Direct Encounter, 9 Sonneborn-Berger, 7.2 wins.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby
from typing import TypeAlias

from league.pure.rating.bradley_terry import fit
from league.pure.rating.leaderboard import superiority
from league.pure.rating.tallies import Board, BotTally, Sides, Tallies, tally

TIED = 0.95  # a likelihood of superiority between 1 - TIED and TIED is a statistical tie


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """What one entry did against another."""

    boards: int
    wins: int
    draws: int
    losses: int

    @property
    def points(self) -> float:
        """Board points."""
        return self.wins + self.draws / 2


Cells: TypeAlias = dict[int, dict[int, Cell]]  # by entry, by opponent
TieBreaks: TypeAlias = tuple[Fraction, Fraction, int]  # negated, so that the better one sorts first


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryResult:
    """One line of the standings."""

    entry: int
    place: int  # 1 = first; equal rows share the smaller number
    shared: bool
    points: float
    boards: int
    wins: int  # opponents beaten, board by board
    draws: int
    losses: int
    sonneborn_berger: float  # sum over opponents of their points times the points scored against them
    direct: float | None  # points against those level on points, where all of them have met; else None
    score_per_board: float | None  # None before the first board
    tied_with_next: bool  # the boards do not show which of this and the next row is stronger (5% to 95%)


@dataclass(frozen=True, slots=True)
class RankedResults:
    """Rows from first to last, and the crosstable {(entry, opponent): Cell} for all that have met."""

    rows: tuple[EntryResult, ...]
    crosstable: dict[tuple[int, int], Cell]


def rank_entries(
    entries: Sequence[int],
    boards: Iterable[Board],
    sides: Sides | None = None,
    levels: Sequence[Sequence[int]] | None = None,
) -> RankedResults:
    """Order `entries` by `boards` among them, or as `levels` say (from first to last; those of one level share a place).

    `sides` are those of every board where parties play together. Entries without a board stand last. ValueError for a board with a stranger.
    """
    found = tally(boards, sides)
    strangers = sorted(set(found.bots) - set(entries))
    if strangers:
        raise ValueError(f"boards with {strangers}, who are not among the entries {sorted(entries)}")
    mine = {entry: found.bots.get(entry, BotTally()) for entry in sorted(entries)}
    cells = _crosstable(found, mine)
    berger = {entry: _sonneborn_berger(mine, cells[entry]) for entry in mine}
    wins = {entry: sum(cell.wins for cell in cells[entry].values()) for entry in mine}

    def points(entry: int) -> int:
        return -mine[entry].half_points

    def later(entry: int) -> TieBreaks:
        return -berger[entry], -Fraction(mine[entry].points, max(mine[entry].boards, 1)), -wins[entry]

    groups = [list(group) for _, group in groupby(sorted(mine, key=points), key=points)]
    direct = {entry: value for group in groups for entry, value in _direct(group, cells).items()}
    if levels is None:
        levels = [level for group in groups for level in _order(group, cells, later)]
    line = [entry for level in levels for entry in level]
    tied = _ties(found)
    rows: list[EntryResult] = []
    for level in levels:
        place = len(rows) + 1
        for entry in level:
            own, against = mine[entry], direct[entry]
            below = line[len(rows) + 1 : len(rows) + 2]
            rows.append(
                EntryResult(
                    entry=entry,
                    place=place,
                    shared=len(level) > 1,
                    points=own.half_points / 2,
                    boards=own.boards,
                    wins=wins[entry],
                    draws=sum(cell.draws for cell in cells[entry].values()),
                    losses=sum(cell.losses for cell in cells[entry].values()),
                    sonneborn_berger=float(berger[entry]),
                    direct=None if against is None else against / 2,
                    score_per_board=own.points / own.boards if own.boards else None,
                    tied_with_next=bool(below) and tied(entry, below[0]),
                )
            )
    return RankedResults(tuple(rows), {(a, b): cell for a, row in cells.items() for b, cell in row.items()})


def _crosstable(found: Tallies, entries: Iterable[int]) -> Cells:
    cells: Cells = {entry: {} for entry in entries}
    for (a, b), pair in sorted(found.pairs.items()):
        cells[a][b] = Cell(boards=pair.boards, wins=pair.wins, draws=pair.draws, losses=pair.losses)
        cells[b][a] = Cell(boards=pair.boards, wins=pair.losses, draws=pair.draws, losses=pair.wins)
    return cells


def _half(cell: Cell) -> int:
    return 2 * cell.wins + cell.draws


def _sonneborn_berger(mine: Mapping[int, BotTally], row: Mapping[int, Cell]) -> Fraction:
    return sum((Fraction(mine[b].half_points * _half(cell), 4) for b, cell in row.items()), Fraction(0))


def _direct(group: list[int], cells: Cells) -> dict[int, int | None]:
    """Half points of each of `group` against the others of it; None where some have not met, or there is nobody to meet."""
    met = all(b in cells[a] for a in group for b in group if a != b)
    if len(group) == 1 or not met:
        return dict.fromkeys(group)
    return {a: sum(_half(cells[a][b]) for b in group if b != a) for a in group}


def _order(group: list[int], cells: Cells, later: Callable[[int], TieBreaks]) -> list[list[int]]:
    """Split entries that are level on points into places, best first.

    1. Direct encounter among all of them. 2. Those it leaves level: direct encounter again among themselves.
    3. Where it separates nobody: the later tie-breaks. What they leave level shares a place.
    """
    direct = _direct(group, cells)
    if len(group) > 1 and len(set(direct.values())) > 1:
        ranked = sorted(group, key=lambda entry: -(direct[entry] or 0))
        parts = [list(part) for _, part in groupby(ranked, key=direct.__getitem__)]
        return [level for part in parts for level in _order(part, cells, later)]
    ranked = sorted(group, key=lambda entry: (later(entry), entry))
    return [list(part) for _, part in groupby(ranked, key=later)]


def _ties(found: Tallies) -> Callable[[int, int], bool]:
    """Whether two entries are statistically tied, by the Bradley-Terry fit of these boards alone; True without boards."""
    fitted = fit(found)
    place = {bot: i for i, bot in enumerate(fitted.bots)}
    los = superiority(fitted)

    def tied(a: int, b: int) -> bool:
        if a not in place or b not in place:
            return True
        return bool(1 - TIED < los[place[a], place[b]] < TIED)

    return tied
