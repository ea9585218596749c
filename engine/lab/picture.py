"""Pictures of measures with their intervals, as SVG that stands alone: one row a measure, one dot a column."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any
from xml.sax.saxutils import escape

from engine.lab.words import NUMBER, PERCENT, WORDS, write

Interval = Sequence[float | None]  # Value and ends; an end of None lies beyond the picture.
WIDTH, LEFT, RIGHT, TOP, ROW, FOOT = 720, 250, 20, 30, 22, 26
COLOURS = ("#1f6f54", "#b4572a", "#3b5b92", "#7a4a8a", "#8a7a1f")
TICKS = 5


def chart(
    title: str, rows: Sequence[tuple[str, Sequence[Interval | None]]], columns: Sequence[str] = (), form: str = PERCENT
) -> str:
    """Draw each row's intervals on one axis, which contains 0 and all values. columns: the names of the dots of a row."""
    ends = [value for _, cells in rows for cell in cells if cell is not None for value in cell if value is not None]
    least, most = min([0.0, *ends]), max([0.0, *ends])
    step = _step((most - least) or 1.0)
    first, last = math.floor(least / step), max(math.ceil(most / step), 1)
    low, high = first * step, last * step
    spread = high - low
    height = TOP + ROW * len(rows) + FOOT + (ROW if columns else 0)

    def x(value: float) -> float:
        return round(LEFT + (WIDTH - LEFT - RIGHT) * (value - low) / spread, 1)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" font-size="13" role="img">',
        f"<title>{escape(title)}</title>",
        f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
        f'<text x="8" y="19" font-weight="bold" fill="#222222">{escape(title)}</text>',
    ]
    bottom = TOP + ROW * len(rows)
    for tick in range(first, last + 1):
        value = tick * step
        anchor = "end" if tick == last else "middle"
        parts.append(f'<path d="M{x(value)} {TOP}V{bottom}" stroke="#dddddd"/>')
        parts.append(
            f'<text x="{x(value)}" y="{bottom + 16}" text-anchor="{anchor}" fill="#555555">{write(form, value)}</text>'
        )
    parts.append(f'<path d="M{x(0.0)} {TOP}V{bottom}" stroke="#888888"/>')
    for place, (label, cells) in enumerate(rows):
        middle = TOP + ROW * place + ROW / 2
        parts.append(f'<text x="8" y="{middle + 4}" fill="#222222">{escape(label)}</text>')
        for column, cell in enumerate(cells):
            if cell is None or cell[0] is None:
                continue
            y = middle + (column - (len(cells) - 1) / 2) * min(7, ROW / len(cells))
            start, end = (edge if value is None else value for value, edge in zip(cell[1:], (low, high), strict=True))
            colour = COLOURS[column % len(COLOURS)]
            parts.append(f'<path d="M{x(start)} {y}H{x(end)}" stroke="{colour}" stroke-width="2"/>')
            parts.append(f'<circle cx="{x(cell[0])}" cy="{y}" r="4" fill="{colour}"/>')
    for column, name in enumerate(columns):
        corner = 8 + column * (WIDTH - 16) / len(columns)
        colour = COLOURS[column % len(COLOURS)]
        parts.append(f'<circle cx="{corner + 4}" cy="{height - 12}" r="4" fill="{colour}"/>')
        parts.append(f'<text x="{corner + 14}" y="{height - 8}" fill="#222222">{escape(name)}</text>')
    return "\n".join([*parts, "</svg>\n"])


def _step(spread: float) -> float:
    """Return a round distance between ticks, 1, 2 or 5 times a power of ten, so that at most TICKS of them fill the axis."""
    size: float = 10.0 ** math.floor(math.log10(spread / TICKS))
    return next(size * factor for factor in (1, 2, 5, 10) if size * factor * TICKS >= spread)


def compare(reports: Sequence[dict[str, Any]], columns: Sequence[str]) -> str:
    """Draw the shares of several reports side by side."""
    rows = [
        (words.en, [report["measures"][name] for report in reports])
        for name, words in WORDS.items()
        if words.form == PERCENT and any(report["measures"][name] for report in reports)
    ]
    return chart(f"{reports[0]['game']}: 95% intervals over boards", rows, columns)


def seats(title: str, rows: Sequence[tuple[str, Sequence[Interval | None]]]) -> str:
    """Draw advantages in units of a score."""
    return chart(title, rows, form=NUMBER)
