"""Glicko-2: the example of the paper, and what an answer may move."""

from __future__ import annotations

import pytest

from league.pure.rating.glicko import BASE, HIGHEST, LEAST_DEVIATION, LOWEST, GlickoRating, rate

NEW = GlickoRating()
SETTLED = GlickoRating(1500, 50, 0.06)


def test_the_worked_example_of_the_paper() -> None:
    games = [(GlickoRating(1400, 30), 1.0), (GlickoRating(1550, 100), 0.0), (GlickoRating(1700, 300), 0.0)]
    after = rate(GlickoRating(1500, 200, 0.06), games)
    assert (round(after.rating, 2), round(after.deviation, 2)) == (1464.05, 151.52)
    assert after.volatility == pytest.approx(0.05999, abs=1e-5)


def test_a_newcomer_moves_far_and_moves_a_settled_puzzle_little() -> None:
    person, puzzle = rate(NEW, [(SETTLED, 1.0)]), rate(SETTLED, [(NEW, 0.0)])
    assert person.rating - BASE > 150
    assert 0 < BASE - puzzle.rating < 6
    assert person.deviation < NEW.deviation


def test_two_that_feed_one_another_stay_within_bounds() -> None:
    winner, loser = NEW, NEW
    for _ in range(2000):
        winner, loser = rate(winner, [(loser, 1.0)]), rate(loser, [(winner, 0.0)])
    assert LOWEST <= loser.rating < winner.rating <= HIGHEST
    assert LEAST_DEVIATION <= winner.deviation < 350
    surprised = rate(winner, [(loser, 0.0)])
    assert surprised.rating < winner.rating
