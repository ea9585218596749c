"""Intervals of shares against published values."""

from __future__ import annotations

import pytest

from engine.intervals import wilson


@pytest.mark.parametrize(
    ("wins", "boards", "low", "high"),
    # Newcombe, Statistics in Medicine 17 (1998) 857-872, table I, method 3
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0000, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_wilson_has_its_published_values(wins, boards, low, high):
    assert wilson(wins / boards, boards) == pytest.approx((low, high), abs=5e-5)


def test_wilson_is_mirrored_and_stays_within_bounds():
    for boards in (1, 2, 7, 100):
        for wins in range(boards + 1):
            low, high = wilson(wins / boards, boards)
            back = wilson(1 - wins / boards, boards)
            assert 0 <= low <= wins / boards <= high <= 1
            assert back == pytest.approx((1 - high, 1 - low))
