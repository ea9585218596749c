"""Intervals of shares."""

from __future__ import annotations

from math import sqrt

Z95 = 1.959964  # standard deviations on either side that hold 95% of a normal distribution


def wilson(share: float, boards: int) -> tuple[float, float]:
    """95% interval of a share (0 to 1) of board points over `boards` >= 1 boards: the score interval of Wilson (JASA 1927).

    A draw counts as half a win; since it varies less than a win or a loss would, draws make the interval wider, never narrower.
    """
    z2 = Z95 * Z95
    middle = (share + z2 / (2 * boards)) / (1 + z2 / boards)
    half = Z95 / (1 + z2 / boards) * sqrt(share * (1 - share) / boards + z2 / (4 * boards * boards))
    return max(0.0, middle - half), min(1.0, middle + half)
