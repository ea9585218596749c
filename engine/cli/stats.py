"""What the boards of a match say: results by comparison, and an interval whose unit is the board.

The sittings of one board share their cards, so they are one observation; research on duplicate play calls it the cluster.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

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


@dataclass(frozen=True)
class Standing:
    """One party over all complete boards. With more than two parties, won/drawn/lost count its comparisons with each other party.

    `difference` is its board score less the mean of the others', in the game's unit; `margin` the half width of the 95% interval of its
    mean, None for fewer than two boards.
    """

    won: int
    drawn: int
    lost: int
    share: float  # of the comparisons, a draw counts half
    mean: float  # score per board
    difference: float
    margin: float | None

    @property
    def clear(self) -> bool:
        """Whether the interval excludes zero."""
        return self.margin is not None and abs(self.difference) > self.margin


def standing(boards: Sequence[Sequence[int]], party: int, size: int = 1) -> Standing:
    """The standing of one party from the board scores per party, `size` of which make one unit. ValueError for no board."""
    if not boards:
        raise ValueError("no complete board")
    won = drawn = lost = 0
    differences = []
    for scores in boards:
        mine = scores[party]
        others = [score for other, score in enumerate(scores) if other != party]
        won += sum(mine > score for score in others)
        drawn += sum(mine == score for score in others)
        lost += sum(mine < score for score in others)
        differences.append(mine - fmean(others))
    margin = t95(len(boards) - 1) * stdev(differences) / math.sqrt(len(boards)) if len(boards) > 1 else None
    return Standing(
        won=won,
        drawn=drawn,
        lost=lost,
        share=(won + drawn / 2) / (won + drawn + lost),
        mean=fmean(scores[party] for scores in boards) / size,
        difference=fmean(differences) / size,
        margin=None if margin is None else margin / size,
    )
