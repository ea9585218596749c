"""Estimate how many bits per decision a channel carries, from the symbols sent and the numbers received.

A decoder is trained on one half of the trials and tested on the other. Its error rate bounds the channel from below: a symmetric channel of K
symbols with the error rate e carries log2(K) - h(e) - e log2(K - 1) bits (Fano). The interval uses the exact (Clopper and Pearson) 95%
interval of the error rate, so small samples do not inflate it; if it contains the error rate of blind guessing, the estimate is 0.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

_SHARE = 4  # Divisor: a quarter of the training trials per symbol are used as neighbours.
_TAIL = 0.025
_NOTHING_BITS = 0.1  # A channel on which nothing is heard must carry less for certain; else there were too few trials.
_STEPS = 50  # Halvings of the interval, down to the last digit.


@dataclass(frozen=True)
class BitEstimate:
    """Bits per decision, with their 95% interval and the number of trials."""

    bits: float
    low: float
    high: float
    trials: int

    @property
    def conclusive(self) -> bool:
        """True if the trials show that something is heard, or that at most _NOTHING_BITS are."""
        return self.low > 0 or self.high <= _NOTHING_BITS


def estimate(trials: Sequence[tuple[int, float]], symbols: int) -> BitEstimate:
    """Estimate from trials, (symbol sent, number received) in order. Raise ValueError for fewer than four, or fewer than two symbols."""
    if len(trials) < 4 or symbols < 2:
        raise ValueError(f"{len(trials)} trials of {symbols} symbols; expected at least 4 and 2")
    training, test_trials = trials[::2], trials[1::2]
    near = max(1, len(training) // symbols // _SHARE)
    wrong = sum(guess(training, number, near) != sent for sent, number in test_trials)
    least, most = error_interval(wrong, len(test_trials))
    low, high = capacity(most, symbols), capacity(least, symbols)
    return BitEstimate(capacity(wrong / len(test_trials), symbols) if low else 0.0, low, high, len(trials))


def guess(training: Sequence[tuple[int, float]], number: float, near: int) -> int:
    """Return the most frequent symbol among the `near` nearest training trials."""
    nearest = sorted(training, key=lambda trial: abs(trial[1] - number))[:near]
    return Counter(sent for sent, _ in nearest).most_common(1)[0][0]


def capacity(error: float, symbols: int) -> float:
    """Return the bits per use of a symmetric channel; 0 for error rates of blind guessing or worse."""
    if error >= 1 - 1 / symbols:
        return 0.0
    spread = error * math.log2(symbols - 1) if symbols > 2 else 0.0
    return math.log2(symbols) - _entropy(error) - spread


def _entropy(share: float) -> float:
    return -sum(part * math.log2(part) for part in (share, 1 - share) if part > 0)


def error_interval(wrong: int, tried: int) -> tuple[float, float]:
    """Return the exact 95% interval of a rate with `wrong` of `tried` observed."""
    low = 0.0 if wrong == 0 else _solve(lambda rate: 1 - _at_most(wrong - 1, tried, rate) < _TAIL)
    high = 1.0 if wrong == tried else _solve(lambda rate: _at_most(wrong, tried, rate) > _TAIL)
    return low, high


def _at_most(most: int, tried: int, rate: float) -> float:
    return sum(math.comb(tried, n) * rate**n * (1 - rate) ** (tried - n) for n in range(most + 1))


def _solve(below: Callable[[float], bool]) -> float:
    low, high = 0.0, 1.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if below(middle) else (low, middle)
    return (low + high) / 2
