"""Confidence intervals of means and shares."""

from __future__ import annotations

from math import sqrt

# Two-sided 95% points of Student's t for 1 to 9 degrees of freedom (any statistics table). From 10 on the expansion below is exact to 0.001.
_T95 = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262)
Z95 = 1.959964  # 95% of a normal distribution lies within this many standard deviations of its mean.


def t95(degrees: int) -> float:
    """Return the two-sided 95% point of Student's t, from 10 degrees on by Cornish-Fisher expansion (Abramowitz & Stegun 26.7.5)."""
    if degrees <= len(_T95):
        return _T95[degrees - 1]
    z, n = Z95, degrees
    first = (z**3 + z) / 4
    second = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    return z + first / n + second / n**2 + third / n**3


def wilson(share: float, boards: int) -> tuple[float, float]:
    """Return the 95% interval of a share (0 to 1) of board points over `boards` >= 1 boards: Wilson's score interval (JASA 1927).

    A draw counts as half a win. It varies less than a win or a loss, so draws make the interval wider than necessary, never narrower.
    """
    z2 = Z95 * Z95
    middle = (share + z2 / (2 * boards)) / (1 + z2 / boards)
    half = Z95 / (1 + z2 / boards) * sqrt(share * (1 - share) / boards + z2 / (4 * boards * boards))
    return max(0.0, middle - half), min(1.0, middle + half)
