"""The crosstable of a tournament: the points of each row against each column, with a number and a shade.

The page shows a large table in windows of WINDOW rows and columns, beside a picture of the whole.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from engine.intervals import wilson
from league.domain.tournaments.standings import Standing, Standings
from league.web.previews.drawing import png

WINDOW = 24  # Rows and columns of a window.
PACKED = 6  # Compression level of the picture: level 9 takes eight times as long and saves a twentieth.
# Shades of the picture, as in the light scheme of site.css: not met, even, and three steps to either side.
COLOURS = {
    "none": (226, 224, 218),
    "even": (250, 249, 246),
    "up1": (214, 228, 241),
    "up2": (150, 190, 224),
    "up3": (58, 124, 184),
    "down1": (250, 228, 206),
    "down2": (240, 182, 128),
    "down3": (206, 112, 38),
}
SHADES = list(COLOURS)


@dataclass(frozen=True)
class CrosstableCell:
    """A cell: `points` out of `boards`; `css` is one of self, none, even, up1-3, down1-3; `match` is the first meeting.

    `low` and `high`: 95% interval of the share of the points; `sure` is True if it excludes one half.
    """

    css: str
    points: float | None = None
    boards: int = 0
    match: str = ""
    low: float = 0.0
    high: float = 1.0

    @property
    def sure(self) -> bool:
        """Return True if the boards show which bot is better."""
        return not self.low <= 0.5 <= self.high


@dataclass(frozen=True)
class Window:
    """The part of a crosstable of `size` entries that begins at row `down` and column `across`, both from 0."""

    size: int
    down: int
    across: int

    @classmethod
    def at(cls, size: int, down: int | None, across: int | None) -> Window:
        """Return the window with this row and column, or the first window if they do not exist."""

        def start(place: int | None) -> int:
            return place // WINDOW * WINDOW if place is not None and 0 <= place < size else 0

        return cls(size, start(down), start(across))

    @property
    def whole(self) -> bool:
        """Return True if the window is the whole table."""
        return self.size <= WINDOW

    @property
    def last_row(self) -> int:
        """Return the number of the last row, from 1."""
        return min(self.down + WINDOW, self.size)

    @property
    def last_column(self) -> int:
        """Return the number of the last column, from 1."""
        return min(self.across + WINDOW, self.size)

    @property
    def neighbours(self) -> dict[str, tuple[int, int]]:
        """Return the first row and column of each neighbouring window that exists."""
        places = {
            "up": (self.down - WINDOW, self.across),
            "down": (self.down + WINDOW, self.across),
            "left": (self.down, self.across - WINDOW),
            "right": (self.down, self.across + WINDOW),
        }
        return {name: at for name, at in places.items() if all(0 <= place < self.size for place in at)}

    def rows(self, table: Standings) -> list[Standing]:
        """Return the rows of the window."""
        return table.rows[self.down : self.last_row]

    def columns(self, table: Standings) -> list[Standing]:
        """Return the columns of the window."""
        return table.rows[self.across : self.last_column]


def shade(share: float) -> str:
    """Return the CSS class of a share of board points: even near one half, else one of three steps to either side."""
    distance = abs(share - 0.5)
    if distance < 0.02:
        return "even"
    return f"{'up' if share > 0.5 else 'down'}{1 + (distance > 0.1) + (distance > 0.25)}"


def crosstable(
    table: Standings, window: Window, met: Mapping[tuple[int, int], list[str]]
) -> list[tuple[int, Standing, list[CrosstableCell]]]:
    """Return the rows of a window: number from 1, standing, and a cell per column. `met`: public ids of matches by two entries."""
    columns = window.columns(table)
    return [
        (number, row, [_cell(table, met, row, other) for other in columns])
        for number, row in enumerate(window.rows(table), window.down + 1)
    ]


def _cell(table: Standings, met: Mapping[tuple[int, int], list[str]], row: Standing, other: Standing) -> CrosstableCell:
    if row is other:
        return CrosstableCell("self")
    key = (row.entry.number, other.entry.number)
    pair = table.cells.get(key)
    if pair is None or key not in met:
        return CrosstableCell("none")
    share = pair.points / pair.boards
    low, high = wilson(share, pair.boards)
    return CrosstableCell(shade(share), pair.points, pair.boards, met[key][0], low, high)


def picture(table: Standings) -> bytes:
    """Draw the whole table as a PNG, one pixel per cell, in the order of the standings."""
    cells = table.cells
    order = [cells.place[row.entry.number] for row in table.rows]
    boards = cells.boards[np.ix_(order, order)]
    share = cells.halves[np.ix_(order, order)] / np.maximum(2 * boards, 1)
    distance = np.abs(share - 0.5)
    steps = (distance > 0.1).astype(np.uint8) + (distance > 0.25)
    shades = np.where(share > 0.5, SHADES.index("up1") + steps, SHADES.index("down1") + steps).astype(np.uint8)
    shades[distance < 0.02] = SHADES.index("even")
    shades[boards == 0] = SHADES.index("none")
    size = len(order)
    lines = np.hstack([np.zeros((size, 1), dtype=np.uint8), shades]).tobytes()
    head = struct.pack(">IIBBBBB", size, size, 8, 3, 0, 0, 0)
    palette = bytes(value for colour in COLOURS.values() for value in colour)
    return png((b"IHDR", head), (b"PLTE", palette), (b"IDAT", zlib.compress(lines, PACKED)), (b"IEND", b""))
