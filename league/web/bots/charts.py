"""Geometry of the drawings on the pages of bots: plain numbers in, SVG attributes out. Style attributes are forbidden by our policy."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from math import ceil, floor

from league.models import RatingPoint
from league.web.common.words import format_number

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 720, 240, 56, 12, 14, 28  # of a drawing and its margins
MOST_POINTS = 300
DATES = 4  # under the axis
APART = 34  # between two names of versions, in units of the drawing
FEW_DAYS = timedelta(days=2)  # of a history: hours are told instead of days


@dataclass
class RatingChart:
    """A rating history ready for `ratings/chart.html`."""

    line: str
    band: str
    ticks: list[tuple[float, int]]
    marks: list[tuple[float, int | None]] = field(default_factory=list)  # None: another one is named too near
    dates: list[tuple[float, datetime]] = field(default_factory=list)
    hours: bool = False  # of the dates alone
    points: list[RatingPoint] = field(default_factory=list)
    dots: list[tuple[float, float, RatingPoint]] = field(default_factory=list)
    width: int = WIDTH
    height: int = HEIGHT
    left: int = LEFT
    right: int = WIDTH - RIGHT
    bottom: int = HEIGHT - BOTTOM


def rating_chart(points: Iterable[RatingPoint]) -> RatingChart | None:
    """The chart of one bot in one pool, oldest point first; None with fewer than two points.

    The horizontal axis counts matches, since ratings move by matches; dates stand below it. A mark stands where a new version first played.
    """
    found = list(points)
    if len(found) < 2:
        return None
    every = ceil(len(found) / MOST_POINTS)
    kept = [point for place, point in enumerate(found) if place % every == 0 or place == len(found) - 1]
    # the first fits rest on a board or two and have margins of hundreds: the axis follows the line, with some of the band
    usual = sorted(point.margin for point in kept)[len(kept) // 2]
    low = floor((min(point.elo for point in kept) - usual) / 50) * 50
    high = ceil((max(point.elo for point in kept) + usual) / 50) * 50

    def x(place: int) -> float:
        return round(LEFT + (WIDTH - LEFT - RIGHT) * place / (len(kept) - 1), 1)

    def y(elo: float) -> float:
        share = (min(max(elo, low), high) - low) / max(high - low, 1)
        return round(HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * share, 1)

    upper = [f"{x(i)},{y(point.elo + point.margin)}" for i, point in enumerate(kept)]
    lower = [f"{x(i)},{y(point.elo - point.margin)}" for i, point in enumerate(kept)]
    step = max(50, ceil((high - low) / 5 / 50) * 50)
    chart = RatingChart(
        line=" ".join(f"{x(i)},{y(point.elo)}" for i, point in enumerate(kept)),
        band=" ".join(upper + lower[::-1]),
        ticks=[(y(value), value) for value in range(low, high + 1, step)],
        points=kept[::-1],
    )
    seen: set[int] = set()
    named = -float(APART)
    for place, point in enumerate(kept):
        number = point.version.number
        if number not in seen:
            seen.add(number)
            near = x(place) - named < APART
            named = named if near else x(place)
            chart.marks.append((x(place), None if near else number))
    places = sorted({round(i * (len(kept) - 1) / (DATES - 1)) for i in range(DATES)})
    chart.dates = [(x(place), kept[place].at) for place in places]
    chart.hours = kept[-1].at - kept[0].at < FEW_DAYS
    chart.dots = [(x(i), y(point.elo), point) for i, point in enumerate(kept)] if len(kept) <= 60 else []
    return chart


@dataclass(frozen=True)
class Curve:
    """A running sum ready for `bots/encounter.html`: the line, the height of zero, and marks of the vertical axis."""

    line: str
    zero: float
    ticks: list[tuple[float, str]]
    steps: int
    total: str
    width: int = WIDTH
    height: int = HEIGHT
    left: int = LEFT
    right: int = WIDTH - RIGHT


def score_curve(sums: Sequence[int], size: int = 1) -> Curve | None:
    """The chart of a sum that starts at 0 and moves with each board; None with fewer than two boards. `size` of it are one on the axis."""
    if len(sums) < 2:
        return None
    values = [0, *sums]
    every = ceil(len(values) / MOST_POINTS)
    kept = [(place, value) for place, value in enumerate(values) if place % every == 0 or place == len(values) - 1]
    low, high = min(values), max(values)
    apart = max(high - low, 1)
    step = max(1, 10 ** (len(str(apart)) - 1))
    step = step // 2 if step > 1 and apart < 2 * step else step

    def x(place: int) -> float:
        return round(LEFT + (WIDTH - LEFT - RIGHT) * place / (len(values) - 1), 1)

    def y(value: float) -> float:
        return round(HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (value - low) / apart, 1)

    marks = range(ceil(low / step) * step, high + 1, step)

    def label(value: int) -> str:
        return format_number(value / size, "+g") if value else "0"

    line = " ".join(f"{x(i)},{y(value)}" for i, value in kept)
    return Curve(line, y(0), [(y(value), label(value)) for value in marks], len(sums), label(sums[-1]))
