"""Bradley-Terry strengths from board results, with honest error bars.

Model: on a board, a beats b with probability p = 1 / (1 + exp(theta_b - theta_a)); a draw is half a win (its smaller variance is
left to the robust covariance, so that no draw parameter is needed). Quasi-likelihood with a weak normal prior:

    maximise  sum w [y log p + (1 - y) log(1 - p)]  -  sum theta^2 / (2 * 2^2)        y in {0, 1/2, 1}

A table of k individual seats gives all k (k - 1) / 2 pairs of its ranking with the weight w = 2 / k; its board is one cluster.

Sources: Bradley and Terry 1952; Hunter 2004 (existence of the maximum); Liang and Zeger 1986 (cluster-robust covariance
H^-1 M H^-1, M = sum over boards of g g').
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from league.pure.tallies import Tallies

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]

PRIOR_SD = 2.0  # logits; 347 Elo. Keeps an unbeaten bot finite: 10-0 is 553 Elo, not infinity
STEP = 2.0  # longest Newton step of a strength, logits
CLOSE = 1e-11  # a step below it ends the search
MOST_STEPS = 200
PSEUDO_BOARDS = 8  # even boards that hold the dispersion near 1 while there is little evidence


@dataclass(frozen=True, slots=True)
class Fit:
    """Strengths and covariances, all in logits, in the order of `bots` (ids, ascending)."""

    bots: tuple[int, ...]
    theta: Floats  # (N,)
    naive: Floats  # (N, N): inverse of the information, as if the model were exact
    robust: Floats  # (N, N): cluster-robust over boards
    dispersion: float  # observed over modelled variance of a board result, at most 1; small where most are drawn

    def sd(self, contrast: Floats) -> float:
        """Standard deviation of `contrast @ theta`: the robust one, but never below the modelled one times the dispersion.

        Without that floor a bot that never loses would get an error bar of nearly nothing: its residuals are all zero.
        """
        robust = float(contrast @ self.robust @ contrast)
        floor = self.dispersion * float(contrast @ self.naive @ contrast)
        return float(np.sqrt(max(robust, floor, 0.0)))

    def sd_of_differences(self) -> Floats:
        """(N, N) standard deviations of theta_i - theta_j, with the floor of `sd`."""
        sds: Floats = np.sqrt(np.maximum(_difference(self.robust), self.dispersion * _difference(self.naive)))
        return sds

    def sd_from_mean(self, members: Floats) -> Floats:
        """(N,) standard deviations of theta_i - mean of the `members` (N,; 1 or 0), with the floor of `sd`."""
        share = members / members.sum()
        sds: Floats = np.sqrt(
            np.maximum(_from_mean(self.robust, share), self.dispersion * _from_mean(self.naive, share))
        )
        return sds


def fit(tallies: Tallies, *, start: Mapping[int, float] | None = None, prior_sd: float = PRIOR_SD) -> Fit:
    """The maximum for the boards in `tallies`. `start` (strengths by id) only makes it faster. No boards: empty arrays.

    Raises ArithmeticError if Newton's method does not settle, which a proper prior excludes.
    """
    bots = tuple(sorted(tallies.bots))
    count = len(bots)
    place = {bot: i for i, bot in enumerate(bots)}
    groups: list[_Duels | _Tables] = [_Duels.read(tallies, place), *_Tables.read(tallies, place)]
    theta = np.array([(start or {}).get(bot, 0.0) for bot in bots], dtype=np.float64)
    if not count:
        return Fit(bots, theta, np.zeros((0, 0)), np.zeros((0, 0)), 1.0)
    for _ in range(MOST_STEPS):
        information = np.eye(count) / prior_sd**2
        gradient = -theta / prior_sd**2
        for group in groups:
            group.gradient_and_information(theta, gradient, information)
        move = np.clip(np.linalg.solve(information, gradient), -STEP, STEP)
        theta = theta + move
        if np.abs(move).max() < CLOSE:
            break
    else:
        raise ArithmeticError(f"the ratings of {count} bots did not settle in {MOST_STEPS} steps")
    information = np.zeros((count, count))
    meat = np.zeros((count, count))
    for group in groups:
        group.gradient_and_information(theta, np.zeros(count), information)
        group.meat(theta, meat)
    slack = PSEUDO_BOARDS / 2  # trace of the information of one even board is 2 * 1/4
    dispersion = min(1.0, float((np.trace(meat) + slack) / (np.trace(information) + slack)))
    naive: Floats = np.linalg.inv(information + np.eye(count) / prior_sd**2).astype(np.float64)
    return Fit(bots, theta, naive, naive @ meat @ naive, dispersion)


def _difference(covariance: Floats) -> Floats:
    variance = np.diag(covariance)
    squares: Floats = np.maximum(variance[:, None] + variance[None, :] - 2 * covariance, 0.0)
    return squares


def _from_mean(covariance: Floats, share: Floats) -> Floats:
    with_mean = covariance @ share
    squares: Floats = np.maximum(np.diag(covariance) - 2 * with_mean + share @ with_mean, 0.0)
    return squares


@dataclass(frozen=True, slots=True)
class _Duels:
    """Two-sided boards, one row per unordered pair."""

    i: Ints
    j: Ints
    boards: Floats
    points: Floats  # of i
    squares: Floats

    @classmethod
    def read(cls, tallies: Tallies, place: Mapping[int, int]) -> _Duels:
        pairs = sorted(tallies.duels)
        rows = [tallies.duels[pair] for pair in pairs]
        return cls(
            np.array([place[a] for a, _ in pairs], dtype=np.int64),
            np.array([place[b] for _, b in pairs], dtype=np.int64),
            np.array([row.boards for row in rows], dtype=np.float64),
            np.array([row.half_points for row in rows], dtype=np.float64) / 2,
            np.array([row.squares for row in rows], dtype=np.float64) / 4,
        )

    def _chance(self, theta: Floats) -> Floats:
        return _logistic(theta[self.i] - theta[self.j])

    def gradient_and_information(self, theta: Floats, gradient: Floats, information: Floats) -> None:
        """Add this group's share to both, in place."""
        p = self._chance(theta)
        rest = self.points - self.boards * p
        gradient += np.bincount(self.i, rest, len(theta)) - np.bincount(self.j, rest, len(theta))
        _add_pairs(information, self.i, self.j, self.boards * p * (1 - p))

    def meat(self, theta: Floats, meat: Floats) -> None:
        """Add the sum over boards of g g', in place: (y - p)^2 on the pair's block."""
        p = self._chance(theta)
        _add_pairs(meat, self.i, self.j, self.squares - 2 * p * self.points + self.boards * p * p)


def _add_pairs(matrix: Floats, i: Ints, j: Ints, weight: Floats) -> None:
    """Add weight * (e_i - e_j)(e_i - e_j)' for every pair; each pair occurs once."""
    count = len(matrix)
    matrix[i, j] -= weight
    matrix[j, i] -= weight
    matrix[np.diag_indices(count)] += np.bincount(i, weight, count) + np.bincount(j, weight, count)


@dataclass(frozen=True, slots=True)
class _Tables:
    """Boards of k individual seats, one row per different ranking of a table."""

    seats: Ints  # (M, k) places of the bots
    points: Floats  # (M, k, k): 1, 1/2, 0 of row seat against column seat
    boards: Floats  # (M,) how often it was seen

    @classmethod
    def read(cls, tallies: Tallies, place: Mapping[int, int]) -> list[_Tables]:
        rows = sorted(tallies.tables.items())
        groups = []
        for k in sorted({len(ids) for (ids, _), _ in rows}):
            mine = [(ids, ranks, boards) for (ids, ranks), boards in rows if len(ids) == k]
            seats = np.array([[place[bot] for bot in ids] for ids, _, _ in mine], dtype=np.int64)
            ranks = np.array([ranks for _, ranks, _ in mine], dtype=np.int64)
            points = (np.sign(ranks[:, None, :] - ranks[:, :, None]) + 1) / 2
            groups.append(cls(seats, points, np.array([boards for _, _, boards in mine], dtype=np.float64)))
        return groups

    def _chances(self, theta: Floats) -> tuple[Floats, Floats]:
        """(M, k, k) chances of row seat against column seat, and the pair weight 2 / k, 0 on the diagonal."""
        k = self.seats.shape[1]
        strength = theta[self.seats]
        return _logistic(strength[:, :, None] - strength[:, None, :]), (1 - np.eye(k)) * 2 / k

    def _cells(self, count: int) -> Ints:
        cells: Ints = (self.seats[:, :, None] * count + self.seats[:, None, :]).ravel()
        return cells

    def _scores(self, theta: Floats) -> Floats:
        """(M, k) gradient of one board of each row by the strength of each seat."""
        p, weight = self._chances(theta)
        scores: Floats = ((self.points - p) * weight).sum(axis=2)
        return scores

    def gradient_and_information(self, theta: Floats, gradient: Floats, information: Floats) -> None:
        """Add this group's share to both, in place."""
        count = len(theta)
        p, weight = self._chances(theta)
        scores = self._scores(theta) * self.boards[:, None]
        gradient += np.bincount(self.seats.ravel(), scores.ravel(), count)
        curve = p * (1 - p) * weight * self.boards[:, None, None]
        information -= np.bincount(self._cells(count), curve.ravel(), count * count).reshape(count, count)
        information[np.diag_indices(count)] += np.bincount(self.seats.ravel(), curve.sum(axis=2).ravel(), count)

    def meat(self, theta: Floats, meat: Floats) -> None:
        """Add the sum over boards of g g', in place."""
        count = len(theta)
        scores = self._scores(theta)
        outer = scores[:, :, None] * scores[:, None, :] * self.boards[:, None, None]
        meat += np.bincount(self._cells(count), outer.ravel(), count * count).reshape(count, count)


def _logistic(x: Floats) -> Floats:
    chance: Floats = 1 / (1 + np.exp(-x))
    return chance
