"""Draws and sums that are pinned as Python 3.11 made them: they must be the same in every version."""

from __future__ import annotations

import random

from engine.cards.chance import Dice
from engine.portable import add_up, draw_one, draw_weighted
from engine.responding import ChoiceModel
from engine.runner import rare_decisions

LEGAL = ["play 7o", "claim", "pass", "sing o", "take"]


def test_floats_are_added_one_after_the_other() -> None:
    assert add_up([0.1] * 10) == 0.9999999999999999  # a compensated sum is 1.0
    assert add_up([1.0, 1e100, 1.0, -1e100]) == 0.0
    assert add_up([]) == 0.0


def test_draws_are_pinned() -> None:
    rng = random.Random("pinned")

    assert [draw_one(range(21), rng) for _ in range(12)] == [11, 6, 8, 18, 3, 16, 5, 17, 5, 17, 13, 9]
    assert [draw_weighted("abc", [1.0, 0.1, 4.0], rng) for _ in range(12)] == list("cccccccacccc")
    assert rng.random() == 0.36233601666124793


def test_the_player_of_rare_decisions_is_pinned() -> None:
    dice = rare_decisions.RandomBoard(7, None).dice()

    assert [LEGAL.index(rare_decisions.choose(LEGAL, dice)) for _ in range(16)] == [
        3,
        2,
        3,
        2,
        3,
        3,
        2,
        3,
        0,
        3,
        2,
        2,
        3,
        4,
        2,
        2,
    ]


def test_habits_add_up_weights_one_by_one() -> None:
    """Ten weights of a tenth are a little less than one: so both actions weigh the same, in every version."""
    habits = ChoiceModel()
    habits.weights[:11] = [0.1] * 10 + [0.9999999999999999]

    assert habits.chances([tuple(range(10)), (10,)]) == [0.5, 0.5]


def test_habits_learn_what_they_always_learned() -> None:
    habits = ChoiceModel()
    habits.learn([([(0, 1), (2, 3), (4, 5)], number % 3 and 1) for number in range(9)], Dice(3), times=4)

    learned = [round(weight, 12) for weight in habits.weights[:6]]
    assert learned == [0.129004442932, 0.129004442932, 0.648364991875, 0.648364991875, -0.777369434807, -0.777369434807]
