"""Glicko-2 (Glickman, 2012) for puzzles: each first answer is a game between a person and a puzzle, and a rating period of its own.

An answer moves both. A side with few answers has a large deviation: it moves far, and moves the other side little.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from engine.portable import add_up
from league.pure.portable import ELO_DIGITS, comparable

BASE, DEVIATION, VOLATILITY = 1500.0, 350.0, 0.06  # A new person or puzzle.
SCALE = 173.7178  # Rating points of one unit of the Glicko-2 scale.
TAU = 0.5  # How much the volatility may change.
CONVERGED = 1e-6
LEAST_DEVIATION = 45.0  # Every rating keeps moving a little.
LOWEST, HIGHEST = 100.0, 4000.0
PROVISIONAL = 110.0  # A rating with a larger deviation says little.
VOLATILITY_DIGITS = 6


@dataclass(frozen=True, slots=True)
class GlickoRating:
    """A rating with its deviation, both in rating points, and its volatility."""

    rating: float = BASE
    deviation: float = DEVIATION
    volatility: float = VOLATILITY


def rate(own: GlickoRating, games: Sequence[tuple[GlickoRating, float]]) -> GlickoRating:
    """Return the rating after one period with these games: opponents, and points of 1 for a win, 1/2 for a draw, 0 for a loss."""
    phi = own.deviation / SCALE
    facts = []
    for rival, points in games:
        shrink = 1 / math.sqrt(1 + 3 * (rival.deviation / SCALE) ** 2 / math.pi**2)
        expected = 1 / (1 + math.exp(-shrink * (own.rating - rival.rating) / SCALE))
        facts.append((shrink, expected, points))
    variance = 1 / add_up(shrink**2 * expected * (1 - expected) for shrink, expected, _points in facts)
    pull = add_up(shrink * (points - expected) for shrink, expected, points in facts)
    volatility = _volatility(own.volatility, phi, variance, variance * pull)
    before = math.sqrt(phi**2 + volatility**2)
    after = 1 / math.sqrt(1 / before**2 + 1 / variance)
    rating = own.rating + SCALE * after**2 * pull
    return GlickoRating(
        comparable(min(max(rating, LOWEST), HIGHEST), ELO_DIGITS),
        comparable(min(max(after * SCALE, LEAST_DEVIATION), DEVIATION), ELO_DIGITS),
        comparable(volatility, VOLATILITY_DIGITS),
    )


def _volatility(sigma: float, phi: float, variance: float, delta: float) -> float:
    """Return the new volatility: step 5 of the paper, by the Illinois algorithm."""
    start = math.log(sigma**2)

    def slope(x: float) -> float:
        total = phi**2 + variance + math.exp(x)
        return math.exp(x) * (delta**2 - total) / (2 * total**2) - (x - start) / TAU**2

    low, spread = start, delta**2 - phi**2 - variance
    if spread > 0:
        high = math.log(spread)
    else:
        steps = 1
        while slope(start - steps * TAU) < 0:
            steps += 1
        high = start - steps * TAU
    at_low, at_high = slope(low), slope(high)
    while abs(high - low) > CONVERGED:
        middle = low + (low - high) * at_low / (at_high - at_low)
        at_middle = slope(middle)
        if at_middle * at_high <= 0:
            low, at_low = high, at_high
        else:
            at_low /= 2
        high, at_high = middle, at_middle
    return math.exp(low / 2)
