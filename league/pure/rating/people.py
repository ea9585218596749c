"""The rating of a person who plays against bots: where they stand by their own boards, all others held.

The model is that of `bradley_terry`: the strength of a side is the mean of its members'; a table of k individual seats gives the pairs of its
ranking with the weight 2 / k; one even board more against whom they met keeps an unbeaten person finite. Nobody else moves.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from engine.portable import add_up
from league.pure.portable import ELO_DIGITS, comparable
from league.pure.rating.bradley_terry import EVEN_BOARDS
from league.pure.rating.leaderboard import ELO, Z95

LOWEST, HIGHEST = -3000.0, 5000.0  # Elo between which a rating is looked for
HALVINGS = 60


@dataclass(frozen=True)
class Meeting:
    """The person's side against another one on a board. points: 1 won, 1/2 drawn, 0 lost; Elo besides.

    share: of the person in the strength of their side; partners: what the others of it add to that; rivals: strength of the other side.
    """

    points: float
    rivals: float
    share: float = 1.0
    partners: float = 0.0
    weight: float = 1.0

    def expected(self, elo: float) -> float:
        """Of the points, for a person of that rating."""
        return 1 / (1 + math.exp((self.rivals - self.partners - self.share * elo) / ELO))


@dataclass(frozen=True)
class Standing:
    """A rating with half of its 95% interval, in Elo."""

    elo: float
    margin: float


def rate(boards: Sequence[Sequence[Meeting]]) -> Standing | None:
    """The rating by these boards, each with the meetings of its sides; None without any."""
    meetings = [one for board in boards for one in board]
    if not meetings:
        return None
    even = EVEN_BOARDS / len(boards)

    def pull(elo: float) -> float:
        """The slope of the likelihood: falls with the rating, and is nought at its maximum."""
        return add_up(
            one.weight * one.share * (one.points + even / 2 - (1 + even) * one.expected(elo)) for one in meetings
        )

    low, high = LOWEST, HIGHEST
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if pull(middle) > 0 else (low, middle)
    elo = (low + high) / 2
    known = add_up(
        one.weight * one.share**2 * (1 + even) * one.expected(elo) * (1 - one.expected(elo)) for one in meetings
    )
    margin = Z95 * ELO / math.sqrt(max(known, 1e-9))
    return Standing(comparable(elo, ELO_DIGITS), comparable(margin, ELO_DIGITS))
