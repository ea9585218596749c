"""Results and decisions of two owners against each other that their ratings and their other matches do not explain.

The rating of a bot predicts its result against anybody. Who loses on purpose to one owner alone scores less there than predicted (`surprise`), and
gives away more points in a decision of a lost board there than elsewhere (`throwing`). Both say by how many standard deviations, and allow for what
honest styles do to each other. Who throws some boards falls a little short of both, so a case may be made of the two together.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import sqrt

from engine.portable import add_up
from league.pure.portable import comparable
from league.pure.rating.leaderboard import ELO, expected_score

LEAST_BOARDS = 32  # Fewer boards make no case.
SURPRISE = 4.5  # Standard deviations that make a case; benchmarks/collusion.py counts the false ones.
WATCHED = 1.0  # Standard deviations from which on the decisions of a pair are analysed.
LEAST_JUDGED = 32  # Fewer analysed boards that were lost, to the pair's winner or to others, make no case.
THROWING = 3.9  # Standard deviations of the losses by decision, and half of those of the results, that make a case.
STYLE_LOSS = (
    0.1  # How much the loss by decision of an honest bot may depend on its opponent: a share of its usual loss.
)
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

    @property
    def is_watched(self) -> bool:
        """Return True if the decisions of these boards should be analysed."""
        return self.boards >= LEAST_BOARDS and self.deviations >= WATCHED


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


@dataclass(frozen=True)
class Throwing:
    """The points that a decision gave away against one owner and against others, its difference in standard deviations, and the fewer boards."""

    boards: int
    against: float
    others: float
    deviations: float

    def makes_a_case(self, shortfall: float) -> bool:
        """Return True if people should look at these decisions. shortfall: the deviations of the results (`Surprise`)."""
        return self.boards >= LEAST_JUDGED and self.deviations + shortfall / 2 >= THROWING


Boards = Sequence[
    tuple[float, int]
]  # The points given away and the number of judged decisions on each lost board: a thrown board is lost.


def throwing(strata: Iterable[tuple[Boards, Boards]]) -> Throwing | None:
    """Compare the losses of each version against one owner with its losses against others; None if no version has two boards of both kinds."""
    rows = [(sorted(here), sorted(elsewhere)) for here, elsewhere in strata if len(here) > 1 and len(elsewhere) > 1]
    rows.sort()
    weights = [sum(judged for _, judged in here) for here, _ in rows]
    total = sum(weights)
    if not total or not all(sum(judged for _, judged in elsewhere) for _, elsewhere in rows):
        return None
    against = others = variance = 0.0
    for weight, (here, elsewhere) in zip(weights, rows, strict=True):
        share = weight / total
        (mean, squares), (usual, others_squares) = _mean(here), _mean(elsewhere)
        against, others = against + share * mean, others + share * usual
        variance += share**2 * (squares + others_squares)
    variance += (STYLE_LOSS * others) ** 2
    boards = min(sum(len(here) for here, _ in rows), sum(len(elsewhere) for _, elsewhere in rows))
    deviations = (against - others) / sqrt(variance) if variance else 0.0
    return Throwing(boards, comparable(against), comparable(others), comparable(deviations))


def _mean(boards: Boards) -> tuple[float, float]:
    """Return the mean loss of a decision and its variance, clustered by board."""
    count, judged = len(boards), sum(number for _, number in boards)
    if not judged:
        return 0.0, 0.0
    mean = add_up(lost for lost, _ in boards) / judged
    squares = add_up((lost - mean * number) ** 2 for lost, number in boards)
    return mean, squares * count / (count - 1) / judged**2
