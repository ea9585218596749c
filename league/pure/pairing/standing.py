"""A standing ladder: it has no end, and bots come and go. Who is next, whom they meet, and how long they rest.

Who is next does not follow from ratings but from time: after each table a bot rests, the longer the more boards it has (`rest_s`). So bots
of one age have about as many boards, and a settled rating takes few games. Whom they meet is drawn by what it would tell (`telling`), less
often those whom they have met of late; one table in eight is drawn evenly. Who is not in the chain of meetings yet (`tied`) sits with one
who is and has time: so all who are tied hang together, whatever the lots are.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from league.pure.pairing.telling import FAR, NEW, Rivals
from league.pure.portable import comparable
from league.pure.rating.bradley_terry import GROUP_SD

REST_S = 600.0  # of one that has just been placed, from one table to the next
MOST_REST_S = 86_400.0
TABLES = 2  # at which a bot may sit at once, where it is somebody's choice
RECENT = 16  # tables of a bot, the latest, that count as of late


def rest_s(boards: int) -> float:
    """Seconds from one table of a bot with so many boards to its next: none until it is placed, then longer and longer, a day at most.

    So the boards of a bot grow as the square root of its time on the ladder: with 8 boards a table 330 in a day, 1,800 in a month.
    """
    return min(MOST_REST_S, REST_S * boards / NEW) if boards >= NEW else 0.0


@dataclass(frozen=True)
class Bot:
    """One bot as the draw sees it.

    theta, sd: strength and its standard deviation, logits; None, where it has no boards yet. owner: bots of one owner do not meet.
    tables: at how many it sits that are not over. tied: whether it is in the chain of meetings.
    """

    owner: int
    theta: float | None = None
    sd: float | None = None
    tables: int = 0
    tied: bool = False


class Ladder:
    """All who may sit at the tables of one ladder, by their places in the list that was given. Who is drawn counts as sitting from then on."""

    def __init__(self, bots: Sequence[Bot]) -> None:
        self.owner = [bot.owner for bot in bots]
        self.tied = [bot.tied for bot in bots]
        known = [bot.theta for bot in bots if bot.theta is not None]
        middle = comparable(float(np.mean(known))) if known else 0.0
        theta = np.array([middle if bot.theta is None else bot.theta for bot in bots])
        self.sd = np.array([GROUP_SD if bot.sd is None else min(max(bot.sd, 1e-6), GROUP_SD) for bot in bots])
        tables = np.array([float(bot.tables) for bot in bots])
        self.rivals = Rivals(theta, self._sd, range(len(bots)), tables)

    def _sd(self, a: Any, b: Any) -> Any:
        return np.hypot(self.sd[a], self.sd[b])

    def draw(self, rng: random.Random, first: int, seats: int, met: Mapping[int, int]) -> tuple[int, ...]:
        """Who sits at the next table of `first`, himself in front; nobody where too few are there that may sit with him.

        met: how often `first` met others at its RECENT tables.
        """
        table = [first]
        anybody = rng.random() < FAR
        while len(table) < seats:
            there = [bot for bot in range(len(self.owner)) if self._may(bot, table)]
            if len(table) == 1 and not self.tied[first]:
                there = [bot for bot in there if self.tied[bot] and self.rivals.tables[bot] < TABLES] or there
            if not there:
                return ()
            table.append(self._next(rng, table, there, {} if anybody else met, anybody))
        for bot in table:
            self.rivals.tables[bot] += 1
        return tuple(table)

    def _next(
        self, rng: random.Random, table: Sequence[int], there: Sequence[int], met: Mapping[int, int], anybody: bool
    ) -> int:
        fits = set(there)
        found = None
        if not anybody:
            found = self.rivals.near(rng, table, lambda bot: bot in fits and rng.random() * (1 + met.get(bot, 0)) < 1)
        return there[int(rng.random() * len(there))] if found is None else found

    def _may(self, bot: int, table: Sequence[int]) -> bool:
        return all(bot != other and self.owner[bot] != self.owner[other] for other in table)
