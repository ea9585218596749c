"""How many bits a decision a channel carries, from what was sent and what was seen.

A decoder learns from one half of the trials and is tried on the other. What it gets wrong bounds the channel from below: a symmetric channel
of K symbols with the error rate e carries log2(K) - h(e) - e log2(K - 1) bits (Fano). The interval is that of the exact (Clopper and Pearson) 95 %
interval of the error rate, so it does not grow from small numbers; where it holds the error rate of blind guessing, the estimate is 0.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

_SHARE = 4  # of the trials of one symbol, the nearest one in so many is asked
_TAIL = 0.025
_STEPS = 50  # halvings, to the last digit


@dataclass(frozen=True)
class Estimate:
    """Bits a decision, with the ends of their 95 % interval; of how many trials."""

    bits: float
    low: float
    high: float
    trials: int


def estimate(trials: Sequence[tuple[int, float]], symbols: int) -> Estimate:
    """trials: (symbol sent, number seen), in order. Raises ValueError where there are fewer than four or fewer than two symbols."""
    if len(trials) < 4 or symbols < 2:
        raise ValueError(f"{len(trials)} trials of {symbols} symbols; expected at least 4 and 2")
    known, tried = trials[::2], trials[1::2]
    near = max(1, len(known) // symbols // _SHARE)
    wrong = sum(guess(known, seen, near) != sent for sent, seen in tried)
    least, most = error_interval(wrong, len(tried))
    low, high = capacity(most, symbols), capacity(least, symbols)
    return Estimate(capacity(wrong / len(tried), symbols) if low else 0.0, low, high, len(trials))


def guess(known: Sequence[tuple[int, float]], seen: float, near: int) -> int:
    """The symbol of most of the `near` nearest trials that are known."""
    nearest = sorted(known, key=lambda trial: abs(trial[1] - seen))[:near]
    return Counter(sent for sent, _ in nearest).most_common(1)[0][0]


def capacity(error: float, symbols: int) -> float:
    """Bits a use of a symmetric channel; 0 from the error rate of blind guessing on."""
    if error >= 1 - 1 / symbols:
        return 0.0
    spread = error * math.log2(symbols - 1) if symbols > 2 else 0.0
    return math.log2(symbols) - _entropy(error) - spread


def _entropy(share: float) -> float:
    return -sum(part * math.log2(part) for part in (share, 1 - share) if part > 0)


def error_interval(wrong: int, tried: int) -> tuple[float, float]:
    """The exact 95 % interval of a rate of which `wrong` of `tried` were seen."""
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
