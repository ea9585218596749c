"""The rating of a person who plays against bots: fitted to their own boards, with all others fixed.

The model is that of `bradley_terry`: the strength of a side is the mean of its members' strengths; a table of k individual seats gives the pairs
of its ranking with weight 2 / k; one additional even board against their opponents keeps an unbeaten person finite. Nobody else moves.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from engine.portable import add_up
from league.pure.portable import ELO_DIGITS, comparable
from league.pure.rating.bradley_terry import EVEN_BOARDS
from league.pure.rating.leaderboard import ELO, Z95

LOWEST, HIGHEST = -3000.0, 5000.0  # Limits of a rating, in Elo.
HALVINGS = 60


@dataclass(frozen=True)
class Meeting:
    """A board of the person's side against another side. points: 1 for a win, 1/2 for a draw, 0 for a loss.

    rivals: strength of the other side, in Elo; share: weight of the person in the strength of their own side; partners: Elo that the partners
    contribute to it.
    """

    points: float
    rivals: float
    share: float = 1.0
    partners: float = 0.0
    weight: float = 1.0

    def expected(self, elo: float) -> float:
        """Return the expected points of a person with the rating `elo`."""
        return 1 / (1 + math.exp((self.rivals - self.partners - self.share * elo) / ELO))


@dataclass(frozen=True)
class PersonRating:
    """A rating with half of its 95% interval, in Elo."""

    elo: float
    margin: float


def rate(boards: Sequence[Sequence[Meeting]]) -> PersonRating | None:
    """Fit the rating to these boards, each a list of meetings; None without boards."""
    meetings = [meeting for board in boards for meeting in board]
    if not meetings:
        return None
    even = EVEN_BOARDS / len(boards)

    def pull(elo: float) -> float:
        """Return the derivative of the log-likelihood, which falls with the rating and is zero at the maximum."""
        return add_up(
            meeting.weight * meeting.share * (meeting.points + even / 2 - (1 + even) * meeting.expected(elo))
            for meeting in meetings
        )

    low, high = LOWEST, HIGHEST
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if pull(middle) > 0 else (low, middle)
    elo = (low + high) / 2
    information = add_up(
        meeting.weight * meeting.share**2 * (1 + even) * meeting.expected(elo) * (1 - meeting.expected(elo))
        for meeting in meetings
    )
    margin = Z95 * ELO / math.sqrt(max(information, 1e-9))
    return PersonRating(comparable(elo, ELO_DIGITS), comparable(margin, ELO_DIGITS))
