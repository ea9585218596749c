"""The intervals of a leaderboard as bars: numbers in, SVG attributes out. The content security policy forbids style attributes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor

from league.domain.ratings.leaderboards import RankedBot

WIDTH = 100.0  # Units of a bar.
ANCHOR = 1000.0  # Elo of the anchor bot
NICE = 50  # Elo; the ends of the axis are multiples of this.


@dataclass(frozen=True)
class IntervalBar:
    """An interval as a bar in units from 0 to 100. `anchor`: the place of the anchor bot, None if it is off the axis."""

    start: float
    width: float
    middle: float
    anchor: float | None


@dataclass(frozen=True)
class LeaderboardLine:
    """A row of the leaderboard with its bar."""

    row: RankedBot
    bar: IntervalBar


@dataclass(frozen=True)
class Axis:
    """The common axis of all bars of a page, from `low` to `high` Elo."""

    low: int
    high: int


def with_bars(rows: Sequence[RankedBot]) -> tuple[list[LeaderboardLine], Axis | None]:
    """Return the rows of a page with their bars, and an axis that covers every interval. Without rows the axis is None."""
    if not rows:
        return [], None
    ratings = [row.rating for row in rows]
    low = floor(min(rating.elo - rating.margin for rating in ratings) / NICE) * NICE
    high = ceil(max(rating.elo + rating.margin for rating in ratings) / NICE) * NICE
    scale = WIDTH / max(high - low, 1)

    def x(elo: float) -> float:
        return round((elo - low) * scale, 2)

    anchor = x(ANCHOR) if low <= ANCHOR <= high else None
    lines = []
    for row in rows:
        start, end = x(row.rating.elo - row.rating.margin), x(row.rating.elo + row.rating.margin)
        bar = IntervalBar(start, round(end - start, 2), x(row.rating.elo), anchor)
        lines.append(LeaderboardLine(row, bar))
    return lines, Axis(low, high)
