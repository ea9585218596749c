"""The lead of one party over some boards: its size, its certainty, and the number of further boards that would make it certain.

The sittings of a board share their cards, so the interval (Student's t) is computed over boards, as in `tute play`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

from engine.intervals import Z95, t95

STEP = 20  # The number of further boards is a multiple of this, the length of a series.
MOST_MORE = 400  # If more boards than this were needed, the two are too close to tell.


@dataclass(frozen=True)
class Lead:
    """The mean lead per board with the half-width of its 95% interval (None for one board), and boards won, drawn and lost.

    more: further boards until the interval would probably exclude zero; 0: it does already; None: too close to tell.
    """

    boards: int
    won: int
    drawn: int
    lost: int
    mean: float
    margin: float | None
    more: int | None


def of_boards(boards: Sequence[Sequence[int]], size: int = 1) -> Lead:
    """Return the lead of party 0, whose board score is compared with the mean of the others, in units of `size`. Raise ValueError without a board."""
    differences = [(scores[0] - fmean(scores[1:])) / size for scores in boards]
    if not differences:
        raise ValueError("no complete board")
    mean, count = fmean(differences), len(differences)
    deviation = stdev(differences) if count > 1 else None
    margin = None if deviation is None else t95(count - 1) * deviation / math.sqrt(count)
    won, lost = sum(value > 0 for value in differences), sum(value < 0 for value in differences)
    return Lead(count, won, count - won - lost, lost, mean, margin, _more(mean, deviation, margin, count))


def _more(mean: float, deviation: float | None, margin: float | None, count: int) -> int | None:
    if deviation is None or margin is None or mean == 0:
        return None
    if abs(mean) > margin:
        return 0
    needed = (Z95 * deviation / mean) ** 2 - count
    more = STEP * max(1, math.ceil(needed / STEP))
    return more if more <= MOST_MORE else None
