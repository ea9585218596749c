"""Ratings against published numbers, numbers that can be worked out by hand, and properties."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from league.pure.rating.bradley_terry import fit
from league.pure.rating.leaderboard import BASE, CERTAIN, ELO, Z95, expected_score, field_scores, fit_leaderboard
from league.pure.rating.tallies import tally

FLAT = 1e-9  # even boards of a bot: so little that the fit is plain maximum likelihood


def duel(a, b, wins, draws=0, losses=0):
    """Boards between a and b."""
    return [((a, b), (1, 0))] * wins + [((a, b), (0, 0))] * draws + [((a, b), (0, 1))] * losses


def elo_of(leaderboard):
    return {row.bot: row.elo for row in leaderboard.rows}


# Citations between statistics journals (Stigler 1994; Agresti, Categorical Data Analysis; vignette of R's BradleyTerry2).
JOURNALS = ["Biometrika", "CommStat", "JASA", "JRSS-B"]
CITED = [[0, 730, 498, 221], [33, 0, 68, 17], [320, 813, 0, 142], [284, 276, 325, 0]]


def citations():
    return tally([board for a in range(4) for b in range(4) if a != b for board in duel(a, b, CITED[a][b])])


def test_fit_equals_the_published_citation_model():
    estimate = fit(citations(), even_boards=FLAT)

    assert estimate.theta[1:] - estimate.theta[0] == pytest.approx([-2.94907, -0.47957, 0.26895], abs=5e-6)
    from_biometrika = np.array([[-1, 1, 0, 0], [-1, 0, 1, 0], [-1, 0, 0, 1]], dtype=float)
    naive = np.sqrt(np.diag(from_biometrika @ estimate.naive @ from_biometrika.T))
    assert naive == pytest.approx([0.10255, 0.06059, 0.07083], abs=1e-4)


def test_fit_has_the_published_deviance_of_the_citation_model():
    theta = fit(citations(), even_boards=FLAT).theta
    deviance = pearson = 0.0
    for a in range(4):
        for b in range(a + 1, 4):
            n, y = CITED[a][b] + CITED[b][a], CITED[a][b]
            p = 1 / (1 + math.exp(theta[b] - theta[a]))
            deviance += 2 * (y * math.log(y / (n * p)) + (n - y) * math.log((n - y) / (n - n * p)))
            pearson += (y - n * p) ** 2 / (n * p * (1 - p))

    assert deviance == pytest.approx(4.2934, abs=5e-5)
    assert pearson == pytest.approx(4.6516, abs=5e-5)


def test_fit_of_seven_one_two_by_hand():
    estimate = fit(tally(duel(1, 2, 7, 1, 2)), even_boards=FLAT)
    apart = np.array([1.0, -1.0])

    assert ELO * (estimate.theta[0] - estimate.theta[1]) == pytest.approx(400 * math.log10(3), abs=1e-3)
    assert ELO * math.sqrt(apart @ estimate.naive @ apart) == pytest.approx(126.86, abs=0.01)
    assert ELO * math.sqrt(apart @ estimate.robust @ apart) == pytest.approx(118.10, abs=0.01)


def test_fit_of_a_chain_adds_up():
    theta = fit(tally(duel(1, 2, 75, 0, 25) + duel(2, 3, 75, 0, 25)), even_boards=FLAT).theta

    assert ELO * (theta[0] - theta[2]) == pytest.approx(381.70, abs=0.01)
    assert expected_score(381.70, 0) == pytest.approx(0.9, abs=1e-4)


def test_table_of_a_perfect_cycle_is_level():
    leaderboard = fit_leaderboard(tally(duel(1, 2, 10) + duel(2, 3, 10) + duel(3, 1, 10)))

    assert [row.elo for row in leaderboard.rows] == pytest.approx([BASE] * 3, abs=1e-9)
    assert [(row.rank_best, row.rank_worst) for row in leaderboard.rows] == [(1, 3)] * 3


def test_table_keeps_an_unbeaten_bot_finite():
    leaderboard = fit_leaderboard(tally(duel(1, 2, 10)))

    assert leaderboard.rows[0].elo - leaderboard.rows[1].elo == pytest.approx(ELO * math.log(11), abs=0.01)


def test_a_few_lucky_boards_give_no_place_and_many_do():
    """Bot 4 wins three of four boards and is the best by Elo; it stands last until it has played as many as the others."""
    settled = duel(1, 2, 100, 0, 100) + duel(2, 3, 100, 0, 100) + duel(3, 1, 110, 0, 90)

    lucky = fit_leaderboard(tally(settled + duel(4, 1, 9, 0, 3)))
    assert max(lucky.rows, key=lambda row: row.elo).bot == lucky.rows[-1].bot == 4
    proven = fit_leaderboard(tally(settled + duel(4, 1, 150, 0, 50)))
    assert proven.rows[0].bot == 4
    for table in (lucky, proven):
        certain = [row.elo - CERTAIN * row.margin for row in table.rows]
        assert [row.certain for row in table.rows] == pytest.approx(certain, abs=1e-3)
        assert certain == sorted(certain, reverse=True)


def test_margin_of_an_unbeaten_bot_is_not_nearly_nothing():
    estimate = fit(tally(duel(1, 2, 200)))
    apart = np.array([1.0, -1.0])

    assert ELO * math.sqrt(apart @ estimate.robust @ apart) < 130
    assert ELO * estimate.sd(apart) > 140


def test_weight_of_two_seats_at_a_table_is_one():
    """Pairs of a k seat ranking weigh 2 / k: every bot's board counts as much information as k - 1 pairs shared out."""
    three = fit(tally([((1, 2, 3), (2, 1, 0))] * 30 + [((1, 2, 3), (0, 1, 2))] * 10), even_boards=FLAT)
    pairs = fit(
        tally(duel(1, 2, 30, 0, 10) + duel(2, 3, 30, 0, 10) + duel(1, 3, 30, 0, 10)),
        even_boards=FLAT,
    )

    assert three.theta == pytest.approx(pairs.theta, abs=1e-6)
    assert three.naive[0, 0] - three.naive[0, 1] == pytest.approx(
        1.5 * (pairs.naive[0, 0] - pairs.naive[0, 1]), rel=1e-3
    )


def test_anchor_stands_at_1000_and_moves_everybody_alike():
    played = tally(duel(1, 2, 12, 0, 4) + duel(2, 3, 9, 1, 6) + duel(1, 3, 13, 0, 3))

    free, anchored = fit_leaderboard(played), fit_leaderboard(played, anchor=2)

    assert elo_of(anchored)[2] == BASE
    assert sum(elo_of(free).values()) / 3 == pytest.approx(BASE)
    shift = elo_of(anchored)[1] - elo_of(free)[1]
    assert elo_of(anchored)[3] - elo_of(free)[3] == pytest.approx(shift, abs=1e-9)
    assert [row.margin for row in anchored.rows] == [row.margin for row in free.rows]
    assert elo_of(fit_leaderboard(played, anchor=99)) == elo_of(free)


def test_row_counts_score_and_points():
    row = fit_leaderboard(tally([((1, 2), (160, 100)), ((1, 3), (120, 140)), ((1, 2), (130, 130))])).rows

    by_bot = {line.bot: line for line in row}
    assert (by_bot[1].boards, by_bot[1].opponents) == (3, 2)
    assert by_bot[1].score == 0.5
    assert by_bot[1].points_per_board == pytest.approx(410 / 3)


def test_ranks_and_likelihoods_tell_what_is_sure():
    leaderboard = fit_leaderboard(tally(duel(1, 2, 60, 0, 20) + duel(1, 3, 60, 0, 20) + duel(2, 3, 40, 0, 40)))

    first, second, third = leaderboard.rows
    assert (first.bot, first.rank_best, first.rank_worst) == (1, 1, 1)
    assert (second.rank_best, second.rank_worst, third.rank_best, third.rank_worst) == (2, 3, 2, 3)
    assert first.los_next == pytest.approx(leaderboard.los[0, 1])
    assert second.los_next == pytest.approx(0.5)
    assert third.los_next is None


def round_robin(bots, wins, losses):
    return [board for i, a in enumerate(bots) for b in bots[i + 1 :] for board in duel(a, b, wins, 0, losses)]


@pytest.mark.parametrize(
    ("played", "provisional"),
    [
        (round_robin([1, 2], 8, 8), {1, 2}),  # 16 boards
        (round_robin([1, 2], 17, 16), set()),  # a field of two: one opponent is all there is
        (round_robin([1, 2, 3], 16, 16), set()),
        (round_robin([1, 2, 3, 4], 8, 8), set()),  # 48 boards each
        (round_robin([1, 2, 3, 4], 2, 2), {1, 2, 3, 4}),  # too few
        (round_robin([1, 2, 3, 4], 16, 16) + duel(1, 5, 30, 0, 30), {5}),  # one opponent of a field of five
        # Nothing ties them to the others
        (
            round_robin([1, 2, 3, 4], 16, 16) + round_robin([5, 6, 7], 16, 16),
            {5, 6, 7},
        ),
    ],
)
def test_provisional_needs_boards_opponents_precision_and_links(played, provisional):
    leaderboard = fit_leaderboard(tally(played))

    assert {row.bot for row in leaderboard.rows if row.provisional} == provisional


def test_an_always_beaten_bot_is_ranked_although_its_margin_is_wide():
    leaderboard = fit_leaderboard(
        tally(round_robin([1, 2, 3], 20, 12) + duel(1, 4, 40) + duel(2, 4, 40) + duel(3, 4, 40))
    )

    last = leaderboard.rows[-1]
    assert (last.bot, last.rank_best, last.rank_worst) == (4, 4, 4)
    assert last.margin > 60 * Z95
    assert not last.provisional


def test_table_of_nothing_is_empty():
    leaderboard = fit_leaderboard(tally([]), anchor=1)

    assert leaderboard.rows == ()
    assert leaderboard.strengths() == {}
    assert (leaderboard.los.shape, leaderboard.order.shape) == ((0, 0), (0,))


results = st.lists(
    st.lists(st.integers(1, 6), min_size=2, max_size=4, unique=True).flatmap(
        lambda bots: st.tuples(st.just(tuple(bots)), st.tuples(*[st.integers(0, 3)] * len(bots)))
    ),
    min_size=1,
    max_size=40,
)


@settings(max_examples=25)
@given(results, st.randoms(use_true_random=False))
def test_table_is_the_same_to_the_bit_for_shuffled_boards(played, rng):
    assert fit_leaderboard(tally(rng.sample(played, len(played)))).rows == fit_leaderboard(tally(played)).rows


@pytest.mark.slow
@settings(max_examples=60)
@given(results, st.integers(-1000, 1000))
def test_table_depends_on_comparisons_only(played, constant):
    moved = [(bots, tuple(score + constant for score in scores)) for bots, scores in played]

    assert elo_of(fit_leaderboard(tally(moved))) == elo_of(fit_leaderboard(tally(played)))


@pytest.mark.slow
@settings(max_examples=60)
@given(results)
def test_reversed_results_reverse_the_table(played):
    mirrored = [(bots, tuple(-score for score in scores)) for bots, scores in played]

    straight, upside_down = elo_of(fit_leaderboard(tally(played))), elo_of(fit_leaderboard(tally(mirrored)))

    for bot, elo in straight.items():
        assert upside_down[bot] == pytest.approx(2 * BASE - elo, abs=1e-6)


@pytest.mark.slow
@settings(max_examples=60)
@given(results, st.permutations(list(range(1, 7))))
def test_names_do_not_matter(played, names):
    renamed = [(tuple(names[bot - 1] for bot in bots), scores) for bots, scores in played]

    before, after = elo_of(fit_leaderboard(tally(played))), elo_of(fit_leaderboard(tally(renamed)))

    for bot, elo in before.items():
        assert after[names[bot - 1]] == pytest.approx(elo, abs=1e-6)


@pytest.mark.slow
@settings(max_examples=60)
@given(results, st.dictionaries(st.integers(1, 6), st.floats(-3, 3)))
def test_warm_start_ends_where_the_cold_one_does(played, start):
    cold, warm = elo_of(fit_leaderboard(tally(played))), elo_of(fit_leaderboard(tally(played), start=start))

    assert warm == pytest.approx(cold, abs=1e-9, rel=1e-12)


@pytest.mark.slow
@settings(max_examples=60)
@given(results)
def test_rows_are_within_bounds(played):
    leaderboard = fit_leaderboard(tally(played))

    count = len(leaderboard.rows)
    assert [row.certain for row in leaderboard.rows] == sorted((row.certain for row in leaderboard.rows), reverse=True)
    for place, row in enumerate(sorted(leaderboard.rows, key=lambda row: -row.elo), 1):
        assert 1 <= row.rank_best <= place <= row.rank_worst <= count
        assert 0 <= row.score <= 1
        assert math.isfinite(row.elo)
        assert math.isfinite(row.margin)
    assert leaderboard.los + leaderboard.los.T == pytest.approx(np.ones((count, count)))


def test_field_score_is_the_mean_chance_against_the_others():
    estimate = fit_leaderboard(tally(duel(1, 2, 30, 0, 10) + duel(2, 3, 20, 0, 20) + duel(1, 3, 10, 4, 3))).fit
    score, sd = field_scores(estimate, np.array([1.0, 1.0, 1.0]))

    chance = 1 / (1 + np.exp(estimate.theta[None, :] - estimate.theta[:, None]))
    assert score == pytest.approx((chance.sum(axis=1) - 0.5) / 2)
    assert score.sum() == pytest.approx(1.5)  # every board point is somebody's
    assert ((sd > 0.01) & (sd < 0.2)).all()


def test_field_score_has_the_sd_of_its_slope():
    """Moving all strengths a little along the covariance's main axis moves the score by what the sd was made of."""
    estimate = fit_leaderboard(tally(duel(1, 2, 30, 0, 10) + duel(2, 3, 20, 0, 20))).fit
    members = np.array([1.0, 1.0, 0.0])
    _, sd = field_scores(estimate, members)
    slopes = np.zeros((3, 3))
    for i in range(3):
        moved = [replace(estimate, theta=estimate.theta + step * np.eye(3)[i]) for step in (1e-6, -1e-6)]
        up, down = (field_scores(variant, members)[0] for variant in moved)
        slopes[:, i] = (up - down) / 2e-6

    assert sd == pytest.approx([estimate.sd(slope) for slope in slopes], rel=1e-5)


def test_field_score_without_rivals_is_one_half():
    estimate = fit_leaderboard(tally(duel(1, 2, 30))).fit

    score, sd = field_scores(estimate, np.array([1.0, 0.0]))
    assert (score[0], sd[0]) == (0.5, 0.0)
    assert score[1] < 0.1
