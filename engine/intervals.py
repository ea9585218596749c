"""Half widths of intervals of a mean."""

from __future__ import annotations

# two-sided 95% points of Student's t for 1 to 9 degrees of freedom (any statistics table); above, the expansion below is exact to 0.001
_T95 = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262)
_Z95 = 1.959964


def t95(degrees: int) -> float:
    """Two-sided 95% point of Student's t. Cornish-Fisher expansion (Abramowitz & Stegun 26.7.5) from 10 degrees on."""
    if degrees <= len(_T95):
        return _T95[degrees - 1]
    z, n = _Z95, degrees
    first = (z**3 + z) / 4
    second = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    return z + first / n + second / n**2 + third / n**3
