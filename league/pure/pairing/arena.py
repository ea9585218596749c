"""The draw of an arena for people: who waits is grouped by points, and nobody can choose whom they meet.

The scheduler draws at its own moments, among all who wait then. Two people do not meet within LATELY games of either, and at most MOST_MEETINGS
times in an arena: so a friend who loses on purpose gives away little.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

LATELY = 2
MOST_MEETINGS = 3
FEWEST = 3  # A bot is drawn among at least this number, so that nobody knows which one comes.
WIN, TIE = 2, 1


@dataclass(frozen=True, slots=True)
class Waiting:
    """Somebody who waits. met: the opponents of each game, the latest last."""

    entry: int
    points: int
    met: tuple[frozenset[int], ...] = ()

    def may_meet(self, other: Waiting) -> bool:
        """Return True if these two may sit at one table."""
        lately = any(other.entry in game for game in self.met[-LATELY:]) or any(
            self.entry in game for game in other.met[-LATELY:]
        )
        return not lately and sum(other.entry in game for game in self.met) < MOST_MEETINGS


@dataclass(frozen=True, slots=True)
class Filler:
    """A bot that may fill in: its points, games, and the people who count as its owners."""

    entry: int
    points: int
    games: int
    owners: frozenset[int] = frozenset()

    @property
    def mean(self) -> float:
        """Return the points of a game, one before the first."""
        return self.points / self.games if self.games else float(TIE)


def draw(waiting: Sequence[Waiting], sides: int, rng: random.Random) -> list[list[Waiting]]:
    """Group who waits into tables of `sides`, from the most points down, equals by lot. A last group may be smaller: bots fill it, or it waits."""
    line = rng.sample(list(waiting), len(waiting))
    line.sort(key=lambda person: -person.points)
    groups: list[list[Waiting]] = []
    while line:
        group = [line.pop(0)]
        for other in list(line):
            if len(group) < sides and all(other.may_meet(person) for person in group):
                group.append(other)
                line.remove(other)
        groups.append(group)
    return groups


def fill(
    mean: float,
    owners: frozenset[int],
    lately: frozenset[int],
    fillers: Sequence[Filler],
    count: int,
    rng: random.Random,
) -> list[int]:
    """Draw up to `count` bots for people with `mean` points a game, from the half of the bots nearest to that.

    owners: the people, whose own bots stay away; nor do two bots of the same people come. lately: the entries met in the last games, which come only
    if there are no others.
    """
    chosen: list[int] = []
    while len(chosen) < count:
        able = [filler for filler in fillers if filler.entry not in chosen and not filler.owners & owners]
        able = [filler for filler in able if filler.entry not in lately] or able
        if not able:
            break
        able = sorted(rng.sample(able, len(able)), key=lambda filler: abs(filler.mean - mean))
        filler = rng.choice(able[: max(FEWEST, len(able) // 2)])
        chosen.append(filler.entry)
        owners |= filler.owners
    return chosen


def points(standing: Sequence[float]) -> list[int]:
    """Return the arena points of each side: WIN for more sides beaten than lost to, TIE for as many, else none."""
    ahead = [sum((own > other) - (own < other) for other in standing) for own in standing]
    return [WIN if lead > 0 else TIE if lead == 0 else 0 for lead in ahead]
