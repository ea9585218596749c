"""The fit of large pools against the exact one, which stays the oracle: strengths to the last digits of Elo, standard errors within 8%."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from league.pure.portable import ELO_DIGITS
from league.pure.rating import sketch
from league.pure.rating.bradley_terry import Fit, fit
from league.pure.rating.leaderboard import ELO, LARGE, Z95, field_scores, fit_leaderboard, superiority
from league.pure.rating.sketch import Sketch, fit_large
from league.pure.rating.tallies import Tallies, tally_arrays


def played(count: int, boards: int, seats: int = 2, seed: int = 1, reach: int = 60, **how: Any) -> Tallies:
    """Boards between bots of like strength, one in ten between any."""
    rng = np.random.default_rng(seed)
    theta = np.sort(rng.normal(0, 0.8, count))
    table = np.clip(rng.integers(0, count, (boards, 1)) + np.rint(rng.normal(0, reach, (boards, seats))), 0, count - 1)
    far = rng.random(boards) < 0.1
    table[far, 1] = rng.integers(0, count, far.sum())
    table = table[(np.diff(np.sort(table, axis=1), axis=1) > 0).all(axis=1)].astype(np.int64)
    scores = theta[table] + rng.gumbel(size=table.shape)
    if how:
        scores[:, 2:] = scores[:, :2] = scores[:, :2] + scores[:, 2:]
    return tally_arrays(
        10 + table,
        scores.argsort(axis=1).argsort(axis=1) if not how else np.sign(scores - scores[:, ::-1]).astype(int),
        **how,
    )


def moved(boards: Tallies) -> Tallies:
    """The same by other bots."""
    totals, sides = boards.totals.copy(), boards.sides[1].copy()
    totals[:, 0] += 500
    sides[:, :2] += 500
    return Tallies(totals, {1: sides}, {})


@pytest.fixture(scope="module")
def league() -> tuple[Tallies, Fit, Sketch]:
    boards = played(400, 30_000)
    return boards, fit(boards), fit_large(boards)


@pytest.mark.parametrize(
    "boards",
    [
        played(60, 2000),
        played(40, 600, seats=4),
        played(40, 900, seats=4, sides=((0, 2), (1, 3))),
        played(30, 800) + moved(played(20, 300)),
    ],
    ids=["duels", "four seats", "mixed pairs", "two groups that never met"],
)
def test_strengths_and_errors_are_those_of_the_exact_fit(boards: Tallies) -> None:
    exact, approximation = fit(boards), fit_large(boards)

    assert approximation.bots == exact.bots
    assert np.abs(approximation.theta - exact.theta).max() * ELO < 1e-9
    assert approximation.dispersion == pytest.approx(exact.dispersion)
    a, b = np.triu_indices(len(exact.bots), 1)
    off = np.abs(approximation.sd_of_pairs(a, b) / exact.sd_of_differences()[a, b] - 1)
    assert np.median(off) < 0.04
    assert np.quantile(off, 0.9) < 0.10


def test_standard_errors_of_a_large_pool_are_within_8_percent(league) -> None:
    _, exact, approximation = league
    everybody = np.ones(len(exact.bots))

    off = np.abs(approximation.sd_from_mean(everybody) / exact.sd_from_mean(everybody) - 1)
    assert np.quantile(off, 0.99) < 0.08
    line = np.argsort(-exact.theta)
    off = np.abs(approximation.sd_of_pairs(line[:-1], line[1:]) / exact.sd_of_differences()[line[:-1], line[1:]] - 1)
    assert np.quantile(off, 0.99) < 0.08
    los = superiority(exact) > 0.975
    above, below = approximation.sure(np.arange(len(line)), Z95)
    assert np.abs(above - los.sum(axis=0)).mean() < 0.01 * len(line)
    assert np.abs(below - los.sum(axis=1)).mean() < 0.01 * len(line)


def test_a_match_between_two_does_not_stir_the_margins_of_the_others(league) -> None:
    boards, _, approximation = league
    more = fit_large(boards + tally_arrays(np.array([[11, 380]] * 16), np.array([[1, 0]] * 16)))
    everybody = np.ones(len(approximation.bots))

    others = [place for place, bot in enumerate(approximation.bots) if bot not in (11, 380)]
    moved = np.abs(more.sd_from_mean(everybody) / approximation.sd_from_mean(everybody) - 1)[others]
    assert np.quantile(moved, 0.99) < 0.01
    assert (fit_large(boards).sd_from_mean(everybody) == approximation.sd_from_mean(everybody)).all()


def test_a_warm_start_ends_where_the_cold_one_does(league) -> None:
    boards, _, approximation = league
    start = dict(zip(approximation.bots, (approximation.theta + 0.1).tolist(), strict=True))

    assert np.abs(fit_large(boards, start=start, errors=False).theta - approximation.theta).max() * ELO < 1e-9


def test_a_search_that_starts_at_its_end_takes_one_step(league, monkeypatch: pytest.MonkeyPatch) -> None:
    """The strengths may be those of a fit of other bots, and need not be around 0."""
    boards, _, approximation = league
    start = dict(zip(approximation.bots, (approximation.theta + 0.5).tolist(), strict=True)) | {10_000: 3.0}
    monkeypatch.setattr(sketch, "MOST_STEPS", 1)

    again = fit_large(boards, start=start, errors=False)

    assert np.abs(again.theta - approximation.theta).max() * ELO < 1e-9
    with pytest.raises(ArithmeticError, match="did not settle in 1 steps"):
        fit_large(boards, errors=False)


@pytest.mark.slow
def test_a_table_of_more_bots_than_have_exact_errors() -> None:
    boards = played(LARGE + 50, 40_000)
    exact = fit(boards)

    table = fit_leaderboard(boards, anchor=500)

    assert isinstance(table.fit, Sketch)
    assert table.los.shape == (0, 0)
    elo = dict(zip(exact.bots, (1000 + ELO * (exact.theta - exact.theta[exact.bots.index(500)])).tolist(), strict=True))
    assert [row.elo for row in table.rows] == pytest.approx([elo[row.bot] for row in table.rows], abs=10**-ELO_DIGITS)
    margin = dict(zip(exact.bots, (Z95 * ELO * exact.sd_from_mean(np.ones(len(elo)))).tolist(), strict=True))
    off = [abs(row.margin / margin[row.bot] - 1) for row in table.rows]
    assert np.quantile(off, 0.99) < 0.08
    for place, row in enumerate(sorted(table.rows, key=lambda row: -row.elo), 1):
        assert row.rank_best <= place <= row.rank_worst
    assert [row.los_next is None for row in table.rows] == [False] * (len(table.rows) - 1) + [True]
    score, sd = table.field_scores(np.ones(len(elo)))
    assert score.sum() == pytest.approx(len(elo) / 2)
    assert ((sd > 0) & (sd < 0.2)).all()


@pytest.mark.slow
def test_ranks_leave_out_only_pairs_that_are_sure(league) -> None:
    """Newcomers with wide intervals, and a group that met nobody else, stand among the others."""
    boards = played(400, 30_000) + tally_arrays(np.array([[15, 700], [300, 701]] * 3), np.array([[1, 0]] * 6))
    approximation = fit_large(boards + moved(played(5, 200)))
    members = np.arange(0, len(approximation.bots), 2)

    above, below = approximation.sure(members, Z95)
    few = np.array([3, 200, len(approximation.bots) - 1])

    everybody = np.arange(len(approximation.bots))
    a, b = (side.reshape(-1) for side in np.meshgrid(everybody, members, indexing="ij"))
    ratio = (approximation.theta[b] - approximation.theta[a]) / np.maximum(approximation.sd_of_pairs(a, b), 1e-12)
    ratio[a == b] = 0
    rows = ratio.reshape(len(everybody), len(members))
    clear = (np.abs(np.abs(rows) - Z95) > 1e-4).all(axis=1)  # 32 bits decide the others
    assert clear.mean() > 0.9
    assert (above[clear] == (rows > Z95).sum(axis=1)[clear]).all()
    assert (below[clear] == (rows < -Z95).sum(axis=1)[clear]).all()
    assert [side.tolist() for side in approximation.sure(members, Z95, few)] == [
        above[few].tolist(),
        below[few].tolist(),
    ]


def test_scores_against_the_field_are_those_of_every_pair(league) -> None:
    _, exact, approximation = league
    members = (np.arange(len(exact.bots)) % 3 > 0).astype(float)

    score, sd = approximation.field_scores(members)

    true, true_sd = field_scores(exact, members)
    assert np.abs(score - true).max() < 1e-9
    assert np.abs(sd / true_sd - 1).max() < 0.25
    # Its slope is exact: how far the score moves with the own strength, against everybody else of the members
    chance = 1 / (1 + np.exp(approximation.theta[None, :] - approximation.theta[:, None]))
    slopes = chance * (1 - chance) * members * (1 - np.eye(len(members)))
    slope = slopes.sum(axis=1) / np.maximum(members.sum() - members, 1)
    assert np.abs(sd / (slope * approximation.sd_from_mean(members)) - 1).max() < 1e-6
