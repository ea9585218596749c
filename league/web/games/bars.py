"""The intervals of a leaderboard as bars: plain numbers in, SVG attributes out. Style attributes are forbidden by our policy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from league.domain.ratings.leaderboards import RankedBot

WIDTH = 100.0  # of a bar, in its own units
ANCHOR = 1000.0  # Elo of the anchor bot


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


def with_bars(rows: Sequence[RankedBot]) -> list[LeaderboardLine]:
    """Lines of a page with bars on one common axis, which its settled rows set; wider bars of provisional rows are cut at its ends."""
    settled = [row.rating for row in rows if row.place] or [row.rating for row in rows]
    if not settled:
        return []
    low = min(rating.elo - rating.margin for rating in settled)
    high = max(rating.elo + rating.margin for rating in settled)
    scale = WIDTH / max(high - low, 1.0)

    def x(elo: float) -> float:
        return round(min(max((elo - low) * scale, 0.0), WIDTH), 2)

    anchor = x(ANCHOR) if low <= ANCHOR <= high else None
    lines = []
    for row in rows:
        start, end = x(row.rating.elo - row.rating.margin), x(row.rating.elo + row.rating.margin)
        lines.append(LeaderboardLine(row, Bar(start, round(end - start, 2), x(row.rating.elo), anchor)))
    return lines
