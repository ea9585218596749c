"""Statistics of the boards of a match: results by comparison, and an interval with the board as its unit.

The sittings of one board share their cards, so they are one observation; research on duplicate play calls it a cluster.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

from engine.intervals import t95


@dataclass(frozen=True)
class PartyStanding:
    """One party over all complete boards. With more than two parties, won/drawn/lost count its comparisons with each other party.

    difference: its board score minus the mean of the others', in the game's unit; margin: the half-width of the 95% interval of its mean; None for
    fewer than two boards.
    """

    won: int
    drawn: int
    lost: int
    share: float  # Share of comparisons won; a draw counts half.
    mean: float  # Score per board.
    difference: float
    margin: float | None

    @property
    def clear(self) -> bool:
        """True if the interval excludes zero."""
        return self.margin is not None and abs(self.difference) > self.margin


def standing(boards: Sequence[Sequence[int]], party: int, size: int = 1) -> PartyStanding:
    """Compute the standing of one party. boards: for each board the scores by party, in units of `size`. Raise ValueError without a board."""
    if not boards:
        raise ValueError("no complete board")
    won = drawn = lost = 0
    differences = []
    for scores in boards:
        own_score = scores[party]
        others = [score for other, score in enumerate(scores) if other != party]
        won += sum(own_score > score for score in others)
        drawn += sum(own_score == score for score in others)
        lost += sum(own_score < score for score in others)
        differences.append(own_score - fmean(others))
    margin = t95(len(boards) - 1) * stdev(differences) / math.sqrt(len(boards)) if len(boards) > 1 else None
    return PartyStanding(
        won=won,
        drawn=drawn,
        lost=lost,
        share=(won + drawn / 2) / (won + drawn + lost),
        mean=fmean(scores[party] for scores in boards) / size,
        difference=fmean(differences) / size,
        margin=None if margin is None else margin / size,
    )
