"""Tie-breaks of Swiss events by their standard definitions, from the results against each opponent.

Source: FIDE Handbook C.07 (in force 1 August 2024): 8 Buchholz, 9 Sonneborn-Berger, 7.2 wins, 7.5 progressive score, 10 Koya, 14 cuts, 16 unplayed
rounds. The only unplayed rounds here are byes from the pairing: they count as a win against a dummy opponent with the same final score as the
entry that had the bye.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class CardLine:
    """The result of one entry against another in one round. `opponent` None: a bye."""

    round: int
    opponent: int | None
    points: Fraction  # 1 for a win, 1/2 for a draw, 0 for a loss.


Record: TypeAlias = Mapping[int, Sequence[CardLine]]  # The lines of each entry.


def points(record: Record) -> dict[int, Fraction]:
    """Return the final scores."""
    return {entry: sum((m.points for m in meetings), Fraction(0)) for entry, meetings in record.items()}


def buchholz(record: Record, *, cut: int = 0, median: int = 0) -> dict[int, Fraction]:
    """Sum the opponents' final scores, without the `cut` lowest, or without the `median` lowest and highest."""
    scores = points(record)
    sums = {}
    for entry, meetings in record.items():
        line = sorted(_score(scores, entry, m) for m in meetings)
        counted = line[cut or median : len(line) - median]
        sums[entry] = sum(counted, Fraction(0))
    return sums


def sonneborn_berger(record: Record) -> dict[int, Fraction]:
    """Sum over the rounds the opponent's final score times the points scored against it."""
    scores = points(record)
    return {
        entry: sum((_score(scores, entry, m) * m.points for m in meetings), Fraction(0))
        for entry, meetings in record.items()
    }


def progressive(record: Record) -> dict[int, Fraction]:
    """Sum the scores after each round. Only shown, never used for an order, because it rewards winning early."""
    sums = {}
    for entry, meetings in record.items():
        last = max((m.round for row in record.values() for m in row), default=0)
        sums[entry] = sum((m.points * (last + 1 - m.round) for m in meetings), Fraction(0))
    return sums


def wins(record: Record) -> dict[int, int]:
    """Count the wins, byes included."""
    return {entry: sum(m.points == 1 for m in meetings) for entry, meetings in record.items()}


def _score(scores: Mapping[int, Fraction], entry: int, meeting: CardLine) -> Fraction:
    return scores[entry if meeting.opponent is None else meeting.opponent]
