"""The rating of a person: what follows from the model, seen from outside of it."""

from __future__ import annotations

import math

import pytest

from league.pure.rating.people import Meeting, rate


def alone(points: list[float], rivals: float = 1000.0) -> list[list[Meeting]]:
    return [[Meeting(score, rivals)] for score in points]


def test_who_wins_as_often_as_they_lose_is_as_good_as_whom_they_met() -> None:
    assert rate([]) is None
    even = rate(alone([1, 0, 1, 0, 0.5], 1234.0))
    assert even is not None
    assert even.elo == pytest.approx(1234.0)


def test_one_even_board_more_keeps_the_unbeaten_finite() -> None:
    # 10-0 is 11-1 by points: ten boards won and one drawn are 10.5 of 11
    rating = rate(alone([1.0] * 10))
    assert rating is not None
    assert rating.elo == pytest.approx(1000 + 400 * math.log10(10.5 / 0.5))
    lost = rate(alone([0.0] * 10))
    assert lost is not None
    assert lost.elo == pytest.approx(1000 - 400 * math.log10(10.5 / 0.5))


def test_more_boards_say_more_and_stronger_rivals_count_for_more() -> None:
    few, many = rate(alone([1, 0] * 5)), rate(alone([1, 0] * 50))
    assert few is not None
    assert many is not None
    assert many.margin < few.margin / 2
    weak, strong = rate(alone([1, 0, 0], 800)), rate(alone([1, 0, 0], 1200))
    assert weak is not None
    assert strong is not None
    assert strong.elo - weak.elo == pytest.approx(400)


def test_a_partner_carries_half_of_a_side() -> None:
    # Both sides are even where the mean of the person and their partner is that of the others
    boards = [[Meeting(points, 1000.0, 0.5, 600.0)] for points in (1, 0)]
    rating = rate(boards)
    assert rating is not None
    assert rating.elo == pytest.approx(800)
    alone_again = rate(alone([1, 0]))
    assert alone_again is not None
    assert rating.margin == pytest.approx(2 * alone_again.margin)


def test_a_table_of_four_is_one_board_of_three_pairs() -> None:
    boards = [[Meeting(1, 1000, weight=0.5), Meeting(0, 1000, weight=0.5), Meeting(0.5, 1000, weight=0.5)]]
    rating = rate(boards)
    assert rating is not None
    assert rating.elo == pytest.approx(1000)
