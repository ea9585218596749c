"""The fit of a large pool without any (N, N) matrix: strengths as exact as in `bradley_terry.fit`, and estimated ("sketched") standard errors.

Strengths: Newton's method, each step by conjugate gradients (Hestenes and Stiefel 1952) with the diagonal as preconditioner. Standard errors: with
random signs e, the columns H^-1 G' e have covariance H^-1 M H^-1 (Hutchinson 1990); the diagonal of H alone, with known variances, is the control
variate. The signs depend only on the rows, so the same boards give the same errors, and one match changes them little. Sparse products use scipy:
with numpy's bincount they take six times as long, and a sketch ten times.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from league.pure.portable import comparable
from league.pure.rating.bradley_terry import CLOSE, GROUP_SD, MOST_STEPS, STEP, Boards, Floats, Sides, logistic
from league.pure.rating.tallies import Ints, Tallies

SIGNS = 128  # Columns of a sketch: standard errors within 8% of the exact ones at p99.
TOLERANCE = 1e-4  # Relative error of the solutions of a sketch.
MOST_PRODUCTS = 3000
CHUNK = 50_000  # Rows whose signs are drawn together.
BLOCK = 500  # Rows of the pairs compared together.
GRID = 50  # Points per logit.


@dataclass(frozen=True, slots=True)
class Sketch:
    """Strengths and sketched covariances in logits, in the order of `bots` (ids, ascending). It has the interface of `Fit`, for many bots."""

    bots: tuple[int, ...]
    theta: Floats  # (N,)
    group: Ints  # (N,): number of the group of bots connected by chains of meetings.
    naive: _Columns
    robust: _Columns
    dispersion: float

    def variances(self) -> Floats:
        """Return (N,) the variance of each strength with all others fixed, from its own boards alone."""
        return np.maximum(self.robust.exact, self.dispersion * self.naive.exact)

    def sd_from_mean(self, members: Floats) -> Floats:
        """Return (N,) standard deviations of theta_i minus the mean of the `members` (N,; 1 or 0), who belong to one group."""
        own = self.group == self.group[int(members.argmax())]
        beyond = np.where(own, 0.0, 2 * GROUP_SD**2)
        return self._sd(self.robust.from_mean(members), self.naive.from_mean(members) + beyond)

    def sd_of_pairs(self, a: Ints, b: Ints) -> Floats:
        """Return standard deviations of theta_a - theta_b, pair by pair."""
        beyond = np.where(self.group[a] == self.group[b], 0.0, 2 * GROUP_SD**2)
        return self._sd(self.robust.of_pairs(a, b), self.naive.of_pairs(a, b) + beyond)

    def sure(self, members: Ints, ratio: float, rows: Ints | None = None) -> tuple[Ints, Ints]:
        """Count the `members` (places) above, and below, each bot (of `rows`) by more than `ratio` standard deviations.

        The standard deviation of a difference is at most the sum of the two deviations from the mean. Pairs that are farther apart than `ratio`
        times this sum need no exact computation; those are most pairs.
        """
        rows = np.arange(len(self.bots)) if rows is None else rows
        reach = ratio * self.sd_from_mean((self.group == np.bincount(self.group).argmax()).astype(np.float64))
        theta = comparable(self.theta)
        low, high = theta - reach, theta + reach
        ends, begins = np.sort(high[members]), np.sort(low[members])
        above, below = np.zeros(len(rows), dtype=np.int64), np.zeros(len(rows), dtype=np.int64)
        # Newcomers have a wide reach and come last, so that most pairs of the others can still be skipped.
        wide = reach[rows] > 3 * np.median(reach)
        order = np.lexsort([theta[rows], wide])
        for start in range(0, len(rows), BLOCK):
            block = order[start : start + BLOCK]
            here = rows[block]
            bottom, top = low[here].min(), high[here].max()
            near = members[(high[members] >= bottom) & (low[members] <= top)]
            above[block] = len(members) - np.searchsorted(begins, top, "right")
            below[block] = np.searchsorted(ends, bottom)
            sd = np.sqrt(self._variances(here, near))
            apart = (theta[near][None, :] - theta[here][:, None]).astype(np.float32)
            sd *= np.float32(ratio)
            above[block] += (apart > sd).sum(axis=1)
            below[block] += (apart < -sd).sum(axis=1)
        return above, below

    def _variances(self, a: Ints, b: Ints) -> Any:
        """Return (A, B) variances of the differences of these bots, in 32 bits."""
        naive = self.naive.between(a, b)
        if self.group.any():
            naive += np.where(self.group[a][:, None] == self.group[b][None, :], 0.0, 2 * GROUP_SD**2).astype(np.float32)
        naive *= np.float32(self.dispersion)
        return np.maximum(naive, self.robust.between(a, b), out=naive)

    def field_scores(self, members: Floats) -> tuple[Floats, Floats]:
        """Return scores like `leaderboard.field_scores`; the strength of the whole field counts as known, which is nearly true of a large field.

        The score against the whole field is a smooth function of the strength: it is computed at GRID points per logit and interpolated by
        Hermite's cubic (to 1e-10).
        """
        from scipy.interpolate import CubicHermiteSpline

        steps = np.arange(np.floor(GRID * self.theta.min()), np.ceil(GRID * self.theta.max()) + 2) / GRID
        score, slope, bend = np.zeros(len(steps)), np.zeros(len(steps)), np.zeros(len(steps))
        field = self.theta[members > 0]
        for start in range(0, len(steps), BLOCK):
            rows = slice(start, start + BLOCK)
            chance = logistic(steps[rows, None] - field[None, :])
            tangent = chance * (1 - chance)
            score[rows], slope[rows] = chance.sum(axis=1), tangent.sum(axis=1)
            bend[rows] = (tangent * (1 - 2 * chance)).sum(axis=1)
        count = np.maximum(members.sum() - members, 1.0)
        scores: Floats = (CubicHermiteSpline(steps, score, slope)(self.theta) - members / 2) / count
        tangents: Floats = (CubicHermiteSpline(steps, slope, bend)(self.theta) - members / 4) / count
        return scores, tangents * self.sd_from_mean(members)

    def _sd(self, robust: Floats, naive: Floats) -> Floats:
        sd: Floats = np.sqrt(np.maximum(np.maximum(robust, self.dispersion * naive), 0.0))
        return sd


@dataclass(frozen=True, slots=True)
class _Columns:
    """Columns with the covariance of the strengths, and each bot's variance."""

    columns: Any  # (N, SIGNS): 32-bit floats.
    near: Any  # (N, SIGNS): the same from the diagonal alone.
    exact: Floats  # (N,): variance from the diagonal alone, exact.

    def from_mean(self, members: Floats) -> Floats:
        share = (members / members.sum()).astype(np.float32)
        apart = self.columns - share @ self.columns
        return self._corrected(np.square(apart).mean(axis=1), np.square(self.near).mean(axis=1), self.exact)

    def of_pairs(self, a: Ints, b: Ints) -> Floats:
        apart, near = self.columns[a] - self.columns[b], self.near[a] - self.near[b]
        return self._corrected(
            np.square(apart).mean(axis=1), np.square(near).mean(axis=1), self.exact[a] + self.exact[b]
        )

    def between(self, rows: Ints, members: Ints) -> Any:
        """Return (R, M) variances of differences, in 32 bits."""
        both, turned = (
            np.concatenate([self.columns, self.near], axis=1),
            np.concatenate([self.columns, -self.near], axis=1),
        )
        alone = (np.square(self.columns).mean(axis=1) - np.square(self.near).mean(axis=1) + self.exact).astype(
            np.float32
        )
        half_exact = (self.exact / 2).astype(np.float32)
        variances = both[rows] @ (turned[members].T * np.float32(-2 / self.columns.shape[1]))
        variances += alone[rows][:, None]
        variances += alone[members][None, :]
        return np.maximum(variances, half_exact[rows][:, None] + half_exact[members][None, :], out=variances)

    @staticmethod
    def _corrected(sketched: Any, near: Any, exact: Floats) -> Floats:
        variance: Floats = np.maximum(sketched - near + exact, exact / 2)
        return variance


def fit_large(
    tallies: Tallies,
    *,
    start: Mapping[int, float] | None = None,
    errors: bool = True,
    rough: bool = False,
    close: float = CLOSE,
) -> Sketch:
    """Fit the strengths of `bradley_terry.fit`, to the last digits of Elo, with sketched errors. Raise ArithmeticError if it does not converge.

    Without boards the arrays are empty. Without `errors` there are no errors, or `rough` ones from `Sketch.variances` alone.

    `close` (logits): a step shorter than this ends the search; the strengths are then about that close to the maximum.
    """
    from scipy.sparse.csgraph import connected_components

    bots = tuple(tallies.ids.tolist())
    if not bots:
        nobody = _Columns(np.zeros((0, 1), np.float32), np.zeros((0, 1), np.float32), np.zeros(0))
        return Sketch(bots, np.zeros(0), np.zeros(0, dtype=np.int64), nobody, nobody, 1.0)
    boards = Boards.read(tallies)
    played = _Comparisons.read(boards, len(bots))
    count, group = connected_components(played.met, directed=False)
    group = group.astype(np.int64)
    theta = np.array([(start or {}).get(bot, 0.0) for bot in bots], dtype=np.float64)
    size = np.bincount(group, minlength=count)

    def centred(values: Floats) -> Floats:
        centred_values: Floats = values - (np.bincount(group, values, count) / size)[group]
        return centred_values

    theta = centred(theta)
    for _ in range(MOST_STEPS):
        gradient, product, diagonal = played.slopes(theta)
        gradient = centred(gradient)
        length = float(np.linalg.norm(gradient))
        move = np.clip(centred(_solve(product, gradient, diagonal, min(0.1, max(1e-9, length)))), -STEP, STEP)
        theta = theta + move
        if np.abs(move).max() < close:
            break
    else:
        raise ArithmeticError(f"the ratings of {len(bots)} bots did not settle in {MOST_STEPS} steps")
    theta = centred(theta)
    if not errors:
        nothing = np.zeros((len(bots), 1), np.float32)
        if not rough:
            none = _Columns(nothing, nothing, np.zeros(len(bots)))
            return Sketch(bots, theta, group, none, none, 1.0)
        diagonal = played.slopes(theta)[2]
        naive, robust = (
            _Columns(nothing, nothing, squares / diagonal**2) for squares in (diagonal, _squares(boards, theta))
        )
        return Sketch(bots, theta, group, naive, robust, boards.dispersion(theta))
    information = played.information(theta)
    diagonal = information.diagonal()
    both = (_signed(boards.scores(theta), tallies.ids), _signed(_naive(boards, theta), tallies.ids))
    solved = _solve_block(
        information.astype(np.float32), np.concatenate([signed for signed, _ in both], axis=1), diagonal
    )
    covariances = []
    for number, (signed, exact) in enumerate(both):
        columns = solved[:, number * SIGNS : (number + 1) * SIGNS]
        means = np.stack([np.bincount(group, column, count) for column in columns.T], axis=1) / size[:, None]
        near = (signed / diagonal[:, None]).astype(np.float32)
        covariances.append(_Columns((columns - means[group]).astype(np.float32), near, exact / diagonal**2))
    return Sketch(bots, theta, group, covariances[1], covariances[0], boards.dispersion(theta))


@dataclass(frozen=True, slots=True)
class _Comparisons:
    """The comparisons behind the strengths: pairs of bots, and larger sides as rows of `design` (R, N), which gives their difference."""

    count: int  # Number of bots.
    first: Ints  # (P,): distinct pairs, sorted, the smaller place first.
    second: Ints
    begin: Ints  # (N + 1,): where the pairs of each first bot begin.
    weight: Floats
    points: Floats  # Board points of the first bot.
    design: Any
    back: Any  # (N, R): its transpose.
    of_sides: tuple[Floats, Floats]  # Boards, and points of the first side.

    @classmethod
    def read(cls, boards: Boards, count: int) -> _Comparisons:
        """Read the comparisons of the boards, even ones included."""
        import scipy.sparse as sparse

        (only, *others), even = boards.parts, boards.even
        if not others and isinstance(only, Sides) and len(only.share) == 2:  # True for nearly every pool.
            first, second = only.members.T
            weight, points = only.boards + even.weight, only.points + even.weight / 2
        else:
            near_side, other, weights, got = (np.concatenate(columns) for columns in zip(*boards.pairs(), strict=True))
            turned = near_side > other
            keys, place = np.unique(
                np.where(turned, other, near_side) * count + np.where(turned, near_side, other), return_inverse=True
            )
            first, second = keys // count, keys % count
            weight = np.bincount(place, weights).astype(np.float64)
            points = np.bincount(place, np.where(turned, weights - got, got)).astype(np.float64)
        sides = [part for part in boards.parts if isinstance(part, Sides) and len(part.share) > 2]
        rows = [_rows(part.members, np.tile(part.share, (len(part.members), 1)), count) for part in sides]
        design = sparse.vstack(rows).tocsr() if rows else sparse.csr_matrix((0, count))
        nobody = np.zeros(0)
        return cls(
            count,
            np.ascontiguousarray(first),
            np.ascontiguousarray(second, dtype=np.int32),
            np.searchsorted(first, np.arange(count + 1)).astype(np.int32),
            weight,
            points,
            design,
            design.T.tocsr(),
            (
                np.concatenate([part.boards for part in sides] or [nobody]),
                np.concatenate([part.points for part in sides] or [nobody]),
            ),
        )

    @property
    def met(self) -> Any:
        """Return (N, N) True where two bots were compared. Even boards are between opponents only, so pairs are enough."""
        return self._upper(np.ones(len(self.first), np.int8))

    def _upper(self, values: Any) -> Any:
        import scipy.sparse as sparse

        return sparse.csr_matrix((values, self.second, self.begin), shape=(self.count, self.count))

    def _curves(self, theta: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """Return chances and information of pairs, then of sides."""
        p, q = logistic(theta[self.first] - theta[self.second]), logistic(self.design @ theta)
        return p, self.weight * p * (1 - p), q, self.of_sides[0] * q * (1 - q)

    def slopes(self, theta: Floats) -> tuple[Floats, Callable[[Floats], Floats], Floats]:
        """Return (N,) the gradient, the product of the information with a vector, and (N,) its diagonal."""
        p, curve, q, wide = self._curves(theta)
        rest = self.points - self.weight * p
        gradient = np.asarray(
            np.bincount(self.first, rest, self.count) - np.bincount(self.second, rest, self.count), float
        )
        diagonal = np.asarray(
            np.bincount(self.first, curve, self.count) + np.bincount(self.second, curve, self.count), float
        )
        upper = self._upper(curve)
        lower = upper.T

        def of_pairs(x: Floats) -> Floats:
            product: Floats = diagonal * x - upper @ x - lower @ x
            return product

        if not len(q):
            return gradient, of_pairs, diagonal

        def of_all(x: Floats) -> Floats:
            product: Floats = of_pairs(x) + self.back @ (wide * (self.design @ x))
            return product

        gradient += self.back @ (self.of_sides[1] - self.of_sides[0] * q)
        return gradient, of_all, diagonal + self.back.power(2) @ wide

    def information(self, theta: Floats) -> Any:
        """Return the information, (N, N) and sparse."""
        import scipy.sparse as sparse

        _, curve, _, wide = self._curves(theta)
        upper = self._upper(curve)
        cells = upper + upper.T
        matrix = sparse.diags(np.asarray(cells.sum(axis=1)).ravel()) - cells
        return (matrix + self.back.multiply(wide) @ self.design if len(wide) else matrix).tocsr()


def _squares(boards: Boards, theta: Floats) -> Floats:
    """Return (N,) sums of the squared gradients of the boards."""
    sums = np.zeros(len(theta))
    for columns, numbers, _ in boards.scores(theta):
        sums += np.bincount(columns.reshape(-1), np.square(numbers).reshape(-1), len(theta))
    return sums


def _rows(columns: Ints, numbers: Floats, count: int) -> Any:
    """Return a matrix (R, N) with these numbers (R, c) in these columns."""
    import scipy.sparse as sparse

    rows = np.repeat(np.arange(len(columns)), columns.shape[1])
    return sparse.csr_matrix((numbers.reshape(-1), (rows, columns.reshape(-1))), shape=(len(columns), count))


def _naive(boards: Boards, theta: Floats) -> Iterator[tuple[Ints, Floats, Ints]]:
    """Yield rows like `Boards.scores`, whose squares add up to the information."""
    for kind, part in enumerate((*boards.parts, boards.even), 9):
        yield from ((columns, numbers, ways * 32 + kind) for columns, numbers, ways in part.information(theta))


def _signed(parts: Iterable[tuple[Ints, Floats, Ints]], ids: Ints) -> tuple[Any, Floats]:
    """Return (N, SIGNS) the sum of all rows with random signs, and (N,) its variances. Later rows do not change the signs of earlier ones."""
    total, squares = np.zeros((len(ids), SIGNS), np.float32), np.zeros(len(ids))
    for columns, numbers, ways in parts:
        for start in range(0, len(columns), CHUNK):
            here = slice(start, start + CHUNK)
            matrix = _rows(columns[here], numbers[here].astype(np.float32), len(ids))
            total += matrix.T.tocsr() @ _signs(ids[columns[here]], ways[here])
            squares += np.bincount(columns[here].reshape(-1), np.square(numbers[here]).reshape(-1), len(ids))
    return total, squares


def _signs(bots: Ints, ways: Ints) -> Any:
    """Return (R, SIGNS) of 1 and -1, derived from the rows alone: splitmix64 (Steele, Lea and Flood 2014)."""
    seed = ways.astype(np.uint64)
    for column in bots.T:
        seed = _mixed(seed + column.astype(np.uint64))
    words = np.stack([_mixed(seed + np.uint64(word)) for word in range(1, SIGNS // 64 + 1)], axis=1)
    return np.unpackbits(words.view(np.uint8), axis=1).astype(np.float32) * 2 - 1


def _mixed(word: Any) -> Any:
    word = word + np.uint64(0x9E3779B97F4A7C15)
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return word ^ (word >> np.uint64(31))


def _solve(product: Any, right: Floats, diagonal: Floats, tolerance: float) -> Floats:
    """Solve by conjugate gradients."""
    solution, rest = np.zeros_like(right), right.copy()
    if not right.any():
        return solution
    z = rest / diagonal
    way, size = z.copy(), rest @ z
    goal = tolerance * np.linalg.norm(right)
    for _ in range(MOST_PRODUCTS):
        if np.linalg.norm(rest) <= goal:
            break
        y = product(way)
        step = size / (way @ y)
        solution += step * way
        rest -= step * y
        z = rest / diagonal
        size, before = rest @ z, size
        way = z + (size / before) * way
    return solution


def _solve_block(matrix: Any, right: Any, diagonal: Floats) -> Any:
    """Solve for many right sides at once by conjugate gradients, in 32 bits."""
    inverse = (1 / diagonal).astype(np.float32)[:, None]
    solution, rest = np.zeros_like(right), right.copy()
    z = inverse * rest
    way, size = z.copy(), (rest * z).sum(axis=0)
    goal = TOLERANCE * np.sqrt((right * right).sum(axis=0))
    for _ in range(MOST_PRODUCTS):
        if (np.sqrt((rest * rest).sum(axis=0)) <= goal).all():
            break
        y = matrix @ way
        step = size / np.maximum((way * y).sum(axis=0), 1e-30)
        solution += step * way
        rest -= step * y
        z = inverse * rest
        size, before = (rest * z).sum(axis=0), size
        way = z + (size / np.maximum(before, 1e-30)) * way
    return solution
