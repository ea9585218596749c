"""What the boards of a match say: results by comparison, and an interval whose unit is the board.

The sittings of one board share their cards, so they are one observation; research on duplicate play calls it the cluster.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

from engine.intervals import t95 as t95


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
