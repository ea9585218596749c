"""Estimates after a match for the bots that played it, until the next refit: their strengths move, all others stay fixed.

The estimate is the maximum of `bradley_terry.fit` over these few strengths, found by Newton's method on all their boards, the last match included.
It leaves out how their opponents, and the opponents' opponents, would move; the next refit adds that.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from league.pure.portable import ELO_DIGITS, comparable
from league.pure.rating.bradley_terry import GROUP_SD, MOST_STEPS, STEP, Boards, Floats, Sides, logistic
from league.pure.rating.leaderboard import BASE, ELO, ENOUGH, Z95
from league.pure.rating.tallies import Ints, Tallies


@dataclass(frozen=True, slots=True)
class MovedStrength:
    """A strength that was fitted with all others fixed, in logits."""

    theta: float
    sd: float  # Standard deviation with all others fixed, a little smaller than that of a full fit.


def move(around: Tallies, movers: Sequence[int], theta: Mapping[int, float]) -> dict[int, MovedStrength]:
    """Fit the `movers` (ids) to the boards in `around`, with all others fixed at `theta` (logits by id, for everybody in `around`).

    `around` has every board of the movers and no other, and complete totals for everybody (`tallies.around`). The order of `movers` and their
    starting points change nothing beyond 1e-7 logits. Raise ArithmeticError if it does not converge.
    """
    ids = np.array(sorted(movers), dtype=np.int64)
    strengths = np.array([theta[bot] for bot in around.ids.tolist()], dtype=np.float64)
    place = np.searchsorted(around.ids, ids)
    parts = [_by_mover(part, place, len(strengths)) for part in _comparisons(Boards.read(around))]
    for _ in range(MOST_STEPS):
        gradient, information = np.zeros(len(ids)), np.zeros((len(ids), len(ids)))
        for columns, share, weight, points, own in parts:
            p = logistic((strengths[columns] * share).sum(axis=1))
            gradient += own.T @ (points - weight * p)
            information += own.T @ ((weight * p * (1 - p))[:, None] * own)
        # If all bots of a group are movers, nothing fixes the group's mean: the shortest step leaves the mean unchanged.
        step = np.clip(np.linalg.lstsq(information, gradient, rcond=1e-10)[0], -STEP, STEP)
        strengths[place] += step
        if np.abs(step).max() < ENOUGH:
            break
    else:
        raise ArithmeticError(f"the ratings of {len(ids)} bots did not settle in {MOST_STEPS} steps")
    sd = np.minimum(1 / np.sqrt(np.maximum(np.diag(information), 1e-9)), GROUP_SD)
    return {
        bot: MovedStrength(float(value), float(width))
        for bot, value, width in zip(ids.tolist(), strengths[place], sd, strict=True)
    }


@dataclass(frozen=True, slots=True)
class LocalEstimate:
    """A row of a leaderboard until the next refit, in Elo."""

    elo: float
    margin: float  # Half of the 95% interval with all others fixed.


def estimate(
    around: Tallies, movers: Collection[int], elo: Mapping[int, float], anchor: int | None = None
) -> dict[int, LocalEstimate]:
    """Fit like `move`, in Elo. If the `anchor` is among the movers, it stays at 1000 and the other movers shift instead.

    A bot without `elo` starts at the mean of the others.
    """
    middle = sum(elo.values()) / len(elo) if elo else BASE
    theta = {bot: (elo.get(bot, middle) - BASE) / ELO for bot in around.ids.tolist()}
    moved = move(around, sorted(movers), theta)
    zero = moved[anchor].theta if anchor in moved else 0.0
    return {
        bot: LocalEstimate(
            comparable(BASE + ELO * (strength.theta - zero), ELO_DIGITS),
            comparable(Z95 * ELO * strength.sd, ELO_DIGITS),
        )
        for bot, strength in moved.items()
    }


def _comparisons(boards: Boards) -> Iterator[tuple[Ints, Floats, Floats, Floats]]:
    """Yield places (R, c), their shares (c,) in the difference of two sides, weights, points of the first side."""
    for first, second, weight, points in boards.pairs():
        yield np.stack([first, second], axis=1), np.array([1.0, -1.0]), weight, points
    for part in boards.parts:
        if isinstance(part, Sides) and len(part.share) > 2:
            yield part.members, part.share, part.boards, part.points


def _by_mover(
    part: tuple[Ints, Floats, Floats, Floats], movers: Ints, count: int
) -> tuple[Ints, Floats, Floats, Floats, Floats]:
    """Return the rows with a mover, and (R, movers) the share of each."""
    columns, share, weight, points = part
    number = np.full(count, -1, dtype=np.int64)
    number[movers] = np.arange(len(movers))
    seat = number[columns]
    rows = np.flatnonzero((seat >= 0).any(axis=1))
    own = np.zeros((len(rows), len(movers)))
    for column, value in enumerate(share):
        seats = seat[rows, column]
        moves = seats >= 0
        own[np.flatnonzero(moves), seats[moves]] += value
    return columns[rows], share, weight[rows], points[rows], own
