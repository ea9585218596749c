"""Sequential probability ratio test on the results of paired games: is A at least elo1 stronger than B, or at most elo0?

Generalised SPRT with the multinomial likelihood: the log-likelihood ratio of the two distributions closest to the observed one that have
the mean scores of elo0 and elo1. It needs no model of draws. Counts are by score: boards lost, drawn, won (0, 1/2, 1), or pairs of games
by points (0, 1/4, ... 1: the pentanomial counts of chess engine testing).

Sources: Van den Bergh, The generalised SPRT for multinomial distributions (2018), as used by fishtest (LLRcalc.py), whose published
numbers are the oracles of the tests; Wald, Sequential Tests of Statistical Hypotheses (1945), for the bounds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log, sqrt
from statistics import NormalDist

from engine.portable import add_up

EMPTY = 1e-3  # Replaces a count of zero, so that every logarithm exists.
MOST_ELO = 1000  # A larger difference is no hypothesis: the expected score is nearly 0 or 1, and no number of boards could tell.


@dataclass(frozen=True, slots=True)
class Bounds:
    """Decision bounds: accept elo1 at `upper` or above, elo0 at `lower` or below."""

    lower: float
    upper: float


@dataclass(frozen=True, slots=True)
class Estimate:
    """An estimate from counts: score per board (0 to 1), its variance, Elo with half of its 95% interval, likelihood of superiority."""

    score: float
    variance: float
    elo: float
    margin: float
    los: float


def bounds(alpha: float = 0.05, beta: float = 0.05) -> Bounds:
    """Return ln(beta / (1 - alpha)) and ln((1 - beta) / alpha), the bounds for error rates alpha and beta. Raise ValueError outside (0, 1/2)."""
    for name, value in (("alpha", alpha), ("beta", beta)):
        if not 0 < value < 0.5:
            raise ValueError(f"{name} is an error rate between 0 and 0.5, not {value!r}")
    return Bounds(log(beta / (1 - alpha)), log((1 - beta) / alpha))


def expected(elo: float) -> float:
    """Return the expected score for a difference of `elo`: 1 / (1 + 10^(-elo / 400))."""
    return 1 / (1 + exp(-elo * log(10) / 400))


def llr(counts: Sequence[float], elo0: float, elo1: float) -> float:
    """Return the log-likelihood ratio of elo1 over elo0 for counts of the scores 0 to 1 in equal steps; 0 without any board.

    Raise ValueError for an Elo beyond MOST_ELO.
    """
    for elo in (elo0, elo1):
        if not -MOST_ELO <= elo <= MOST_ELO:
            raise ValueError(f"a difference in Elo is a number from -{MOST_ELO} to {MOST_ELO}, not {elo:g}")
    if sum(counts) == 0:
        return 0.0
    filled = [count or EMPTY for count in counts]
    total = add_up(filled)
    shares = [count / total for count in filled]
    values = [i / (len(counts) - 1) for i in range(len(counts))]
    under0 = _closest(shares, values, expected(elo0))
    under1 = _closest(shares, values, expected(elo1))
    return total * add_up(p * log(b / a) for p, a, b in zip(shares, under0, under1, strict=True))


def _closest(shares: Sequence[float], values: Sequence[float], mean: float) -> list[float]:
    """Return the distribution with mean `mean` that makes `shares` most likely: p / (1 + x (a - mean)), by bisection on x."""
    low, high = -1 / (values[-1] - mean), 1 / (mean - values[0])
    for _ in range(64):
        x = (low + high) / 2
        slope = add_up(p * (a - mean) / (1 + x * (a - mean)) for p, a in zip(shares, values, strict=True))
        low, high = (x, high) if slope > 0 else (low, x)
    return [p / (1 + x * (a - mean)) for p, a in zip(shares, values, strict=True)]


def estimate(counts: Sequence[float]) -> Estimate:
    """Estimate score, Elo and interval (delta method in score) from counts. Raise ValueError without any board.

    If all boards have the same score, their variance says nothing. The interval is then that of Clopper and Pearson (1934) for the share of
    other scores, each counted as the one farthest away.
    """
    total = sum(counts)
    if not total:
        raise ValueError("no board was played, so there is nothing to estimate")
    values = [i / (len(counts) - 1) for i in range(len(counts))]
    if max(counts) == total:
        score = values[list(counts).index(total)]
        reach = (1 - 0.025 ** (1 / total)) * max(score, 1 - score)
        deviation = reach / NormalDist().inv_cdf(0.975)
        margin = (elo_of(score + reach) - elo_of(score - reach)) / 2
        return Estimate(score, deviation**2 * total, elo_of(score), margin, NormalDist().cdf((score - 0.5) / deviation))
    filled = [count or EMPTY for count in counts]
    whole = add_up(filled)
    score = add_up(n * a for n, a in zip(filled, values, strict=True)) / whole
    variance = add_up(n * (a - score) ** 2 for n, a in zip(filled, values, strict=True)) / whole
    reach = NormalDist().inv_cdf(0.975) * sqrt(variance / whole)
    low, high = elo_of(score - reach), elo_of(score + reach)
    return Estimate(
        score, variance, elo_of(score), (high - low) / 2, NormalDist().cdf((score - 0.5) / sqrt(variance / whole))
    )


def elo_of(score: float) -> float:
    """Return the Elo difference that predicts `score`; scores outside (0, 1) are clamped."""
    drawn = min(max(score, 1e-3), 1 - 1e-3)
    return -400 * log(1 / drawn - 1) / log(10)
