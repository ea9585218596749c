"""The arithmetic of the meter: from what was sent and what was seen to bits a decision."""

from __future__ import annotations

import pytest

from engine.sandbox.channels.bits import BitEstimate, capacity, error_interval, estimate, guess


@pytest.mark.parametrize(
    ("wrong", "tried", "low", "high"),
    [(0, 10, 0.0, 0.3085), (5, 10, 0.1871, 0.8129), (10, 10, 0.6915, 1.0), (1, 100, 0.0003, 0.0545)],
)
def test_the_interval_of_an_error_rate_is_the_exact_one(wrong: int, tried: int, low: float, high: float) -> None:
    """Values of the published tables of Clopper and Pearson."""
    assert error_interval(wrong, tried) == (pytest.approx(low, abs=5e-5), pytest.approx(high, abs=5e-5))


@pytest.mark.parametrize(
    ("error", "symbols", "bits"),
    [(0.0, 2, 1.0), (0.0, 16, 4.0), (0.5, 2, 0.0), (0.11, 2, 0.5001), (0.9, 2, 0.0), (0.75, 4, 0.0), (0.25, 4, 0.7925)],
)
def test_the_capacity_of_a_symmetric_channel(error: float, symbols: int, bits: float) -> None:
    assert capacity(error, symbols) == pytest.approx(bits, abs=5e-5)


def test_a_channel_without_errors_carries_its_symbols() -> None:
    trials = [(n // 2 % 4, 10.0 * (n // 2 % 4)) for n in range(200)]

    estimated = estimate(trials, 4)

    assert (estimated.bits, estimated.high, estimated.trials) == (2.0, 2.0, 200)
    assert estimated.low == pytest.approx(capacity(error_interval(0, 100)[1], 4))


@pytest.mark.parametrize(
    ("wrong", "number", "conclusive"), [(2, 4, False), (50, 100, True), (0, 8, True), (0, 4, False)]
)
def test_a_channel_is_empty_only_after_enough_trials(wrong: int, number: int, conclusive: bool) -> None:
    low, high = (capacity(error, 2) for error in reversed(error_interval(wrong, number)))

    assert BitEstimate(0.0, low, high, 2 * number).conclusive is conclusive


def test_a_channel_on_which_nothing_is_seen_carries_nothing() -> None:
    trials = [(n // 2 % 2, 7.0) for n in range(200)]

    estimated = estimate(trials, 2)

    assert estimated == BitEstimate(0.0, 0.0, pytest.approx(capacity(error_interval(50, 100)[0], 2)), 200)
    assert 0 < estimated.high < 0.04


def test_the_decoder_takes_the_symbol_of_most_neighbours() -> None:
    learned = [(0, 1.0), (0, 2.0), (1, 2.1), (1, 9.0), (1, 10.0)]

    assert [guess(learned, value, 3) for value in (1.5, 8.0)] == [0, 1]


def test_too_few_trials_say_nothing() -> None:
    with pytest.raises(ValueError, match="3 trials of 2 symbols"):
        estimate([(0, 1.0)] * 3, 2)
    with pytest.raises(ValueError, match="4 trials of 1 symbols"):
        estimate([(0, 1.0)] * 4, 1)
