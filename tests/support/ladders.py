"""Simulate a standing ladder of bots of known strengths, with newcomers, but without cards or a database; and the same with random pairing.

The ladder has its own clock: a table is played every `every_s` seconds. Ratings are refitted from time to time, as in the league.
"""

from __future__ import annotations

import random
from collections import Counter, deque
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from league.pure.pairing.standing import RECENT, Ladder, LadderBot, rest_s
from league.pure.pairing.telling import NEW
from league.pure.rating.bradley_terry import Floats, fit
from league.pure.rating.tallies import tally_arrays

EACH = 8  # Boards of a table.


@dataclass
class LadderRun:
    """A finished simulation: boards of each bot, meetings of each pair; the share of pairs in true order after a total number of boards."""

    arrived: list[float]
    boards: list[int]
    met: Any
    order: list[tuple[int, float]] = field(default_factory=list)
    # Distance of the two at each table in the true order, as a share of the field
    far: list[float] = field(default_factory=list)
    tied: list[bool] = field(default_factory=list)

    def boards_for(self, share: float) -> int | None:
        """Return the total number of boards after which this share of the pairs stays in order; None if it never does."""
        late = [place for place, (_, good) in enumerate(self.order) if good < share]
        first = late[-1] + 1 if late else 0
        return self.order[first][0] if first < len(self.order) else None

    def connectivity(self, bots: list[int] | None = None) -> float:
        """Return the second eigenvalue of the normalised Laplacian of the meetings (Chung 1997): 0 if disconnected, about 1 if all bots meet."""
        met = self.met if bots is None else self.met[np.ix_(bots, bots)]
        degree = met.sum(axis=1)
        if not degree.all():
            return 0.0
        laplacian = np.eye(len(met)) - met / np.sqrt(np.outer(degree, degree))
        return float(np.linalg.eigvalsh(laplacian)[1])


def play(
    theta: Floats,
    arrived: list[float],
    *,
    tables: int,
    every_s: float,
    look: int,
    seed: int,
    informed: bool = True,
) -> LadderRun:
    """Play `tables` tables of two bots. look: tables between two fits. informed: False pairs any two bots that are present, evenly."""
    rng, luck = random.Random(seed), np.random.default_rng(seed)
    count = len(theta)
    wins = np.zeros((count, count), dtype=np.int64)
    course = LadderRun(arrived, [0] * count, wins)
    due = list(arrived)
    recent: list[deque[int]] = [deque(maxlen=RECENT) for _ in range(count)]
    fitted: dict[int, tuple[float, float]] = {}
    tied = [place == 0 for place in range(count)]
    here: list[int] = []
    ladder: Ladder | None = None
    now = 0.0
    place = np.argsort(np.argsort(theta))
    for number in range(tables):
        now += every_s
        if number % look == 0 and number:
            fitted = _fitted(wins)
            course.order.append((number * EACH, _in_order(fitted, theta)))
            ladder = None
        if ladder is None or len(here) < sum(at <= now for at in arrived):
            here = [bot for bot in range(count) if arrived[bot] <= now]
            ladder = Ladder(
                [LadderBot(frozenset({bot}), *fitted.get(bot, (None, None)), tied=tied[bot]) for bot in here]
            )
        ladder.rivals.tables[:] = 0
        if informed:
            first = min(here, key=lambda bot: (due[bot] > now, course.boards[bot] >= NEW, due[bot]))
            met = Counter(here.index(bot) for bot in recent[first])
            ladder.tied[here.index(first)] = tied[first]
            a, b = (here[index] for index in ladder.draw(rng, here.index(first), 2, met))
        else:
            a, b = rng.sample(here, 2)
        won = int(luck.binomial(EACH, 1 / (1 + np.exp(theta[b] - theta[a]))))
        wins[a, b] += won
        wins[b, a] += EACH - won
        if tied[a] or tied[b]:
            for party in (a, b):
                tied[party] = True
                ladder.tied[here.index(party)] = True
        course.far.append(abs(int(place[a]) - int(place[b])) / count)
        for party, other in ((a, b), (b, a)):
            recent[party].append(other)
            course.boards[party] += EACH
            rest = rest_s(course.boards[party])
            due[party] = max(due[party], now - 3600) + rest if rest else now
    course.met = wins + wins.T
    course.tied = tied
    fitted = _fitted(wins)
    course.order.append((tables * EACH, _in_order(fitted, theta)))
    return course


def _fitted(wins: Any) -> dict[int, tuple[float, float]]:
    a, b = np.nonzero(wins)
    times = wins[a, b]
    seats = np.repeat(np.stack([a, b], 1), times, axis=0)
    fitted = fit(tally_arrays(seats, np.tile(np.array([1, 0]), (len(seats), 1))))
    sd = np.sqrt(np.diag(fitted.robust))
    return {
        bot: (float(theta), float(deviation))
        for bot, theta, deviation in zip(fitted.bots, fitted.theta, sd, strict=True)
    }


def _in_order(fitted: dict[int, tuple[float, float]], theta: Floats) -> float:
    """Return the share of all pairs that the fit puts into their true order, bots that have not played included."""
    estimates = np.array([fitted[bot][0] if bot in fitted else 0.0 for bot in range(len(theta))])
    a, b = np.triu_indices(len(theta), 1)
    return float((np.sign(estimates[a] - estimates[b]) == np.sign(theta[a] - theta[b])).mean())
