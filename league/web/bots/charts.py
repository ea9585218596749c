"""Geometry of the drawings on bot pages: numbers in, SVG attributes out. The content security policy forbids style attributes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from math import ceil, floor

from league.models import RatingPoint
from league.web.common.words import format_number

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 720, 240, 56, 12, 14, 28  # Size of a drawing, then its margins.
MOST_POINTS = 300
DATES = 4  # Number of dates below the axis.
APART = 34  # Least distance between two version labels, in units of the drawing.
FEW_DAYS = timedelta(days=2)  # A shorter history shows hours instead of days.


@dataclass
class RatingChart:
    """A rating history ready for `ratings/chart.html`."""

    line: str
    band: str
    ticks: list[tuple[float, int]]
    marks: list[tuple[float, int | None]] = field(default_factory=list)  # A label is None if the next one is too near.
    dates: list[tuple[float, datetime]] = field(default_factory=list)
    hours: bool = False  # True if the dates show hours.
    points: list[RatingPoint] = field(default_factory=list)
    dots: list[tuple[float, float, RatingPoint]] = field(default_factory=list)
    width: int = WIDTH
    height: int = HEIGHT
    start: int = LEFT
    right: int = WIDTH - RIGHT
    bottom: int = HEIGHT - BOTTOM


def rating_chart(points: Iterable[RatingPoint]) -> RatingChart | None:
    """Draw the ratings of one bot in one pool, oldest point first. Return None for fewer than two points.

    The horizontal axis counts matches, because ratings change by matches; dates stand below it. Each mark is the first match of a version.
    """
    history = list(points)
    if len(history) < 2:
        return None
    every = ceil(len(history) / MOST_POINTS)
    sampled = [point for place, point in enumerate(history) if place % every == 0 or place == len(history) - 1]
    # Early ratings come from one or two boards and have margins of hundreds, so the axis covers the line and only part of the band.
    usual = sorted(point.margin for point in sampled)[len(sampled) // 2]
    low = floor((min(point.elo for point in sampled) - usual) / 50) * 50
    high = ceil((max(point.elo for point in sampled) + usual) / 50) * 50

    def x(place: int) -> float:
        return round(LEFT + (WIDTH - LEFT - RIGHT) * place / (len(sampled) - 1), 1)

    def y(elo: float) -> float:
        share = (min(max(elo, low), high) - low) / max(high - low, 1)
        return round(HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * share, 1)

    upper = [f"{x(i)},{y(point.elo + point.margin)}" for i, point in enumerate(sampled)]
    lower = [f"{x(i)},{y(point.elo - point.margin)}" for i, point in enumerate(sampled)]
    step = max(50, ceil((high - low) / 5 / 50) * 50)
    chart = RatingChart(
        line=" ".join(f"{x(i)},{y(point.elo)}" for i, point in enumerate(sampled)),
        band=" ".join(upper + lower[::-1]),
        ticks=[(y(value), value) for value in range(low, high + 1, step)],
        points=sampled[::-1],
    )
    numbers: set[int] = set()
    last_label = -float(APART)
    for place, point in enumerate(sampled):
        number = point.version.number
        if number not in numbers:
            numbers.add(number)
            near = x(place) - last_label < APART
            last_label = last_label if near else x(place)
            chart.marks.append((x(place), None if near else number))
    places = sorted({round(i * (len(sampled) - 1) / (DATES - 1)) for i in range(DATES)})
    chart.dates = [(x(place), sampled[place].at) for place in places]
    chart.hours = sampled[-1].at - sampled[0].at < FEW_DAYS
    chart.dots = [(x(i), y(point.elo), point) for i, point in enumerate(sampled)] if len(sampled) <= 60 else []
    return chart


@dataclass(frozen=True)
class Curve:
    """A running sum ready for `bots/encounter.html`: the line, the height of zero and the ticks of the vertical axis."""

    line: str
    zero: float
    ticks: list[tuple[float, str]]
    steps: int
    total: str
    width: int = WIDTH
    height: int = HEIGHT
    start: int = LEFT
    right: int = WIDTH - RIGHT


def score_curve(sums: Sequence[int], size: int = 1) -> Curve | None:
    """Draw a sum that starts at 0 and changes with each board; `size` scores are one unit. Return None for fewer than two boards."""
    if len(sums) < 2:
        return None
    values = [0, *sums]
    every = ceil(len(values) / MOST_POINTS)
    sampled = [(place, value) for place, value in enumerate(values) if place % every == 0 or place == len(values) - 1]
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

    line = " ".join(f"{x(i)},{y(value)}" for i, value in sampled)
    return Curve(line, y(0), [(y(value), label(value)) for value in marks], len(sums), label(sums[-1]))


def course_curve(points: Sequence[tuple[int, float]]) -> Curve | None:
    """Draw a value over the boards of a tuning; the line of zero is its start. Return None for fewer than two points."""
    if len(points) < 2:
        return None
    values = [value for _, value in points]
    low, high, last = min(values), max(values), points[-1][0]
    apart = (high - low) or 1.0

    def y(value: float) -> float:
        return round(HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (value - low) / apart, 1)

    line = " ".join(f"{LEFT + (WIDTH - LEFT - RIGHT) * played / last:.1f},{y(value)}" for played, value in points)
    ticks = [(y(value), format_number(value, ".3g")) for value in sorted({low, (low + high) / 2, high})]
    return Curve(line, y(values[0]), ticks, last, format_number(values[-1], ".4g"))
