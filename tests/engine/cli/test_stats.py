"""The interval of `tute play` against numbers worked by hand and published tables."""

import pytest

from engine.cli.stats import PartyStanding, standing
from engine.intervals import t95


@pytest.mark.parametrize(
    ("degrees", "value"), [(1, 12.706), (5, 2.571), (10, 2.228), (15, 2.131), (30, 2.042), (60, 2.000), (120, 1.980)]
)
def test_t95_agrees_with_the_tables(degrees: int, value: float) -> None:
    assert t95(degrees) == pytest.approx(value, abs=0.0015)


def test_standing_of_two() -> None:
    # differences 10, -2, 4, 0: mean 3, standard deviation sqrt(28), standard error sqrt(7), t(3) = 3.182
    boards = [(70, 60), (64, 66), (67, 63), (65, 65)]

    first, second = standing(boards, 0), standing(boards, 1)

    assert (first.won, first.drawn, first.lost, first.share) == (2, 1, 1, 0.625)
    assert (first.mean, first.difference) == (66.5, 3.0)
    assert first.margin == pytest.approx(3.182 * 7**0.5)
    assert not first.clear
    assert (second.won, second.difference, second.margin) == (1, -3.0, first.margin)


def test_standing_of_three_compares_with_each() -> None:
    result = standing([(3, 2, 1), (3, 3, 0)], 0)

    assert (result.won, result.drawn, result.lost) == (3, 1, 0)
    assert result.share == 0.875
    assert result.difference == 1.5


def test_standing_of_one_board_has_no_interval() -> None:
    assert standing([(1, 0)], 0) == PartyStanding(
        won=1, drawn=0, lost=0, share=1.0, mean=1.0, difference=1.0, margin=None
    )
    assert not standing([(1, 0)], 0).clear


def test_standing_constant_difference_is_certain() -> None:
    assert standing([(1, 0), (1, 0)], 0).clear


def test_standing_of_nothing_is_an_error() -> None:
    with pytest.raises(ValueError, match="no complete board"):
        standing([], 0)
