"""The crosstable of a tournament: who got what against whom, with a shade for sign and strength and the number always."""

from __future__ import annotations

from dataclasses import dataclass

from league.domain.tournaments.standings import Standing, Standings
from league.pure.rating.intervals import wilson


@dataclass(frozen=True)
class Cell:
    """`points` board points of `boards`; `css` is one of self, none, even, up1-3, down1-3; `match` the first meeting.

    `low` and `high` bound the share of the points at 95%; `sure` says that one half lies outside.
    """

    css: str
    points: float | None = None
    boards: int = 0
    match: str = ""
    low: float = 0.0
    high: float = 1.0

    @property
    def sure(self) -> bool:
        """Whether the boards show who of the two is better."""
        return not self.low <= 0.5 <= self.high


def shade(share: float) -> str:
    """The class of a share of board points: even around one half, then three steps to either side."""
    distance = abs(share - 0.5)
    if distance < 0.02:
        return "even"
    return f"{'up' if share > 0.5 else 'down'}{1 + (distance > 0.1) + (distance > 0.25)}"


def crosstable(table: Standings) -> list[tuple[Standing, list[Cell]]]:
    """The rows of the standings, each with one cell per row, in the same order."""
    return [(row, [_cell(table, row, other) for other in table.rows]) for row in table.rows]


def _cell(table: Standings, row: Standing, other: Standing) -> Cell:
    if row is other:
        return Cell("self")
    key = (row.entry.number, other.entry.number)
    pair = table.cells.get(key)
    if pair is None or not pair.boards:
        return Cell("none")
    share = pair.points / pair.boards
    low, high = wilson(share, pair.boards)
    return Cell(shade(share), pair.points, pair.boards, table.met[key][0], low, high)
