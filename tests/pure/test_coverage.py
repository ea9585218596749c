"""Seeded simulations with known strengths: are the 95% intervals of differences right 95% of the time?"""

import numpy as np
import pytest

from league.pure.bradley_terry import fit
from league.pure.tallies import tally

BOTS = 8
REPEATS = 60


def covered(play, boards, seed):
    """Share of the pairs, over many leagues, whose true difference lies within the interval."""
    rng = np.random.default_rng(seed)
    theta = np.random.default_rng(2).normal(0, 0.6, BOTS)
    upper = np.triu_indices(BOTS, 1)
    truth = (theta[:, None] - theta[None, :])[upper]
    hits = []
    for _ in range(REPEATS):
        found = fit(tally([play(rng, theta) for _ in range(boards)]))
        apart = (found.theta[:, None] - found.theta[None, :])[upper]
        hits.append(np.abs(apart - truth) < 1.96 * found.sd_of_differences()[upper])
    return float(np.mean(hits))


def duel(rng, theta):
    """One board of two sides that follows the model."""
    a, b = rng.choice(BOTS, 2, replace=False)
    win = rng.random() < 1 / (1 + np.exp(theta[b] - theta[a]))
    return (int(a), int(b)), (int(win), int(not win))


def drawish(rng, theta):
    """Half of the boards are drawn, as in a game of two sittings that each side wins once."""
    a, b = rng.choice(BOTS, 2, replace=False)
    p = 1 / (1 + np.exp(theta[b] - theta[a]))
    first, second = rng.random(2) < p
    return (int(a), int(b)), (int(first) + int(second), 2 - int(first) - int(second))


def seats(count):
    def play(rng, theta):
        """Gumbel noise makes every pair of the ranking follow the model (Plackett-Luce); pairs of a board are dependent."""
        table = rng.choice(BOTS, count, replace=False)
        ranking = np.argsort(np.argsort(theta[table] + rng.gumbel(size=count)))
        return tuple(map(int, table)), tuple(map(int, ranking))

    return play


@pytest.mark.parametrize(
    ("play", "boards", "low", "high"),
    [
        (duel, 400, 0.93, 0.97),
        (duel, 60, 0.93, 0.98),  # few boards: the prior pulls, the floor widens
        (drawish, 300, 0.93, 0.97),
        (seats(3), 250, 0.93, 0.97),
        (seats(4), 200, 0.93, 0.97),
        (seats(6), 120, 0.93, 0.97),
    ],
    ids=["duels", "few duels", "drawish duels", "three seats", "four seats", "six seats"],
)
def test_intervals_cover_what_they_claim(play, boards, low, high):
    assert low <= covered(play, boards, seed=9) <= high
