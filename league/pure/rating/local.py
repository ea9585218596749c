"""What a match tells of those who played it, before everybody is fitted again: their strengths alone move, all others stand still.

It is the same maximum as that of `bradley_terry.fit`, along these few strengths: Newton's method on the boards that they took part in, the last
match among them. What is left out is what their opponents, and the opponents of these, would move by; the next fit of all brings it.
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
class Moved:
    """A strength that was found with all others held, in logits."""

    theta: float
    sd: float  # with all others held, too: a little less than what a fit says


def move(around: Tallies, movers: Sequence[int], theta: Mapping[int, float]) -> dict[int, Moved]:
    """Where the `movers` (ids) stand by the boards in `around`, all others as in `theta` (logits by id, of everybody in it).

    `around` has every board of the movers and no other; its totals are true for everybody (`tallies.around`). The order of `movers` and what
    they start from make no difference beyond 1e-7 logits. ArithmeticError if it does not settle.
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
        # Where all of a group are movers nothing holds its mean: the shortest step leaves it where it is
        step = np.clip(np.linalg.lstsq(information, gradient, rcond=1e-10)[0], -STEP, STEP)
        strengths[place] += step
        if np.abs(step).max() < ENOUGH:
            break
    else:
        raise ArithmeticError(f"the ratings of {len(ids)} bots did not settle in {MOST_STEPS} steps")
    sd = np.minimum(1 / np.sqrt(np.maximum(np.diag(information), 1e-9)), GROUP_SD)
    return {
        bot: Moved(float(value), float(width))
        for bot, value, width in zip(ids.tolist(), strengths[place], sd, strict=True)
    }


@dataclass(frozen=True, slots=True)
class Estimate:
    """A line of a leaderboard until the next fit of all, in Elo."""

    elo: float
    margin: float  # half of the 95% interval with all others held


def estimate(
    around: Tallies, movers: Collection[int], elo: Mapping[int, float], anchor: int | None = None
) -> dict[int, Estimate]:
    """As `move`, in Elo. Where the `anchor` is among the movers, it stays at 1000 and the others of them move instead.

    Who has no `elo` yet begins in the middle of those in it.
    """
    middle = sum(elo.values()) / len(elo) if elo else BASE
    theta = {bot: (elo.get(bot, middle) - BASE) / ELO for bot in around.ids.tolist()}
    moved = move(around, sorted(movers), theta)
    zero = moved[anchor].theta if anchor in moved else 0.0
    return {
        bot: Estimate(
            comparable(BASE + ELO * (one.theta - zero), ELO_DIGITS), comparable(Z95 * ELO * one.sd, ELO_DIGITS)
        )
        for bot, one in moved.items()
    }


def _comparisons(boards: Boards) -> Iterator[tuple[Ints, Floats, Floats, Floats]]:
    """Places (R, c), their shares (c,) in the difference of two sides, weights, points of the first side."""
    for first, second, weight, points in boards.pairs():
        yield np.stack([first, second], axis=1), np.array([1.0, -1.0]), weight, points
    for part in boards.parts:
        if isinstance(part, Sides) and len(part.share) > 2:
            yield part.members, part.share, part.boards, part.points


def _by_mover(
    part: tuple[Ints, Floats, Floats, Floats], movers: Ints, count: int
) -> tuple[Ints, Floats, Floats, Floats, Floats]:
    """Rows in which a mover sits, and (R, movers) the share of each of them."""
    columns, share, weight, points = part
    number = np.full(count, -1, dtype=np.int64)
    number[movers] = np.arange(len(movers))
    seat = number[columns]
    rows = np.flatnonzero((seat >= 0).any(axis=1))
    own = np.zeros((len(rows), len(movers)))
    for column, value in enumerate(share):
        mine = seat[rows, column]
        there = mine >= 0
        own[np.flatnonzero(there), mine[there]] += value
    return columns[rows], share, weight[rows], points[rows], own
