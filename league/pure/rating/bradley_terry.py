"""Bradley-Terry strengths from board results, with honest error bars.

Model: on a board, a beats b with probability p = 1 / (1 + exp(theta_b - theta_a)); a draw is half a win (its smaller variance is
left to the robust covariance, so that no draw parameter is needed). Quasi-likelihood with a weak normal prior:

    maximise  sum w [y log p + (1 - y) log(1 - p)]  -  sum theta^2 / (2 * 2^2)        y in {0, 1/2, 1}

The strength of a side is the mean of its members'. A table of k individual seats gives all k (k - 1) / 2 pairs of its ranking with the
weight w = 2 / k; its board is one cluster.

Sources: Bradley and Terry 1952; Hunter 2004 (existence of the maximum); Liang and Zeger 1986 (cluster-robust covariance
H^-1 M H^-1, M = sum over boards of g g').
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from league.pure.rating.tallies import Ints, Tallies

Floats: TypeAlias = NDArray[np.float64]

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
    bots = tuple(tallies.ids.tolist())
    count = len(bots)
    groups: list[_Sides | _Tables] = [_Sides.read(tallies, m) for m in sorted(tallies.sides)]
    groups += [_Tables.read(tallies, k) for k in sorted(tallies.tables)]
    theta = np.array([(start or {}).get(bot, 0.0) for bot in bots], dtype=np.float64)
    if not count:
        return Fit(bots, theta, np.zeros((0, 0)), np.zeros((0, 0)), 1.0)
    prior = np.eye(count) / prior_sd**2
    for _ in range(MOST_STEPS):
        gradient, information = np.zeros(count), np.zeros((count, count))
        for group in groups:
            group.gradient_and_information(theta, gradient, information)
        gradient -= gradient.mean()  # boards say nothing about the mean; what rounding says would move it
        step = np.linalg.solve(_closed(information) + prior, gradient - theta / prior_sd**2)
        move = np.clip(step, -STEP, STEP)
        theta = theta + move
        if np.abs(move).max() < CLOSE:
            break
    else:
        raise ArithmeticError(f"the ratings of {count} bots did not settle in {MOST_STEPS} steps")
    information, meat = np.zeros((count, count)), np.zeros((count, count))
    for group in groups:
        group.gradient_and_information(theta, np.zeros(count), information)
        group.meat(theta, meat)
    information, meat = _closed(information), _closed(meat)
    slack = PSEUDO_BOARDS / 2  # trace of the information of one even board is 2 * 1/4
    dispersion = min(1.0, float((np.trace(meat) + slack) / (np.trace(information) + slack)))
    naive: Floats = np.linalg.inv(information + prior).astype(np.float64)
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
class _Sides:
    """Two-sided boards, one row per unordered pair of sides of m members."""

    members: Ints  # (P, 2m) places of the bots, the first side first
    share: Floats  # (2m,) of each member in theta_first - theta_second: 1/m or -1/m
    boards: Floats
    points: Floats  # of the first side
    squares: Floats

    @classmethod
    def read(cls, tallies: Tallies, m: int) -> _Sides:
        rows = tallies.sides[m]
        wins, draws = rows[:, -3].astype(np.float64), rows[:, -2].astype(np.float64)
        return cls(
            np.searchsorted(tallies.ids, rows[:, : 2 * m]),
            np.repeat([1 / m, -1 / m], m),
            wins + draws + rows[:, -1],
            wins + draws / 2,
            wins + draws / 4,
        )

    def _chance(self, theta: Floats) -> Floats:
        return _logistic(theta[self.members] @ self.share)

    def gradient_and_information(self, theta: Floats, gradient: Floats, information: Floats) -> None:
        """Add this group's share to both, in place; of the information the cells beside the diagonal (`_closed`)."""
        p = self._chance(theta)
        rest = self.points - self.boards * p
        for column, share in zip(self.members.T, self.share, strict=True):
            gradient += share * np.bincount(column, rest, len(theta))
        self._add(information, self.boards * p * (1 - p))

    def meat(self, theta: Floats, meat: Floats) -> None:
        """Add the sum over boards of g g', in place: (y - p)^2 on the members' block."""
        p = self._chance(theta)
        self._add(meat, self.squares - 2 * p * self.points + self.boards * p * p)

    def _add(self, matrix: Floats, weight: Floats) -> None:
        """Add weight * x x' for every row, where x holds the shares of its members."""
        for a, b in combinations(range(len(self.share)), 2):
            _add_cells(matrix, self.members[:, a], self.members[:, b], self.share[a] * self.share[b] * weight)


def _add_cells(matrix: Floats, i: Ints, j: Ints, weight: Floats) -> None:
    """Add `weight` to the cells (i, j); `_closed` adds the rest."""
    count = len(matrix)
    matrix += np.bincount(i * count + j, weight, count * count).reshape(count, count)


def _closed(cells: Floats) -> Floats:
    """The symmetric matrix with these cells beside its diagonal and rows that sum to zero: sums of x x' where every x sums to zero."""
    matrix: Floats = cells + cells.T
    matrix[np.diag_indices(len(matrix))] = -matrix.sum(axis=1)
    return matrix


@dataclass(frozen=True, slots=True)
class _Tables:
    """Boards of k individual seats, one row per different ranking of a table. Seats are columns, pairs of seats are taken one by one."""

    seats: tuple[Ints, ...]  # k columns (M,): places of the bots
    points: dict[tuple[int, int], Floats]  # (M,) 1, 1/2, 0 of the first seat of a pair against the second
    boards: Floats  # (M,) how often it was seen

    @classmethod
    def read(cls, tallies: Tallies, k: int) -> _Tables:
        rows = tallies.tables[k]
        seats = tuple(np.searchsorted(tallies.ids, rows[:, seat]) for seat in range(k))
        points = {(s, t): (np.sign(rows[:, k + t] - rows[:, k + s]) + 1) / 2 for s, t in combinations(range(k), 2)}
        return cls(seats, points, rows[:, -1].astype(np.float64))

    @property
    def _weight(self) -> float:
        return 2 / len(self.seats)

    def _chance(self, theta: Floats, s: int, t: int) -> Floats:
        return _logistic(theta[self.seats[s]] - theta[self.seats[t]])

    def gradient_and_information(self, theta: Floats, gradient: Floats, information: Floats) -> None:
        """Add this group's share to both, in place; of the information the cells beside the diagonal (`_closed`)."""
        scores = [np.zeros(len(self.boards)) for _ in self.seats]
        for (s, t), points in self.points.items():
            p = self._chance(theta, s, t)
            rest = (points - p) * self._weight * self.boards
            curve = p * (1 - p) * self._weight * self.boards
            scores[s] += rest
            scores[t] -= rest
            _add_cells(information, self.seats[s], self.seats[t], -curve)
        for seat, score in zip(self.seats, scores, strict=True):
            gradient += np.bincount(seat, score, len(theta))

    def meat(self, theta: Floats, meat: Floats) -> None:
        """Add the sum over boards of g g', in place; g is the gradient of one board by the strengths of its seats."""
        scores = [np.zeros(len(self.boards)) for _ in self.seats]
        for (s, t), points in self.points.items():
            rest = (points - self._chance(theta, s, t)) * self._weight
            scores[s] += rest
            scores[t] -= rest
        for s, t in self.points:
            _add_cells(meat, self.seats[s], self.seats[t], scores[s] * scores[t] * self.boards)


def _logistic(x: Floats) -> Floats:
    chance: Floats = 1 / (1 + np.exp(-x))
    return chance
