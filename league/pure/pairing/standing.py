"""Draws of a standing ladder, which never ends and where bots come and go: opponents, and rest times.

Time, not rating, decides which bot is next: after each table a bot rests, and the more boards it has, the longer (`rest_s`). So bots of the same
age have about equally many boards, and bots with a settled rating play few. Opponents are drawn by information (`telling`), less often if they met
lately; one table in eight is drawn at random. A bot that no matches connect to the others yet (not `tied`) sits with a tied bot that is free, so
all tied bots stay connected.
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

REST_S = 600.0  # Rest of a bot that has just been placed, from one table to the next.
MOST_REST_S = 86_400.0
TABLES = 2  # The most tables at which a bot sits at the same time, if possible.
RECENT = 16  # Number of a bot's latest tables: their players are drawn less often as its opponents.


def rest_s(boards: int) -> float:
    """Return the seconds between two tables of a bot: none until it is placed, then growing with its boards up to a day.

    So the number of its boards grows as the square root of its time on the ladder: with 8 boards per table 330 in a day, 1,800 in a month.
    """
    return min(MOST_REST_S, REST_S * boards / NEW) if boards >= NEW else 0.0


@dataclass(frozen=True)
class LadderBot:
    """A bot as the draw sees it.

    theta, sd: strength and its standard deviation, in logits; None without boards. people: its owners; bots that share one do not meet. tables:
    number of its unfinished tables. tied: True if chains of meetings connect it to the others.
    """

    people: frozenset[int]
    theta: float | None = None
    sd: float | None = None
    tables: int = 0
    tied: bool = False


class Ladder:
    """All bots that may sit at the tables of one ladder, numbered by their places in the given list. A drawn bot counts as seated."""

    def __init__(self, bots: Sequence[LadderBot]) -> None:
        self.people = [bot.people for bot in bots]
        self.tied = [bot.tied for bot in bots]
        strengths = [bot.theta for bot in bots if bot.theta is not None]
        middle = comparable(float(np.mean(strengths))) if strengths else 0.0
        theta = np.array([middle if bot.theta is None else bot.theta for bot in bots])
        self.sd = np.array([GROUP_SD if bot.sd is None else min(max(bot.sd, 1e-6), GROUP_SD) for bot in bots])
        tables = np.array([float(bot.tables) for bot in bots])
        self.rivals = Rivals(theta, self._sd, range(len(bots)), tables)

    def _sd(self, a: Any, b: Any) -> Any:
        return np.hypot(self.sd[a], self.sd[b])

    def draw(self, rng: random.Random, first: int, seats: int, met: Mapping[int, int]) -> tuple[int, ...]:
        """Draw the next table with the bot `first` in the first seat; empty if too few bots can join it.

        met: how often `first` met each bot at its RECENT tables.
        """
        table = [first]
        anybody = rng.random() < FAR
        while len(table) < seats:
            candidates = [bot for bot in range(len(self.people)) if self._may(bot, table)]
            if len(table) == 1 and not self.tied[first]:
                candidates = [
                    bot for bot in candidates if self.tied[bot] and self.rivals.tables[bot] < TABLES
                ] or candidates
            if not candidates:
                return ()
            table.append(self._next(rng, table, candidates, {} if anybody else met, anybody))
        for bot in table:
            self.rivals.tables[bot] += 1
        return tuple(table)

    def _next(
        self, rng: random.Random, table: Sequence[int], candidates: Sequence[int], met: Mapping[int, int], anybody: bool
    ) -> int:
        fits = set(candidates)
        opponent = None
        if not anybody:
            opponent = self.rivals.near(
                rng, table, lambda bot: bot in fits and rng.random() * (1 + met.get(bot, 0)) < 1
            )
        return candidates[int(rng.random() * len(candidates))] if opponent is None else opponent

    def _may(self, bot: int, table: Sequence[int]) -> bool:
        return all(bot != other and self.people[bot].isdisjoint(self.people[other]) for other in table)
