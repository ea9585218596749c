"""The sums that are kept of the times of a sitting, worked by hand."""

from __future__ import annotations

from typing import Any

import pytest

from engine.runner import timings

MOVE_S = 0.25
# Five decisions of seats 0 and 2; seat 1 was not asked.
COLUMNS: dict[str, Any] = {
    "unit": "us",
    "steps": [0, 3, 4, 7, 9],
    "seats": [0, 2, 0, 0, 2],
    "cpu": [123_456, 250_000, 200_449, 200_449, 250_001],
    "wall": [130_000, 300_500, 1_000_499, 999, 7],
    "latency": [140_000, 300_600, 1_004_999, 1_000, 12_345],
}


def test_the_sums_of_a_sitting_are_those_of_its_seats() -> None:
    """Seat 0 is asked twice with the same CPU time: the first of the two is the slowest. All of `move_s` is not more than it."""
    assert timings.summed(COLUMNS, players=3, move_s=MOVE_S) == {
        "unit": "us",
        "asked": [3, 0, 2],
        "cpu": [524_000, 0, 500_000],
        "wall": [1_130_000, 0, 301_000],
        "latency": [1_150_000, 0, 313_000],
        "slowest": [[4, 200_000, 1_000_000, 1_000_000], None, [9, 250_000, 7, 12_300]],
        "spread": [[[200_000, 999], [123_000, 130_000], [200_000, 1_000_000]], [], [[250_000, 7], [250_000, 300_000]]],
        "over": [[9, 250_001]],
    }


def test_the_spread_of_many_decisions_is_the_middle_of_equal_parts() -> None:
    count = 25
    many = {name: list(range(count)) for name in ("steps", "cpu", "wall", "latency")} | {"seats": [0] * count}

    summed = timings.summed(many, players=1, move_s=MOVE_S)

    assert summed["spread"] == [[[2, 2], [7, 7], [12, 12], [17, 17], [22, 22]]]


def test_a_decision_that_took_no_time_is_a_slowest_one_too() -> None:
    nothing = {**COLUMNS, "steps": [5], "seats": [1], "cpu": [0], "wall": [0], "latency": [0]}

    summed = timings.summed(nothing, players=2, move_s=MOVE_S)

    assert (summed["asked"], summed["slowest"], summed["over"]) == ([0, 1], [None, [5, 0, 0, 0]], [])


def test_sums_are_summed_up_no_further() -> None:
    once = timings.summed(COLUMNS, players=3, move_s=MOVE_S)

    again = timings.summed(once, players=3, move_s=0.0)

    assert again == once
    assert again is not once


def test_the_times_that_changed_a_bank_are_in_the_columns_and_in_the_sums() -> None:
    assert timings.used_us(COLUMNS) == {0: 123_456, 3: 250_000, 4: 200_449, 7: 200_449, 9: 250_001}
    assert timings.used_us(timings.summed(COLUMNS, players=3, move_s=MOVE_S)) == {9: 250_001}


def test_columns_of_different_lengths_are_no_times() -> None:
    torn = {**COLUMNS, "cpu": COLUMNS["cpu"][:-1]}

    with pytest.raises(ValueError, match="shorter"):
        timings.summed(torn, players=3, move_s=MOVE_S)
    with pytest.raises(ValueError, match="shorter"):
        timings.used_us(torn)
