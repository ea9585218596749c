"""Bradley-Terry strengths from board results, with realistic error bars.

Model: on a board, a beats b with probability p = 1 / (1 + exp(theta_b - theta_a)). A draw is half a win. The robust covariance allows for the
smaller variance of draws, so no draw parameter is needed. Quasi-likelihood:

maximise sum w [y log p + (1 - y) log(1 - p)] y in {0, 1/2, 1}

The strength of a side is the mean of its members' strengths. A table of k individual seats gives all k (k - 1) / 2 pairs of its ranking, with
weight w = 2 / k; its board is one cluster.

To keep an unbeaten bot finite, each bot has one additional *even board*: a draw against the opponents that it met, in proportion to its boards with
them. It pulls a bot towards its opponents, and not towards the middle of the field. If neighbours meet only neighbours, as in every ladder, a prior
around the middle would compress the whole field, and no interval would show that.

Boards compare only bots that chains of meetings connect. Every such *group* has mean 0, with standard deviation GROUP_SD.

Sources: Bradley and Terry 1952; Hunter 2004 (existence of the maximum); Liang and Zeger 1986 (cluster-robust covariance H^-1 M H^-1, M = sum over
boards of g g').
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from league.pure.rating.tallies import Ints, Tallies

Floats: TypeAlias = NDArray[np.float64]

REVISION = (
    2  # Revision of the rating model. It grows when the same boards give other numbers (docs/ratings.md, "Revisions").
)
EVEN_BOARDS = 1.0  # Drawn boards added to each bot. 10-0 between two bots becomes 11-1: 417 Elo instead of infinity.
# Logits; 347 Elo. The prior's standard deviation of a bot without boards, and of the distance between groups that never met.
GROUP_SD = 2.0
STEP = 2.0  # The longest Newton step of a strength, in logits.
CLOSE = 1e-11  # A shorter step ends the search.
MOST_STEPS = 200
_NOBODY = (np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros(0))
PSEUDO_BOARDS = 8  # Even boards that keep the dispersion near 1 while there are few boards.


@dataclass(frozen=True, slots=True)
class Fit:
    """Strengths and covariances, all in logits, in the order of `bots` (ids, ascending)."""

    bots: tuple[int, ...]
    theta: Floats  # (N,)
    naive: Floats  # (N, N): inverse of the information, as if the model were exact.
    robust: Floats  # (N, N): cluster-robust over boards.
    dispersion: float  # Observed over modelled variance of a board result, at most 1; small if most boards are drawn.

    def sd(self, contrast: Floats) -> float:
        """Return the standard deviation of `contrast @ theta`: the robust one, but at least the modelled one scaled by the dispersion.

        Without that floor a bot that never loses would get an error bar near zero, because all its residuals are zero.
        """
        robust = float(contrast @ self.robust @ contrast)
        floor = self.dispersion * float(contrast @ self.naive @ contrast)
        return float(np.sqrt(max(robust, floor, 0.0)))

    def sd_of_differences(self) -> Floats:
        """Return (N, N) standard deviations of theta_i - theta_j, with the floor of `sd`."""
        sds: Floats = np.sqrt(np.maximum(_difference(self.robust), self.dispersion * _difference(self.naive)))
        return sds

    def sd_from_mean(self, members: Floats) -> Floats:
        """Return (N,) standard deviations of theta_i minus the mean of the `members` (N,; 1 or 0), with the floor of `sd`."""
        share = members / members.sum()
        sds: Floats = np.sqrt(
            np.maximum(_from_mean(self.robust, share), self.dispersion * _from_mean(self.naive, share))
        )
        return sds


def fit(
    tallies: Tallies,
    *,
    start: Mapping[int, float] | None = None,
    even_boards: float = EVEN_BOARDS,
    prior_sd: float | None = None,
) -> Fit:
    """Return the maximum for the boards in `tallies`; empty arrays without boards. `start` (strengths by id) only saves time.

    `prior_sd` (logits) puts a normal prior on every bot instead of even boards and groups, as in the first revision. `even_boards` 0 is plain
    maximum likelihood, which may have no maximum. Raise ArithmeticError if Newton's method does not converge.
    """
    bots = tuple(tallies.ids.tolist())
    count = len(bots)
    theta = np.array([(start or {}).get(bot, 0.0) for bot in bots], dtype=np.float64)
    if not count:
        return Fit(bots, theta, np.zeros((0, 0)), np.zeros((0, 0)), 1.0)
    played = Boards.read(tallies, 0.0 if prior_sd else even_boards)
    boards, even = played.parts, played.even
    hold = _Prior(prior_sd, count) if prior_sd else _Groups(connected(tallies.met()))
    theta = hold.start(theta)
    for _ in range(MOST_STEPS):
        gradient, information = np.zeros(count), np.zeros((count, count))
        for part in (*boards, even):
            part.gradient_and_information(theta, gradient, information)
        step = np.linalg.solve(_closed(information) + hold.information, hold.gradient(gradient, theta))
        move = np.clip(step, -STEP, STEP)
        theta = theta + move
        if np.abs(move).max() < CLOSE:
            break
    else:
        raise ArithmeticError(f"the ratings of {count} bots did not settle in {MOST_STEPS} steps")
    information, meat = np.zeros((count, count)), np.zeros((count, count))
    for part in boards:
        part.gradient_and_information(theta, np.zeros(count), information)
        part.meat(theta, meat)
    dispersion = played.dispersion(theta)
    even.gradient_and_information(theta, np.zeros(count), information)
    even.meat(theta, meat)
    inverse: Floats = np.linalg.inv(_closed(information) + hold.information).astype(np.float64)
    return Fit(bots, hold.start(theta), inverse + hold.beyond, inverse @ _closed(meat) @ inverse, dispersion)


class _Groups:
    """The means of the groups, which boards cannot determine: they are fixed at 0, and their prior variance is added at the end."""

    def __init__(self, same: NDArray[np.bool_]) -> None:
        # Each row averages over the bot's group; the boards contribute nothing to that mean.
        self.information: Floats = same / same.sum(axis=1)
        self.beyond: Floats = same * GROUP_SD**2 - self.information

    def start(self, theta: Floats) -> Floats:
        """Centre every group at 0."""
        centred: Floats = theta - self.information @ theta
        return centred

    def gradient(self, gradient: Floats, theta: Floats) -> Floats:
        """Reset means that only differ from zero by rounding."""
        rest: Floats = gradient - self.information @ (gradient + theta)
        return rest


class _Prior:
    """A normal prior around 0 for every bot."""

    def __init__(self, sd: float, count: int) -> None:
        self.sd = sd
        self.information: Floats = np.eye(count) / sd**2
        self.beyond = 0.0

    def start(self, theta: Floats) -> Floats:
        """Return the strengths unchanged."""
        return theta

    def gradient(self, gradient: Floats, theta: Floats) -> Floats:
        """Remove the mean, which boards cannot determine, so that rounding errors do not move it."""
        rest: Floats = gradient - gradient.mean() - theta / self.sd**2
        return rest


def connected(met: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return (N, N) True where chains of meetings connect two bots; each bot is connected with itself. `met`: (N, N) direct meetings."""
    connection = np.zeros_like(met)
    visited = np.zeros(len(met), dtype=bool)
    for first in range(len(met)):
        if not visited[first]:
            group = np.zeros(len(met), dtype=bool)
            fresh = group.copy()
            fresh[first] = True
            while fresh.any():
                group |= fresh
                fresh = met[fresh].any(axis=0) & ~group
            visited |= group
            connection[np.ix_(group, group)] = True
    return connection


def _difference(covariance: Floats) -> Floats:
    variance = np.diag(covariance)
    squares: Floats = np.maximum(variance[:, None] + variance[None, :] - 2 * covariance, 0.0)
    return squares


def _from_mean(covariance: Floats, share: Floats) -> Floats:
    with_mean = covariance @ share
    squares: Floats = np.maximum(np.diag(covariance) - 2 * with_mean + share @ with_mean, 0.0)
    return squares


@dataclass(frozen=True, slots=True)
class Sides:
    """Two-sided boards, one row per unordered pair of sides of m members."""

    members: Ints  # (P, 2m): places of the bots, first side first.
    share: Floats  # (2m,): weight of each member in theta_first - theta_second, 1/m or -1/m.
    boards: Floats
    points: Floats  # Board points of the first side.
    squares: Floats

    @classmethod
    def read(cls, tallies: Tallies, m: int) -> Sides:
        """Read the rows of `tallies` whose sides have `m` members."""
        rows = tallies.sides[m]
        wins, draws = rows[:, -3].astype(np.float64), rows[:, -2].astype(np.float64)
        return cls(
            tallies.places(rows[:, : 2 * m]),
            np.repeat([1 / m, -1 / m], m),
            wins + draws + rows[:, -1],
            wins + draws / 2,
            wins + draws / 4,
        )

    def opponents(self) -> Iterator[tuple[Ints, Ints, Floats]]:
        """Yield two columns of opponents, and weights by which a board gives each of its members the same information."""
        m = len(self.share) // 2
        for a, b in product(range(m), range(m, 2 * m)):
            yield self.members[:, a], self.members[:, b], self.boards / m**3

    def pairs(self) -> Iterator[tuple[Ints, Ints, Floats, Floats]]:
        """Yield pairs, see `Boards`; none if a side has several members."""
        if len(self.share) == 2:
            yield self.members[:, 0], self.members[:, 1], self.boards, self.points

    def scores(self, theta: Floats) -> tuple[Ints, Floats]:
        """Return gradients, see `Boards`."""
        p = self._chance(theta)
        spread = np.sqrt(np.maximum(self.squares - 2 * p * self.points + self.boards * p * p, 0.0))
        return self.members, spread[:, None] * self.share

    @property
    def ways(self) -> Ints:
        """Return (R,) zeros, because here no two rows have the same bots."""
        return np.zeros(len(self.members), dtype=np.int64)

    def information(self, theta: Floats) -> Iterator[tuple[Ints, Floats, Ints]]:
        """Yield rows like `Boards.scores`, with the information instead of the gradients."""
        p = self._chance(theta)
        yield self.members, np.sqrt(self.boards * p * (1 - p))[:, None] * self.share, self.ways

    def trace(self, theta: Floats) -> float:
        """Return the trace of the information."""
        p = self._chance(theta)
        return float((self.boards * p * (1 - p)).sum() * (self.share @ self.share))

    def _chance(self, theta: Floats) -> Floats:
        return logistic(theta[self.members] @ self.share)

    def gradient_and_information(self, theta: Floats, gradient: Floats, information: Floats) -> None:
        """Add this group's share to `gradient` and `information` in place. The diagonal of `information` is left to `_closed`."""
        p = self._chance(theta)
        rest = self.points - self.boards * p
        for column, share in zip(self.members.T, self.share, strict=True):
            gradient += share * np.bincount(column, rest, len(theta))
        self._add(information, self.boards * p * (1 - p))

    def meat(self, theta: Floats, meat: Floats) -> None:
        """Add the sum over boards of g g' in place: (y - p)^2 in the members' block."""
        p = self._chance(theta)
        self._add(meat, self.squares - 2 * p * self.points + self.boards * p * p)

    def _add(self, matrix: Floats, weight: Floats) -> None:
        """Add weight * x x' for every row; x holds the shares of its members."""
        for a, b in combinations(range(len(self.share)), 2):
            _add_cells(matrix, self.members[:, a], self.members[:, b], self.share[a] * self.share[b] * weight)


def _add_cells(matrix: Floats, i: Ints, j: Ints, weight: Floats) -> None:
    """Add `weight` to the cells (i, j); `_closed` completes the matrix."""
    count = len(matrix)
    matrix += np.bincount(i * count + j, weight, count * count).reshape(count, count)


def _closed(cells: Floats) -> Floats:
    """Return the symmetric matrix with these cells beside its diagonal and zero row sums, as for sums of x x' where every x sums to zero."""
    matrix: Floats = cells + cells.T
    matrix[np.diag_indices(len(matrix))] = -matrix.sum(axis=1)
    return matrix


@dataclass(frozen=True, slots=True)
class RankedTables:
    """Boards of k individual seats, one row per distinct ranking of a table. Seats are columns, and pairs of seats are processed one by one."""

    seats: tuple[Ints, ...]  # k columns (M,): places of the bots.
    points: dict[tuple[int, int], Floats]  # (M,): 1, 1/2, 0 of the first seat of a pair against the second.
    boards: Floats  # (M,): how often it occurred.

    @classmethod
    def read(cls, tallies: Tallies, k: int) -> RankedTables:
        """Read the rows of `tallies` for tables of `k` seats."""
        rows = tallies.tables[k]
        seats = tuple(tallies.places(rows[:, seat]) for seat in range(k))
        points = {(s, t): (np.sign(rows[:, k + t] - rows[:, k + s]) + 1) / 2 for s, t in combinations(range(k), 2)}
        return cls(seats, points, rows[:, -1].astype(np.float64))

    @property
    def _weight(self) -> float:
        return 2 / len(self.seats)

    def opponents(self) -> Iterator[tuple[Ints, Ints, Floats]]:
        """Yield columns of opponents, and the weights of their boards."""
        for s, t in self.points:
            yield self.seats[s], self.seats[t], self._weight * self.boards

    def pairs(self) -> Iterator[tuple[Ints, Ints, Floats, Floats]]:
        """Yield pairs, see `Boards`."""
        weight = self._weight * self.boards
        for (s, t), points in self.points.items():
            yield self.seats[s], self.seats[t], weight, weight * points

    def scores(self, theta: Floats) -> tuple[Ints, Floats]:
        """Return gradients, see `Boards`."""
        gradients = np.zeros((len(self.boards), len(self.seats)))
        for (s, t), points in self.points.items():
            rest = (points - self._chance(theta, s, t)) * self._weight
            gradients[:, s] += rest
            gradients[:, t] -= rest
        return np.stack(self.seats, axis=1), gradients * np.sqrt(self.boards)[:, None]

    def information(self, theta: Floats) -> Iterator[tuple[Ints, Floats, Ints]]:
        """Yield rows like `Boards.scores`, with the information instead of the gradients."""
        for number, (s, t) in enumerate(self.points):
            p = self._chance(theta, s, t)
            curve = np.sqrt(self._weight * self.boards * p * (1 - p))
            yield (
                np.stack([self.seats[s], self.seats[t]], axis=1),
                np.stack([curve, -curve], axis=1),
                16 * self.ways + number,
            )

    @property
    def ways(self) -> Ints:
        """Return (R,) a number for the order in which the same bots finished."""
        number = np.zeros(len(self.boards), dtype=np.int64)
        for points in self.points.values():
            number = 3 * number + (2 * points).astype(np.int64)
        return number

    def trace(self, theta: Floats) -> float:
        """Return the trace of the information."""
        chances = (self._chance(theta, s, t) for s, t in self.points)
        return sum(float((2 * self._weight * self.boards * p * (1 - p)).sum()) for p in chances)

    def _chance(self, theta: Floats, s: int, t: int) -> Floats:
        return logistic(theta[self.seats[s]] - theta[self.seats[t]])

    def gradient_and_information(self, theta: Floats, gradient: Floats, information: Floats) -> None:
        """Add this group's share to `gradient` and `information` in place. The diagonal of `information` is left to `_closed`."""
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
        """Add the sum over boards of g g' in place; g is the gradient of one board by the strengths of its seats."""
        scores = [np.zeros(len(self.boards)) for _ in self.seats]
        for (s, t), points in self.points.items():
            rest = (points - self._chance(theta, s, t)) * self._weight
            scores[s] += rest
            scores[t] -= rest
        for s, t in self.points:
            _add_cells(meat, self.seats[s], self.seats[t], scores[s] * scores[t] * self.boards)


@dataclass(frozen=True, slots=True)
class _Even:
    """The even boards: drawn comparisons of two bots, each with a weight."""

    first: Ints
    second: Ints
    weight: Floats
    several: bool  # True if two bots may have several rows.

    @classmethod
    def read(cls, parts: Sequence[Sides | RankedTables], boards: Floats, even_boards: float) -> _Even:
        """Give each bot `even_boards` average boards, drawn. `boards`: (N,) boards of each bot."""
        met = [columns for part in parts for columns in part.opponents()] or [_NOBODY]
        first, second, weight = (np.concatenate(column) for column in zip(*met, strict=True))
        several = any(isinstance(part, RankedTables) or len(part.share) > 2 for part in parts)
        return cls(first, second, even_boards * weight * (1 / boards[first] + 1 / boards[second]), several)

    @property
    def ways(self) -> Ints:
        """Return (R,) a number that distinguishes the rows of the same bots; tables have one row for each ranking and pair."""
        return np.arange(len(self.first)) if self.several else np.zeros(len(self.first), dtype=np.int64)

    def information(self, theta: Floats) -> Iterator[tuple[Ints, Floats, Ints]]:
        """Yield rows like `Boards.scores`, with the information instead of the gradients."""
        p = logistic(theta[self.first] - theta[self.second])
        curve = np.sqrt(self.weight * p * (1 - p))
        yield np.stack([self.first, self.second], axis=1), np.stack([curve, -curve], axis=1), self.ways

    def scores(self, theta: Floats) -> tuple[Ints, Floats]:
        """Return gradients, see `Boards`."""
        pull = np.sqrt(self.weight) * (0.5 - logistic(theta[self.first] - theta[self.second]))
        return np.stack([self.first, self.second], axis=1), np.stack([pull, -pull], axis=1)

    def gradient_and_information(self, theta: Floats, gradient: Floats, information: Floats) -> None:
        """Add the share of the even boards, like `Sides`."""
        p = logistic(theta[self.first] - theta[self.second])
        rest = self.weight * (0.5 - p)
        gradient += np.bincount(self.first, rest, len(theta)) - np.bincount(self.second, rest, len(theta))
        _add_cells(information, self.first, self.second, -self.weight * p * (1 - p))

    def meat(self, theta: Floats, meat: Floats) -> None:
        """Add g g', like `Sides`: the even board pulls a bot towards its opponents, and the stronger the pull, the wider its interval."""
        p = logistic(theta[self.first] - theta[self.second])
        _add_cells(meat, self.first, self.second, -self.weight * (0.5 - p) ** 2)


@dataclass(frozen=True, slots=True)
class Boards:
    """All comparisons that a fit uses."""

    parts: Sequence[Sides | RankedTables]
    even: _Even

    @classmethod
    def read(cls, tallies: Tallies, even_boards: float = EVEN_BOARDS) -> Boards:
        """Read the boards of `tallies`, with `even_boards` even boards for each bot."""
        parts: list[Sides | RankedTables] = [Sides.read(tallies, m) for m in sorted(tallies.sides)]
        parts += [RankedTables.read(tallies, k) for k in sorted(tallies.tables)]
        return cls(parts, _Even.read(parts, tallies.totals[:, 1].astype(np.float64), even_boards))

    def pairs(self) -> Iterator[tuple[Ints, Ints, Floats, Floats]]:
        """Yield comparisons of two bots: columns of the first and the second, weights, points of the first."""
        for part in self.parts:
            yield from part.pairs()
        yield self.even.first, self.even.second, self.even.weight, self.even.weight / 2

    def scores(self, theta: Floats) -> Iterator[tuple[Ints, Floats, Ints]]:
        """Yield gradients: columns (R, c) of bots, numbers (R, c) and row keys (R,).

        The squares of the numbers add up to the sum over boards of g g'. Row keys distinguish rows of the same bots.
        """
        for kind, part in enumerate((*self.parts, self.even), 1):
            columns, numbers = part.scores(theta)
            yield columns, numbers, part.ways * 8 + kind

    def dispersion(self, theta: Floats) -> float:
        """Return observed over modelled variance of a board result, at most 1."""
        meat = information = PSEUDO_BOARDS / 2  # The trace of the information of one even board is 2 * 1/4.
        for part in self.parts:
            meat += float(np.square(part.scores(theta)[1]).sum())
            information += part.trace(theta)
        return min(1.0, meat / information)


def logistic(x: Floats) -> Floats:
    """Return 1 / (1 + e^-x)."""
    chance: Floats = 1 / (1 + np.exp(-x))
    return chance
