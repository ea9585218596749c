"""Pools as schedules make them, with known strengths: are the intervals of the table right 95% of the time, and is the field as long as it is?

`slope`: of the fitted strengths on the true ones; below 1 the table pulls bots together. Here are a few leagues of each kind, and coverage may
be a hundredth beside its bounds, the slope two; `make soak` plays ten times as many and demands the bounds. Seeded: a failure is a change.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from league.pure.formats import Pairing
from league.pure.rating.bradley_terry import Floats, fit
from league.pure.rating.tallies import Ints, Tallies, tally_arrays
from tests.support.formats import field, look
from tests.support.parts import mostly_slow

SPREAD = 0.8  # standard deviation of the strengths, logits
MANY = 150  # times the boards: what a table would say at last, where the model is only an image of the game
Pool = tuple[Floats, Tallies]  # true strengths; boards


def duels(rng: Any, theta: Floats, a: Ints, b: Ints) -> Pool:
    win = rng.random(len(a)) < 1 / (1 + np.exp(theta[b] - theta[a]))
    return theta, tally_arrays(np.stack([a, b], 1), np.stack([win, ~win], 1).astype(np.int64))


def round_robin(rng: Any) -> Pool:
    """20 bots, 20 boards a pair."""
    i, j = np.triu_indices(20, 1)
    return duels(rng, rng.normal(0, SPREAD, 20), np.repeat(i, 20), np.repeat(j, 20))


def swiss(rng: Any) -> Pool:
    """16 bots, as the format pairs them."""
    theta = rng.normal(0, SPREAD, 16)
    played = field("swiss", 16, boards=16, lot=str(rng.integers(2**30)))
    results: dict[Any, Any] = {}
    while not (outcome := look("swiss", played, results))[0].over:
        for table in outcome[1].pairings:
            if table.slot not in results:
                a, b = table.entries
                win = rng.random(table.boards) < 1 / (1 + np.exp(theta[b] - theta[a]))
                results[table.slot] = np.stack([win, ~win], 1).astype(int).tolist()
    seated = np.repeat([table.entries for table in outcome[1].pairings], 16, axis=0)
    return theta, tally_arrays(
        seated, np.array([board for table in outcome[1].pairings for board in results[table.slot]])
    )


def ladder(rng: Any, far: float = 0.08, newcomers: float = 0.05, reach: float = 12) -> Pool:
    """200 bots meet those 12 places away; a few meet anybody; newcomers have ten boards for the 200 of the others."""
    count = 200
    theta = np.sort(rng.normal(0, SPREAD, count))
    weight = np.where(rng.random(count) < newcomers, 0.05, 1.0)
    a = rng.choice(count, 100 * count, p=weight / weight.sum())
    b = np.clip(a + np.rint(rng.normal(0, reach, len(a))).astype(int), 0, count - 1)
    wide = rng.random(len(a)) < far
    b[wide] = rng.integers(0, count, wide.sum())
    play = (a != b) & (rng.random(len(a)) < weight[b])
    return duels(rng, theta, a[play], b[play])


def clusters(rng: Any) -> Pool:
    """Two groups of 30, tied by five pairs."""
    theta = rng.normal(0, SPREAD, 60) + np.repeat([0.0, 0.5], 30)
    a = rng.integers(0, 60, 6000)
    b = np.where(a < 30, rng.integers(0, 30, len(a)), rng.integers(30, 60, len(a)))
    ties = np.repeat(rng.integers(0, 30, 5), 8), np.repeat(rng.integers(30, 60, 5), 8)
    return duels(rng, theta, np.append(a[a != b], ties[0]), np.append(b[a != b], ties[1]))


def gauntlet(rng: Any) -> Pool:
    """One against 20, 60 boards each."""
    b = np.repeat(np.arange(1, 21), 60)
    return duels(rng, rng.normal(0, SPREAD, 21), np.zeros_like(b), b)


def tables(rng: Any, seats: int, boards: int, scores: Callable[[Any, Floats, Ints], Ints]) -> Pool:
    """Twelve bots at tables drawn by lot; the truth is what so much more of the same would give."""
    theta = rng.normal(0, 0.6, 12)
    seated = np.argsort(rng.random((boards, 12)), axis=1)[:, :seats]
    often = np.tile(seated, (MANY, 1))
    truth = fit(tally_arrays(often, scores(rng, theta, often)), even_boards=0).theta
    return truth, tally_arrays(seated, scores(rng, theta, seated))


def payoffs(rng: Any, theta: Floats, seated: Ints) -> Ints:
    """Everybody is the soloist once, against the mean of the two others: he takes from or pays to both one to three stakes."""
    scores = np.zeros(seated.shape, dtype=np.int64)
    for alone in range(3):
        rivals = [seat for seat in range(3) if seat != alone]
        chance = 1 / (1 + np.exp(theta[seated[:, rivals]].mean(axis=1) - theta[seated[:, alone]]))
        won = np.where(rng.random(len(seated)) < chance, 1, -1) * rng.integers(1, 4, len(seated))
        scores += np.where(np.arange(3) == alone, 2, -1) * won[:, None]
    return scores


def marks(rng: Any, theta: Floats, seated: Ints) -> Ints:
    """Each of four sittings names a loser only."""
    scores = np.zeros(seated.shape, dtype=np.int64)
    for _ in range(4):
        loser = (rng.gumbel(size=seated.shape) - theta[seated]).argmax(axis=1)
        scores[np.arange(len(seated)), loser] -= 1
    return scores


POOLS: dict[str, tuple[Callable[[Any], Pool], int]] = {  # and how many leagues of the kind are played here
    "round robin": (round_robin, 20),
    "swiss": (swiss, 12),
    "ladder with newcomers": (ladder, 6),
    "two clusters": (clusters, 30),
    "gauntlet": (gauntlet, 60),
    "soloists": (lambda rng: tables(rng, 3, 500, payoffs), 8),
    "losers' games": (lambda rng: tables(rng, 4, 400, marks), 16),
}


def measured(pool: Callable[[Any], Pool], leagues: int, **how: float) -> tuple[float, float]:
    """Return the share of rows whose 95% interval holds the truth, and the slope; means over `leagues` leagues."""
    shares, slopes = [], []
    for seed in range(leagues):
        truth, boards = pool(np.random.default_rng([seed, 7]))
        estimate = fit(boards, **how)
        true = truth[list(estimate.bots)] - truth[list(estimate.bots)].mean()
        theirs = estimate.theta - estimate.theta.mean()
        margin = 1.96 * estimate.sd_from_mean(np.ones(len(true)))
        shares.append(np.mean(np.abs(theirs - true) < margin))
        slopes.append((theirs @ true) / (true @ true))
    return float(np.mean(shares)), float(np.mean(slopes))


@pytest.mark.parametrize("kind", mostly_slow(POOLS, ("two clusters", "gauntlet").__contains__))
def test_table_of_a_pool_is_as_long_as_its_field_and_as_sure_as_it_says(kind: str) -> None:
    share, slope = measured(*POOLS[kind])

    assert 0.92 <= share <= 0.98
    assert 0.93 <= slope <= 1.07


@pytest.mark.soak
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("kind", POOLS)
def test_tables_of_many_pools(kind: str) -> None:
    pool, leagues = POOLS[kind]

    share, slope = measured(pool, 10 * leagues)

    print(f"{kind}: {share:.1%} of the intervals hold, slope {slope:.3f}")
    assert 0.93 <= share <= 0.97
    assert 0.95 <= slope <= 1.05


def test_the_measure_sees_a_prior_around_one_middle() -> None:
    """The first revision of the ratings had one: neighbours alone say little about the length of the field, so it shrinks."""
    share, slope = measured(lambda rng: ladder(rng, far=0.0, newcomers=0.0, reach=3), 2, prior_sd=2.0)

    assert share < 0.7
    assert slope < 0.5


def settled_ladder(count: int, boards: int, steps: tuple[int, ...]) -> tuple[list[Pairing], dict[Any, Any]]:
    """Return a ladder on which everybody has met those `steps` places away."""
    theta = np.linspace(-3, 3, count)
    near = [(a, a + step) for a in range(count) for step in steps if a + step < count]
    rng = np.random.default_rng(3)
    past = [Pairing(n, f"{a}-{b}", (a, b), 1, boards) for n, (a, b) in enumerate(near, 1)]
    results = {
        table.slot: [
            (int(win), int(not win))
            for win in rng.random(boards) < 1 / (1 + np.exp(theta[table.entries[1]] - theta[table.entries[0]]))
        ]
        for table in past
    }
    return past, results


@pytest.mark.parametrize(
    ("count", "boards", "steps"),
    mostly_slow([(40, 40, (1, 2, 3)), (600, 12, (1, 10, 50, 150))], lambda case: case[0] == 40),
    ids=["small", "large"],
)
def test_ladder_keeps_far_pairs(count: int, boards: int, steps: tuple[int, ...]) -> None:
    """A settled ladder has 5 to 10% of tables with pairs at least a quarter of the field apart."""
    looks = 3
    past, results = settled_ladder(count, boards, steps)
    drawn = [
        table.entries
        for lot in range(looks)
        for table in look("ladder", field("ladder", count, open=200, lot=str(lot)), results, past)[1].pairings[
            len(past) :
        ]
    ]

    assert len(drawn) == 200 * looks
    far = np.mean([abs(a - b) >= count / 4 for a, b in drawn])
    assert 0.05 <= far <= 0.10
