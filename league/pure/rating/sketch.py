"""The fit of a large pool: strengths as exact as those of `bradley_terry.fit`, and standard errors from a sketch, without any (N, N) matrix.

Strengths: Newton's method, each step by conjugate gradients (Hestenes and Stiefel 1952) with the diagonal as preconditioner.
Standard errors: with random signs e, the columns H^-1 G' e have the covariance H^-1 M H^-1 (Hutchinson 1990); the diagonal of H alone, whose
variances are known, is the control variate. The signs follow from place alone, so the same boards give the same errors, and a match moves
them as little as it moves the strengths. Sparse products are scipy's: without it (numpy's bincount) they take six times, a sketch ten times as long.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from league.pure.rating.bradley_terry import CLOSE, GROUP_SD, MOST_STEPS, STEP, Boards, Floats, Sides, logistic
from league.pure.rating.tallies import Ints, Tallies

SIGNS = 128  # columns of a sketch: standard errors within 8% of the exact ones at p99
TOLERANCE = 1e-4  # of a sketch's solutions
MOST_PRODUCTS = 3000
CHUNK = 50_000  # rows that are given signs together
BLOCK = 500  # rows of all pairs that are looked at together


@dataclass(frozen=True, slots=True)
class Sketch:
    """Strengths and sketched covariances, in logits, in the order of `bots` (ids, ascending). What `Fit` offers, for many bots."""

    bots: tuple[int, ...]
    theta: Floats  # (N,)
    group: Ints  # (N,) number of the group of bots that chains of meetings connect
    naive: _Columns
    robust: _Columns
    dispersion: float

    def sd_from_mean(self, members: Floats) -> Floats:
        """(N,) standard deviations of theta_i - mean of the `members` (N,; 1 or 0), who are of one group."""
        own = self.group == self.group[int(members.argmax())]
        beyond = np.where(own, 0.0, 2 * GROUP_SD**2)
        return self._sd(self.robust.from_mean(members), self.naive.from_mean(members) + beyond)

    def sd_of_pairs(self, a: Ints, b: Ints) -> Floats:
        """Standard deviations of theta_a - theta_b, pair by pair."""
        beyond = np.where(self.group[a] == self.group[b], 0.0, 2 * GROUP_SD**2)
        return self._sd(self.robust.of_pairs(a, b), self.naive.of_pairs(a, b) + beyond)

    def sure(self, members: Ints, ratio: float) -> tuple[Ints, Ints]:
        """(N,) how many of the `members` (places) are above, and below, each bot by more than `ratio` standard deviations."""
        above, below = np.zeros(len(self.bots), dtype=np.int64), np.zeros(len(self.bots), dtype=np.int64)
        for start in range(0, len(self.bots), BLOCK):
            rows = np.arange(start, min(start + BLOCK, len(self.bots)))
            beyond = np.where(self.group[rows][:, None] == self.group[members][None, :], 0.0, 2 * GROUP_SD**2)
            sd = self._sd(self.robust.between(rows, members), self.naive.between(rows, members) + beyond)
            apart = self.theta[members][None, :] - self.theta[rows][:, None]
            above[rows], below[rows] = (apart > ratio * sd).sum(axis=1), (apart < -ratio * sd).sum(axis=1)
        return above, below

    def field_scores(self, members: Floats) -> tuple[Floats, Floats]:
        """As `leaderboard.field_scores`; the strength of the whole field counts as known, which in a large one it is."""
        score, slope = np.zeros(len(self.bots)), np.zeros(len(self.bots))
        for start in range(0, len(self.bots), BLOCK):
            rows = slice(start, start + BLOCK)
            chance = logistic(self.theta[rows, None] - self.theta[None, :])
            count = np.maximum(members.sum() - members[rows], 1.0)
            score[rows] = (chance @ members - members[rows] / 2) / count
            slope[rows] = ((chance * (1 - chance)) @ members - members[rows] / 4) / count
        return score, slope * self.sd_from_mean(members)

    def _sd(self, robust: Floats, naive: Floats) -> Floats:
        sd: Floats = np.sqrt(np.maximum(np.maximum(robust, self.dispersion * naive), 0.0))
        return sd


@dataclass(frozen=True, slots=True)
class _Columns:
    """Columns whose covariance is that of the strengths, and each bot's variance."""

    columns: Any  # (N, SIGNS) floats of 32 bits
    near: Any  # (N, SIGNS) the same by the diagonal alone
    known: Floats  # (N,) variance by the diagonal alone, exactly

    def from_mean(self, members: Floats) -> Floats:
        share = (members / members.sum()).astype(np.float32)
        apart = self.columns - share @ self.columns
        return self._corrected(np.square(apart).mean(axis=1), np.square(self.near).mean(axis=1), self.known)

    def of_pairs(self, a: Ints, b: Ints) -> Floats:
        apart, near = self.columns[a] - self.columns[b], self.near[a] - self.near[b]
        return self._corrected(
            np.square(apart).mean(axis=1), np.square(near).mean(axis=1), self.known[a] + self.known[b]
        )

    def between(self, rows: Ints, members: Ints) -> Floats:
        found = _apart(self.columns[rows], self.columns[members])
        near = _apart(self.near[rows], self.near[members])
        return self._corrected(found, near, self.known[rows][:, None] + self.known[members][None, :])

    @staticmethod
    def _corrected(found: Any, near: Any, known: Floats) -> Floats:
        variance: Floats = np.maximum(found - near + known, known / 2)
        return variance


def _apart(a: Any, b: Any) -> Any:
    """(A, B) mean squares of the differences of rows."""
    return (np.square(a).sum(1)[:, None] + np.square(b).sum(1)[None, :] - 2 * (a @ b.T)) / a.shape[1]


def fit_large(tallies: Tallies, *, start: Mapping[int, float] | None = None, errors: bool = True) -> Sketch:
    """The strengths of `bradley_terry.fit` to the last digits that Elo has, with sketched errors. ArithmeticError if it does not settle."""
    import scipy.sparse as sparse
    from scipy.sparse.csgraph import connected_components

    bots = tuple(tallies.ids.tolist())
    boards = Boards.read(tallies)
    design, weight, points = _comparisons(boards, len(bots), sparse)
    met = [np.stack([first, second]) for first, second, *_ in boards.pairs()]
    first, second = np.concatenate(met, axis=1)
    edges = sparse.csr_matrix((np.ones(len(first), np.int8), (first, second)), shape=(len(bots), len(bots)))
    count, group = connected_components(edges, directed=False)
    theta = np.array([(start or {}).get(bot, 0.0) for bot in bots], dtype=np.float64)
    size = np.bincount(group, minlength=count)

    def centred(values: Floats) -> Floats:
        found: Floats = values - (np.bincount(group, values, count) / size)[group]
        return found

    theta = centred(theta)
    back = design.T.tocsr()
    squares = sparse.csr_matrix((back.data**2, back.indices, back.indptr), shape=back.shape)
    for _ in range(MOST_STEPS):
        p = logistic(design @ theta)
        gradient = centred(back @ (points - weight * p))
        curve = weight * p * (1 - p)
        length = float(np.linalg.norm(gradient))
        step = _solve(
            lambda x, curve=curve: back @ (curve * (design @ x)), gradient, squares @ curve, min(0.1, max(1e-9, length))
        )
        move = np.clip(centred(step), -STEP, STEP)
        theta = theta + move
        if np.abs(move).max() < CLOSE:
            break
    else:
        raise ArithmeticError(f"the ratings of {len(bots)} bots did not settle in {MOST_STEPS} steps")
    theta = centred(theta)
    nothing = _Columns(np.zeros((len(bots), 1), np.float32), np.zeros((len(bots), 1), np.float32), np.zeros(len(bots)))
    if not errors:
        return Sketch(bots, theta, group, nothing, nothing, 1.0)
    p = logistic(design @ theta)
    information = sparse.csr_matrix((back.multiply(weight * p * (1 - p))) @ design)
    diagonal = information.diagonal()
    both = (_signed(boards.scores(theta), tallies.ids, sparse), _signed(_naive(boards, theta), tallies.ids, sparse))
    solved = _solve_block(
        information.astype(np.float32), np.concatenate([signed for signed, _ in both], axis=1), diagonal
    )
    found = []
    for number, (signed, exact) in enumerate(both):
        columns = solved[:, number * SIGNS : (number + 1) * SIGNS]
        means = np.stack([np.bincount(group, column, count) for column in columns.T], axis=1) / size[:, None]
        near = (signed / diagonal[:, None]).astype(np.float32)
        found.append(_Columns((columns - means[group]).astype(np.float32), near, exact / diagonal**2))
    return Sketch(bots, theta, group, found[1], found[0], boards.dispersion(theta))


def _comparisons(boards: Boards, count: int, sparse: Any) -> tuple[Any, Floats, Floats]:
    """Each row of the first (R, N) takes the difference of two sides; their boards, and the points of the first. Pairs are added up."""
    (only, *others), even = boards.parts, boards.even
    if (
        not others and isinstance(only, Sides) and len(only.share) == 2
    ):  # as is nearly every pool: the pairs are there, once each
        design = _rows(only.members, np.tile([1.0, -1.0], (len(only.members), 1)), count, sparse)
        return design, only.boards + even.weight, only.points + even.weight / 2
    first, second, weight, points = (np.concatenate(columns) for columns in zip(*boards.pairs(), strict=True))
    turned = first > second
    low, high = np.where(turned, second, first), np.where(turned, first, second)
    keys, place = np.unique(low * count + high, return_inverse=True)
    pairs = np.stack([keys // count, keys % count], axis=1)
    parts = [_rows(pairs, np.tile([1.0, -1.0], (len(keys), 1)), count, sparse)]
    weights: list[Floats] = [np.bincount(place, weight).astype(np.float64)]
    got: list[Floats] = [np.bincount(place, np.where(turned, weight - points, points)).astype(np.float64)]
    for part in boards.parts:
        if isinstance(part, Sides) and len(part.share) > 2:
            parts.append(_rows(part.members, np.tile(part.share, (len(part.members), 1)), count, sparse))
            weights.append(part.boards)
            got.append(part.points)
    return sparse.vstack(parts).tocsr(), np.concatenate(weights), np.concatenate(got)


def _rows(columns: Ints, numbers: Floats, count: int, sparse: Any) -> Any:
    """A matrix (R, N) with these numbers (R, c) in these columns."""
    rows = np.repeat(np.arange(len(columns)), columns.shape[1])
    return sparse.csr_matrix((numbers.reshape(-1), (rows, columns.reshape(-1))), shape=(len(columns), count))


def _naive(boards: Boards, theta: Floats) -> Iterator[tuple[Ints, Floats, Ints]]:
    """Rows as those of `Boards.scores`, whose squares add up to the information."""
    for kind, part in enumerate((*boards.parts, boards.even), 9):
        yield from ((columns, numbers, ways * 32 + kind) for columns, numbers, ways in part.information(theta))


def _signed(parts: Iterable[tuple[Ints, Floats, Ints]], ids: Ints, sparse: Any) -> tuple[Any, Floats]:
    """(N, SIGNS) all rows with random signs, added up; (N,) the variances of that. Rows that come later change no sign."""
    total, squares = np.zeros((len(ids), SIGNS), np.float32), np.zeros(len(ids))
    for columns, numbers, ways in parts:
        for start in range(0, len(columns), CHUNK):
            here = slice(start, start + CHUNK)
            matrix = _rows(columns[here], numbers[here].astype(np.float32), len(ids), sparse)
            total += matrix.T.tocsr() @ _signs(ids[columns[here]], ways[here])
            squares += np.bincount(columns[here].reshape(-1), np.square(numbers[here]).reshape(-1), len(ids))
    return total, squares


def _signs(bots: Ints, ways: Ints) -> Any:
    """(R, SIGNS) of 1 and -1, from what is in the rows alone: splitmix64 (Steele, Lea and Flood 2014)."""
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
    """Conjugate gradients."""
    found, rest = np.zeros_like(right), right.copy()
    if not right.any():
        return found
    z = rest / diagonal
    way, size = z.copy(), rest @ z
    goal = tolerance * np.linalg.norm(right)
    for _ in range(MOST_PRODUCTS):
        if np.linalg.norm(rest) <= goal:
            break
        y = product(way)
        step = size / (way @ y)
        found += step * way
        rest -= step * y
        z = rest / diagonal
        size, before = rest @ z, size
        way = z + (size / before) * way
    return found


def _solve_block(matrix: Any, right: Any, diagonal: Floats) -> Any:
    """Conjugate gradients for many right sides at once, in 32 bits."""
    inverse = (1 / diagonal).astype(np.float32)[:, None]
    found, rest = np.zeros_like(right), right.copy()
    z = inverse * rest
    way, size = z.copy(), (rest * z).sum(axis=0)
    goal = TOLERANCE * np.sqrt((right * right).sum(axis=0))
    for _ in range(MOST_PRODUCTS):
        if (np.sqrt((rest * rest).sum(axis=0)) <= goal).all():
            break
        y = matrix @ way
        step = size / np.maximum((way * y).sum(axis=0), 1e-30)
        found += step * way
        rest -= step * y
        z = inverse * rest
        size, before = (rest * z).sum(axis=0), size
        way = z + (size / np.maximum(before, 1e-30)) * way
    return found
