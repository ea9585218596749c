"""The lead over some boards, against numbers worked out by hand."""

from __future__ import annotations

import pytest

from league.pure import lead


def test_the_lead_and_its_margin() -> None:
    # Differences 10, 20, 30, 40: mean 25, standard deviation 12.9099; t(3) = 3.182, so the margin is 3.182 * 12.9099 / 2.
    certain = lead.of_boards([[30, 20], [40, 20], [50, 20], [60, 20]])
    assert (certain.boards, certain.won, certain.drawn, certain.lost, certain.mean) == (4, 4, 0, 0, 25)
    assert certain.margin == pytest.approx(20.54, abs=0.01)
    assert certain.more == 0


def test_the_boards_that_would_make_it_sure() -> None:
    # Mean 5, deviation 23.8: (1.96 * 23.8 / 5)^2 is 87 boards, 83 more than 4; series have 20 boards.
    unsure = lead.of_boards([[20, 0], [0, 10], [30, 0], [0, 20]])
    assert unsure.mean == 5
    assert unsure.more == 100
    assert lead.of_boards([[1, 0], [0, 40], [40, 0], [0, 1], [1, 0]]).more is None  # Thousands of boards
    assert lead.of_boards([[3, 1]]).more is None
    assert lead.of_boards([[3, 1]]).margin is None
    assert lead.of_boards([[2, 2], [2, 2]]).more is None  # Level


def test_more_parties_and_units() -> None:
    three = lead.of_boards([[9, 3, 3], [3, 9, 3], [6, 6, 6]], size=3)
    assert three.mean == pytest.approx((6 - 3 + 0) / 3 / 3)
    assert (three.won, three.drawn, three.lost) == (1, 1, 1)
    with pytest.raises(ValueError, match="no complete board"):
        lead.of_boards([])
