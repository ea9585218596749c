"""The sequential test against the published numbers of fishtest, and its promised error rates; duels."""

from __future__ import annotations

import random
from math import log

import pytest

from engine import sprt
from tests.support.formats import by_number, field, level, places, play_out
from tests.support.parts import mostly_slow

PENTANOMIAL = [13, 37, 50, 25, 3]  # public raw statistics of a fishtest run: 128 pairs of games


@pytest.mark.parametrize(
    ("counts", "elo0", "elo1", "value"),
    [
        (PENTANOMIAL, 0, 5, -1.01268),
        (PENTANOMIAL, 0, 10, -2.12254),
        (PENTANOMIAL, -5, 5, -1.92402),
        ([10, 200, 500, 260, 30], 0, 10, 6.71488),
        ([100, 50, 130], 0, 10, 0.91035),
    ],
)
def test_likelihood_ratios_as_published(counts, elo0, elo1, value):
    assert sprt.llr(counts, elo0, elo1) == pytest.approx(value, abs=6e-6)


def test_estimates_as_published():
    estimate = sprt.estimate(PENTANOMIAL)
    assert (estimate.score, estimate.variance) == pytest.approx((0.4375, 0.05762), abs=5e-6)
    assert estimate.elo == pytest.approx(-43.6578, abs=1e-4)
    estimate = sprt.estimate([10, 200, 500, 260, 30])
    assert (estimate.elo, estimate.margin) == pytest.approx((17.386, 8.432), abs=1e-3)
    estimate = sprt.estimate([100, 50, 130])
    assert (estimate.elo, estimate.margin, estimate.los) == pytest.approx((37.369, 37.196, 0.97682), abs=1e-3)


def test_bounds():
    bounds = sprt.bounds()
    assert (bounds.lower, bounds.upper) == pytest.approx((-2.944439, 2.944439), abs=1e-6)
    assert sprt.bounds(0.01, 0.1).upper == pytest.approx(log(0.9 / 0.01))
    with pytest.raises(ValueError, match="alpha is an error rate"):
        sprt.bounds(0.6, 0.05)


def test_no_boards():
    assert sprt.llr([0, 0, 0], -20, 20) == 0
    with pytest.raises(ValueError, match="no board was played"):
        sprt.estimate([0, 0, 0])


@pytest.mark.parametrize("boards", [1, 10, 100, 1000])
def test_boards_that_all_end_alike_do_not_make_an_estimate_exact(boards):
    """A bot that is truly this much weaker than the estimate wins all of them in at least one of 40 runs."""
    won = sprt.estimate([0, 0, boards])
    assert won.elo - 2 * won.margin == pytest.approx(sprt.elo_of(0.025 ** (1 / boards)), abs=1e-6)
    assert won.margin > sprt.estimate([0, 0, 2 * boards]).margin > 20
    lost, drawn = sprt.estimate([boards, 0, 0]), sprt.estimate([0, boards, 0])
    assert (lost.elo, lost.margin, lost.los) == pytest.approx((-won.elo, won.margin, 1 - won.los))
    assert (drawn.elo, drawn.los) == pytest.approx((0, 0.5))
    assert drawn.margin > 0


def test_a_difference_that_no_boards_could_show_is_refused():
    with pytest.raises(ValueError, match="from -1000 to 1000, not 6500"):
        sprt.llr([1, 2, 3], 0, 6500)


@pytest.mark.parametrize(("elo", "right"), mostly_slow([(60, 1), (-60, -1)], (60, 1).__eq__))
def test_wrong_decisions_are_as_rare_as_chosen(elo, right):
    """200 seeded duels of boards at a true difference of 60 Elo, bounds -20 and 20, 5%: the promise is at most 10 wrong."""
    rng = random.Random(elo)
    chance, limits = sprt.expected(elo), sprt.bounds()
    wrong = boards = 0
    for _ in range(200):
        counts = [0, 0, 0]
        ratio = 0.0
        while limits.lower < ratio < limits.upper:
            for _ in range(8):
                counts[1 if rng.random() < 0.02 else 2 if rng.random() < chance else 0] += 1
            ratio = sprt.llr(counts, -20, 20)
        boards += sum(counts)
        wrong += (ratio > 0) != (right > 0)
    assert wrong <= 10
    assert 80 < boards / 200 < 260  # about 83 at 100 Elo, 180 at 50


def test_duel_stops_at_the_bound():
    verdict, sheet = play_out("duel", field("duel", 2, boards=8, cap=400), by_number)

    assert verdict.why == "stronger"
    assert verdict.facts["llr"] >= 2.944
    assert places(verdict) == [[0], [1]]
    assert sum(table.boards for table in sheet.pairings) < 400
    assert [table.entries for table in sheet.pairings[:2]] == [(0, 1), (1, 0)]


def test_duel_of_equals_ends_at_the_cap_with_a_shared_place():
    verdict, sheet = play_out("duel", field("duel", 2, boards=16, cap=40), level)

    assert verdict.why == "cap"
    assert [table.boards for table in sheet.pairings] == [16, 16, 8]
    assert places(verdict) == [[0, 1]]


def test_duel_of_a_new_version_that_is_no_better():
    verdict, _ = play_out("duel", field("duel", 2, boards=8, elo0=0, elo1=30, seeds=(1, 0)), by_number)

    assert verdict.why == "not_stronger"
    assert places(verdict) == [[0], [1]]
    with pytest.raises(ValueError, match="elo0 must be below elo1"):
        play_out("duel", field("duel", 2, elo0=5, elo1=5), by_number)
