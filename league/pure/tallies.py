"""Exact integer sufficient statistics of finished boards: everything that ratings and standings are computed from.

A board is given as two sequences of equal length: the ids of the parties at the table and their scores on it, summed over all
sittings, in the game's own unit (higher is better). Two parties are two sides, three to six are individual seats.
Only integers are kept, so the order in which boards arrive cannot change a bit of any result.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import TypeAlias

Board: TypeAlias = tuple[Sequence[int], Sequence[int]]  # ids of the parties, their scores


@dataclass(slots=True)
class PairTally:
    """Boards between an unordered pair (a, b), a < b, seen from a. A win counts 2 half points, a draw 1."""

    boards: int = 0
    half_points: int = 0
    squares: int = 0  # sum of the squared half points
    wins: int = 0
    draws: int = 0

    @property
    def losses(self) -> int:
        """Boards that b won."""
        return self.boards - self.wins - self.draws

    def add(self, half_points: int) -> None:
        """Count one board on which a got 0, 1 or 2 half points."""
        self.boards += 1
        self.half_points += half_points
        self.squares += half_points * half_points
        self.wins += half_points == 2
        self.draws += half_points == 1


@dataclass(slots=True)
class BotTally:
    """One party over all its boards."""

    boards: int = 0
    points: int = 0  # of the game's score unit
    half_points: int = 0  # against every opponent at its tables
    meetings: int = 0  # pairs (board, opponent)


@dataclass(slots=True)
class Tallies:
    """Sufficient statistics of a set of boards.

    `pairs` holds all meetings, of tables of any size. `duels` holds those of two-sided boards alone, and `tables` how often
    each ranking of each table of three or more was seen: {(ids ascending, rank of each, 0 = best): boards}.
    """

    bots: dict[int, BotTally] = field(default_factory=dict)
    pairs: dict[tuple[int, int], PairTally] = field(default_factory=dict)
    duels: dict[tuple[int, int], PairTally] = field(default_factory=dict)
    tables: Counter[tuple[tuple[int, ...], tuple[int, ...]]] = field(default_factory=Counter)

    def add(self, parties: Sequence[int], scores: Sequence[int]) -> None:
        """Count one board. ValueError for fewer than two parties, a party twice at the table, or lengths that differ."""
        if len(parties) != len(scores):
            raise ValueError(f"{len(parties)} parties {list(parties)} have {len(scores)} scores {list(scores)}")
        if len(parties) < 2 or len(set(parties)) < len(parties):
            raise ValueError(f"a board needs two or more different parties, not {list(parties)}")
        seated = sorted(zip(parties, scores, strict=True))
        for bot, score in seated:
            tally = self.bots.setdefault(bot, BotTally())
            tally.boards += 1
            tally.points += score
        for (a, score_a), (b, score_b) in combinations(seated, 2):
            got = 1 + (score_a > score_b) - (score_a < score_b)
            self.pairs.setdefault((a, b), PairTally()).add(got)
            if len(seated) == 2:
                self.duels.setdefault((a, b), PairTally()).add(got)
            for bot, half_points in ((a, got), (b, 2 - got)):
                self.bots[bot].half_points += half_points
                self.bots[bot].meetings += 1
        if len(seated) > 2:
            better = sorted({score for _, score in seated}, reverse=True)
            ranks = tuple(better.index(score) for _, score in seated)
            self.tables[tuple(bot for bot, _ in seated), ranks] += 1

    def opponents(self) -> dict[int, set[int]]:
        """Whom each bot has met."""
        met: dict[int, set[int]] = {bot: set() for bot in self.bots}
        for a, b in self.pairs:
            met[a].add(b)
            met[b].add(a)
        return met


def tally(boards: Iterable[Board]) -> Tallies:
    """The statistics of `boards`. Raises as `Tallies.add` does."""
    found = Tallies()
    for parties, scores in boards:
        found.add(parties, scores)
    return found
