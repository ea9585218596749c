"""Our strengths against choix, an independent implementation, and against what theory and research promise. Seeded."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from league.pure.rating.bradley_terry import GROUP_SD, fit
from league.pure.rating.tallies import tally, tally_arrays
from tests.support.parts import mostly_slow

CUPS = [(4, 60, 1), (10, 400, 2), (25, 3000, 3)]


def theirs_of(bots: int, results: list[tuple[int, int]], alpha: float) -> np.ndarray:
    """Strengths by choix, which brings scipy.stats along: every process of the suite collects this file, and one of them runs it."""
    import choix

    return choix.opt_pairwise(bots, results, alpha=alpha, method="Newton-CG", tol=1e-12)


def won(bots: int, boards: int, seed: int) -> list[tuple[int, int]]:
    """Winner and loser of each board, by the model."""
    rng = np.random.default_rng(seed)
    theta = rng.normal(0, 0.8, bots)
    pairs = [rng.choice(bots, 2, replace=False) for _ in range(boards)]
    wins = [rng.random() < 1 / (1 + np.exp(theta[b] - theta[a])) for a, b in pairs]
    return [(int(a), int(b)) if win else (int(b), int(a)) for (a, b), win in zip(pairs, wins, strict=True)]


@pytest.mark.parametrize(("bots", "boards", "seed"), mostly_slow(CUPS, lambda cup: cup[0] < 25))
def test_strengths_equal_those_of_choix(bots: int, boards: int, seed: int) -> None:
    """Without even boards; with a prior, as the first revision of the ratings had it."""
    results = won(bots, boards, seed)
    theirs = theirs_of(bots, results, 1 / (2 * 2.0**2))

    ours = fit(tally([(pair, (1, 0)) for pair in results]), prior_sd=2.0).theta

    assert ours - ours.mean() == pytest.approx(theirs - theirs.mean(), abs=2e-6)


def test_even_boards_are_drawn_boards_against_those_that_one_met() -> None:
    """Five bots met in pairs, six boards each: everybody's even board gives a quarter to each pair twice, half a drawn board to a pair."""
    rng = np.random.default_rng(4)
    pairs = list(combinations(range(5), 2))
    results = [(a, b) if rng.random() < 0.6 else (b, a) for a, b in pairs for _ in range(6)]
    drawn = [
        pair for a, b in pairs for pair in ((a, b), (b, a))
    ]  # one win each: two drawn boards, so all else is there four times
    theirs = theirs_of(5, results * 4 + drawn, 0)

    ours = fit(tally([(pair, (1, 0)) for pair in results])).theta

    assert ours - ours.mean() == pytest.approx(theirs - theirs.mean(), abs=2e-6)


def test_mixed_sides_fit_as_choix_fits_their_difference() -> None:
    """Two pairs that never change are two players, whose strength is the mean of the members: each member gets the whole of it."""
    boards = [((1, 2, 3, 4), (1, 0, 1, 0))] * 30 + [((1, 2, 3, 4), (0, 1, 0, 1))] * 10

    mixed = fit(tally(boards, sides=((0, 2), (1, 3))), even_boards=1e-7)
    single = fit(tally([((1, 2), (1, 0))] * 30 + [((1, 2), (0, 1))] * 10), even_boards=1e-7)

    sides = (mixed.theta[0] + mixed.theta[2]) / 2 - (mixed.theta[1] + mixed.theta[3]) / 2
    assert sides == pytest.approx(single.theta[0] - single.theta[1], abs=1e-4)
    assert mixed.theta[0] == pytest.approx(mixed.theta[2], abs=1e-9)
    half = np.array([0.5, -0.5, 0.5, -0.5])
    assert half @ mixed.robust @ half == pytest.approx(np.array([1, -1]) @ single.robust @ np.array([1, -1]), rel=1e-4)


def test_the_mean_of_a_group_is_known_as_well_as_was_believed_before() -> None:
    """Boards compare only those of a group: of its mean, and of two groups, they say nothing."""
    apart = [(0, 1), (1, 2), (2, 0)] * 8 + [(3, 4)] * 5 + [(4, 3)] * 3
    estimate = fit(tally([(pair, (1, 0)) for pair in apart]))

    first, second = np.array([1, 1, 1, 0, 0]) / 3, np.array([0, 0, 0, 1, 1]) / 2
    assert first @ estimate.theta == pytest.approx(0, abs=1e-9)
    assert first @ estimate.naive @ first == pytest.approx(GROUP_SD**2)
    assert second @ estimate.naive @ second == pytest.approx(GROUP_SD**2)
    assert first @ estimate.naive @ second == pytest.approx(0, abs=1e-9)


def ordered(bots: int, boards_of_a_pair: int, spread: float, seed: int) -> float:
    """Share of the pairs that a round robin puts in their true order."""
    rng = np.random.default_rng(seed)
    theta = rng.normal(0, spread, bots)
    pairs = np.repeat(np.array(list(combinations(range(bots), 2))), boards_of_a_pair, axis=0)
    win = rng.random(len(pairs)) < 1 / (1 + np.exp(theta[pairs[:, 1]] - theta[pairs[:, 0]]))
    strengths = fit(tally_arrays(pairs, np.column_stack([win, ~win]).astype(np.int64))).theta
    upper = np.triu_indices(bots, 1)
    right = np.sign(strengths[:, None] - strengths[None, :]) == np.sign(theta[:, None] - theta[None, :])
    return float(right[upper].mean())


def test_95_percent_of_pairs_are_in_order_after_the_boards_that_theory_wants() -> None:
    """159 / s^2 boards a bot put 95% of normal strengths of spread s (logits) in order: 725 for 30 bots and s = 0.468."""
    shares = [ordered(30, 25, (159 / 725) ** 0.5, seed) for seed in range(40)]

    assert 0.94 <= np.mean(shares) <= 0.96


def test_a_quarter_of_the_boards_gives_90_percent() -> None:
    shares = [ordered(31, 6, (159 / 725) ** 0.5, seed) for seed in range(40)]

    assert 0.885 <= np.mean(shares) <= 0.915
