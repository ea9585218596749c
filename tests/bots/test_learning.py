"""The learned weights of `champion`: the fit recovers known weights, and their file is what the tool writes."""

import random
import runpy

import numpy as np
import pytest

from benchmarks import learn
from engine.search.foresight import FEATURES


def test_a_fit_finds_the_weights_of_each_row() -> None:
    """Rows have equal weights, for neighbouring rows count as well."""
    draw = random.Random(1)
    weights = [draw.uniform(-20, 20) for _ in range(FEATURES)]
    sums = learn.Sums.empty(2)
    for _ in range(4000):
        features = [draw.randrange(-2, 3) for _ in range(FEATURES)]
        sums.add_position(
            draw.randrange(2), features, sum(w * x for w, x in zip(weights, features, strict=True)) + draw.gauss(0, 10)
        )

    for row in range(2):
        fitted = sums.fit(row)
        assert np.abs(fitted - weights).max() < 2
        whole, unknown = sums.unexplained(row, fitted)
        assert 4.5 < unknown < 5.5 < whole


def test_positions_are_the_same_in_whatever_parts_the_deals_are_played() -> None:
    whole, part = learn.learn("two_player", range(1, 3)), learn.learn("two_player", range(1, 2))
    part.add(learn.learn("two_player", range(2, 3)))

    assert list(whole.number) == [2] * 12
    assert np.array_equal(whole.squares, part.squares)
    assert np.array_equal(whole.products, part.products)


def test_deals_of_a_game_of_several_are_noted_each(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(learn.OPTIONS, "corriente", learn.OPTIONS["corriente"] | {"target": 250})

    sums = learn.learn("corriente", range(1, 2))

    assert len(set(sums.number)) == 1
    assert sums.number[0] > 1
    assert sums.won[0] > 0


def test_learned_weights_stand_as_they_are_written() -> None:
    learned = runpy.run_path(str(learn.PLACE))["LEARNED"]

    assert learn.PLACE.read_text(encoding="utf-8") == learn.learned_source(learned)
    assert [len(row) for row in learned["two_player", 2]] == [FEATURES] * 12
    assert [len(row) for row in learned["corriente", 2]] == [FEATURES] * 14
