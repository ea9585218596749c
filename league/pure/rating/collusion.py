"""Results of two owners against each other that their ratings do not explain.

The rating of a bot predicts its result against anybody. Who loses on purpose to one owner alone scores less there than predicted. `surprise` says by
how many standard deviations; it allows for the uncertainty of the ratings, and for what honest styles do to each other.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import sqrt

from engine.portable import add_up
from league.pure.portable import comparable
from league.pure.rating.leaderboard import ELO, expected_score

LEAST_BOARDS = 32  # Fewer boards make no case.
SURPRISE = 4.5  # Standard deviations that make a case; benchmarks/collusion.py counts the false ones.
STYLE_SD = 30.0  # Elo. How much the styles of two honest bots may shift their results against each other.


@dataclass(frozen=True)
class PairRecord:
    """The boards of two bots: how many, the board points of the first, the Elo of both, and the standard deviation of the difference."""

    boards: int
    points: float
    elo: float
    other: float
    sd: float


@dataclass(frozen=True)
class Surprise:
    """The boards of two owners, the board points of the first, what the ratings predict, and by how many deviations they miss it."""

    boards: int
    points: float
    expected: float
    deviations: float

    @property
    def makes_a_case(self) -> bool:
        """Return True if people should look at these results."""
        return self.boards >= LEAST_BOARDS and self.deviations >= SURPRISE


def surprise(encounters: Iterable[PairRecord]) -> Surprise:
    """Sum up the encounters of the bots of two owners. The errors of their ratings are added, as if they all erred in the same direction."""
    rows = sorted(encounters, key=lambda row: (row.boards, row.points, row.elo, row.other, row.sd))
    chances = [expected_score(row.elo, row.other) for row in rows]
    expected = add_up(row.boards * p for row, p in zip(rows, chances, strict=True))
    # One board more keeps a few lost boards of a bot that nearly always wins from being a surprise.
    variance = 1 + add_up(row.boards * p * (1 - p) for row, p in zip(rows, chances, strict=True))
    error = add_up(
        row.boards * p * (1 - p) * sqrt(row.sd**2 + STYLE_SD**2) / ELO for row, p in zip(rows, chances, strict=True)
    )
    points = add_up(row.points for row in rows)
    return Surprise(
        sum(row.boards for row in rows),
        comparable(points),
        comparable(expected),
        comparable((expected - points) / sqrt(variance + error**2)),
    )
