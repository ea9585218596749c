"""Seeded simulations with known strengths: are the 95% intervals of differences right 95% of the time?"""

import numpy as np
import pytest

from league.pure.rating.bradley_terry import fit
from league.pure.rating.tallies import tally
from tests.support.parts import mostly_slow

BOTS = 8
REPEATS = 60


def covered(play, boards, seed, sides=None):
    """Share of the pairs, over many leagues, whose true difference lies within the interval."""
    rng = np.random.default_rng(seed)
    theta = np.random.default_rng(2).normal(0, 0.6, BOTS)
    upper = np.triu_indices(BOTS, 1)
    truth = (theta[:, None] - theta[None, :])[upper]
    hits = []
    for _ in range(REPEATS):
        estimate = fit(tally([play(rng, theta) for _ in range(boards)], sides))
        apart = (estimate.theta[:, None] - estimate.theta[None, :])[upper]
        hits.append(np.abs(apart - truth) < 1.96 * estimate.sd_of_differences()[upper])
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


def mixed(rng, theta):
    """Partners change from board to board; a side is as strong as the mean of its members."""
    a, b, c, d = map(int, rng.choice(BOTS, 4, replace=False))
    win = rng.random() < 1 / (1 + np.exp((theta[b] + theta[d] - theta[a] - theta[c]) / 2))
    return (a, b, c, d), (int(win), int(not win), int(win), int(not win))


def soloist(rng, theta):
    """Three seats, payoffs summed over three sittings with another soloist in each: what one wins two others pay, in thirds of a stake.

    What is rated is the order of the sums. All are equally strong here, so that the truth is known whatever the model: zero.
    """
    table = rng.choice(BOTS, 3, replace=False)
    payoffs = np.zeros(3, dtype=int)
    for alone in range(3):
        won = 1 if rng.random() < 0.5 else -1
        payoffs += np.where(np.arange(3) == alone, 2, -1) * won * rng.integers(1, 4)
    return tuple(map(int, table)), tuple(map(int, payoffs))


@pytest.mark.slow
def test_intervals_of_mixed_pairs_cover_what_they_claim():
    assert 0.93 <= covered(mixed, 500, seed=9, sides=((0, 2), (1, 3))) <= 0.97


@pytest.mark.slow
def test_intervals_of_soloist_games_cover_equality():
    rng = np.random.default_rng(5)
    upper = np.triu_indices(BOTS, 1)
    hits = []
    for _ in range(REPEATS):
        estimate = fit(tally([soloist(rng, None) for _ in range(250)]))
        apart = (estimate.theta[:, None] - estimate.theta[None, :])[upper]
        hits.append(np.abs(apart) < 1.96 * estimate.sd_of_differences()[upper])
    assert 0.93 <= float(np.mean(hits)) <= 0.97


@pytest.mark.parametrize(
    ("play", "boards", "low", "high"),
    mostly_slow(
        [
            (duel, 400, 0.93, 0.97),
            (duel, 60, 0.93, 0.98),  # few boards: the prior pulls, the floor widens
            (drawish, 300, 0.93, 0.97),
            (seats(3), 250, 0.93, 0.97),
            (seats(4), 200, 0.93, 0.97),
            (seats(5), 150, 0.93, 0.97),
            (seats(6), 120, 0.93, 0.97),
        ],
        lambda case: case[0] is duel and case[1] == 60,
    ),
    ids=["duels", "few duels", "drawish duels", "three seats", "four seats", "five seats", "six seats"],
)
def test_intervals_cover_what_they_claim(play, boards, low, high):
    assert low <= covered(play, boards, seed=9) <= high
