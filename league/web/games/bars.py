"""The intervals of a leaderboard as bars: plain numbers in, SVG attributes out. Style attributes are forbidden by our policy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor

from league.domain.ratings.leaderboards import RankedBot

WIDTH = 100.0  # of a bar, in its own units
ANCHOR = 1000.0  # Elo of the anchor bot
NICE = 50  # Elo; the ends of the axis are multiples of it


@dataclass(frozen=True)
class Bar:
    """An interval as a bar from `start`, `width` wide, with its middle at `middle`; `anchor` is where the anchor bot stands, None off the axis.

    All of 0 to 100.
    """

    start: float
    width: float
    middle: float
    anchor: float | None


@dataclass(frozen=True)
class LeaderboardLine:
    """A line of the leaderboard with its bar."""

    row: RankedBot
    bar: Bar


@dataclass(frozen=True)
class Axis:
    """What all bars of a page share: from `low` to `high`, Elo."""

    low: int
    high: int


def with_bars(rows: Sequence[RankedBot]) -> tuple[list[LeaderboardLine], Axis | None]:
    """Lines of a page with bars on one axis that holds every interval of it; None without a row."""
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
        bar = Bar(start, round(end - start, 2), x(row.rating.elo), anchor)
        lines.append(LeaderboardLine(row, bar))
    return lines, Axis(low, high)
