"""The leaderboard of a pool: a pure function of its finished boards.

elo = 1000 + (400 / ln 10) * (theta - theta_anchor), where theta predicts the results of boards. The anchor stands at 1000 by definition; without an
anchor, the mean of the bots that chains of meetings connect does. Ratings are fitted to all boards at once, so their order does not matter; the
change by a match is the difference of two fits.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from math import erf, log, sqrt
from typing import overload

import numpy as np
from numpy.typing import NDArray

from league.pure.portable import ELO_DIGITS, comparable
from league.pure.rating.bradley_terry import Fit, Floats, connected, fit
from league.pure.rating.sketch import Sketch, fit_large
from league.pure.rating.tallies import Ints, Tallies

ELO = 400 / log(10)  # Elo per logit.
BASE = 1000.0  # Elo of the anchor, or of the mean.
Z95 = 1.959963984540054  # Two-sided 95% of the normal distribution.
SURE = 0.975  # One bot is certainly above another if its likelihood of superiority is above this.
LARGE = 1000  # Bots. In larger pools errors are sketched, because exact ones take time cubic in the bots.
ENOUGH = 1e-7  # Logits. A step shorter than this ends the search for strengths that will soon be fitted again.
CERTAIN = (
    2.5  # Margins that are taken off a rating to give places, so that nobody gains by stopping after lucky boards.
)
PROVISIONAL_SD = 60.0  # Elo.
PROVISIONAL_BOARDS = 30
PROVISIONAL_OPPONENTS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class RatedBot:
    """A row of the leaderboard."""

    bot: int
    elo: float
    margin: float  # Half of the 95% interval of the distance to the mean of the field, in Elo.
    boards: int
    opponents: int
    score: float  # Share of the board points against its opponents, 0 to 1.
    points_per_board: float  # The bot's own score per board, in the game's unit.
    faults: int  # Matches in which it made a fault.
    rank_best: int  # 1 + the listed bots that are certainly above it.
    rank_worst: int  # The listed bots that are not certainly below it, itself included.
    # Likelihood that the bot is stronger than the next listed row; None in the last row, and if the bot is not listed.
    los_next: float | None
    provisional: bool  # See `fit_leaderboard`.
    listed: bool  # True if the version represents its bot.

    @property
    def certain(self) -> float:
        """Return the rating by which places are given."""
        return certain_elo(self.elo, self.margin)


@dataclass(frozen=True, slots=True)
class Leaderboard:
    """Rows from best to worst, with the fit behind them."""

    rows: tuple[RatedBot, ...]
    # (N, N): likelihood that one row is stronger than another; (0, 0) in a large table, whose `likelihoods` are computed on request.
    los: Floats
    fit: Fit | Sketch
    order: Ints  # (N,): places of the rows in `fit`.

    def likelihoods(self, first: Ints, second: Ints) -> Floats:
        """Return the likelihoods that the first row is stronger than the second, pair by pair."""
        if isinstance(self.fit, Fit):
            return self.los[first, second]
        a, b = self.order[first], self.order[second]
        ratio = (self.fit.theta[a] - self.fit.theta[b]) / (self.fit.sd_of_pairs(a, b) * sqrt(2))
        return comparable(np.array([(1 + erf(x)) / 2 for x in ratio.tolist()]))

    def sure(self, members: Ints, rows: Ints | None = None) -> tuple[Ints, Ints]:
        """Count the `members` (row numbers) that are certainly above each row (of `rows`), and those certainly below."""
        if isinstance(self.fit, Fit):
            sure = self.los > SURE
            above, below = sure[members].sum(axis=0), sure[:, members].sum(axis=1)
            return (above, below) if rows is None else (above[rows], below[rows])
        return self.fit.sure(self.order[members], Z95, self.order if rows is None else self.order[rows])

    def field_scores(self, members: Floats) -> tuple[Floats, Floats]:
        """Return `field_scores` of the rows against the `members` (N,; 1 or 0 by row), by row."""
        of_fit = np.zeros(len(self.order))
        of_fit[self.order] = members
        score, sd = field_scores(self.fit, of_fit) if isinstance(self.fit, Fit) else self.fit.field_scores(of_fit)
        return comparable(score[self.order]), comparable(sd[self.order])

    def strengths(self) -> dict[int, float]:
        """Return the strengths in logits by id, to start the next fit."""
        return {bot: float(value) for bot, value in zip(self.fit.bots, self.fit.theta, strict=True)}


def fit_leaderboard(
    tallies: Tallies,
    *,
    anchor: int | None = None,
    start: Mapping[int, float] | None = None,
    choose: Callable[[Mapping[int, float]], Collection[int]] | None = None,
) -> Leaderboard:
    """Fit the leaderboard of the boards in `tallies`. `anchor`: the id that stands at 1000, if it has played.

    `start`: strengths of an earlier fit, only for speed. Rows are ordered by certain Elo, then by id. `choose` gets the certain Elo of all ids, and
    returns the listed ones: ranks count only these, and `los_next` refers to the next listed row. By default all are listed.

    A row is provisional until its bot has 30 boards against 3 opponents (or all others in a smaller field), chains of meetings connect it to the
    field, and its place is known: its standard deviation is below 60 Elo, or only one rank is possible. (A bot that loses every board always has a
    wide interval, yet is certainly last.)
    """
    many = len(tallies.ids) > LARGE
    fitted = fit_large(tallies, start=start) if many else fit(tallies, start=start)
    if not fitted.bots:
        return Leaderboard((), np.zeros((0, 0)), fitted, np.zeros(0, dtype=np.int64))
    met = tallies.met_pairs()
    anchored = fitted.bots.index(anchor) if anchor in fitted.bots else None
    linked = _linked(fitted.group if isinstance(fitted, Sketch) else connected(tallies.met()).argmax(axis=1), anchored)
    members = linked.astype(np.float64)
    zero = zero_point(fitted.theta, linked, anchored)
    elo = comparable(BASE + ELO * (fitted.theta - zero), ELO_DIGITS)
    margins = comparable(Z95 * ELO * fitted.sd_from_mean(members), ELO_DIGITS)
    order = np.lexsort([tallies.ids, -certain_elo(elo, margins)])
    los = superiority(fitted)[np.ix_(order, order)] if isinstance(fitted, Fit) else np.zeros((0, 0))
    table = Leaderboard((), los, fitted, order)
    bots = tallies.ids[order]
    opponents = np.bincount(np.concatenate(met), minlength=len(order))[order]
    needed = min(PROVISIONAL_OPPONENTS, len(order) - 1)
    enough = (tallies.totals[order, 1] >= PROVISIONAL_BOARDS) & (opponents >= needed) & linked[order]
    settled = enough & (margins[order] < Z95 * PROVISIONAL_SD)
    wide = np.flatnonzero(enough & ~settled)
    above, below = table.sure(np.arange(len(order)), wide)
    settled[wide] = above + below == len(order) - 1
    certain = dict(zip(bots.tolist(), certain_elo(elo, margins)[order].tolist(), strict=True))
    chosen = certain.keys() if choose is None else choose(certain)
    listed = np.array([bot in chosen for bot in bots.tolist()])
    listed_rows = np.flatnonzero(listed)
    above, below = table.sure(listed_rows)  # No bot is certainly above itself.
    likely = dict(
        zip(listed_rows.tolist(), table.likelihoods(listed_rows[:-1], listed_rows[1:]).tolist(), strict=False)
    )
    worst = len(listed_rows) - listed + 1 - below
    rows = []
    for row, (bot, boards, points, half_points, meetings, faults) in enumerate(tallies.totals[order].tolist()):
        rows.append(
            RatedBot(
                bot=bot,
                elo=float(elo[order[row]]),
                margin=float(margins[order[row]]),
                boards=boards,
                opponents=int(opponents[row]),
                score=half_points / (2 * meetings),
                points_per_board=points / boards,
                faults=faults,
                rank_best=1 + int(above[row]),
                rank_worst=int(worst[row]),
                los_next=likely.get(row),
                provisional=not settled[row],
                listed=bool(listed[row]),
            )
        )
    return replace(table, rows=tuple(rows))


@overload
def certain_elo(elo: float, margin: float) -> float: ...
@overload
def certain_elo(elo: Floats, margin: Floats) -> Floats: ...
def certain_elo(elo: float | Floats, margin: float | Floats) -> float | Floats:
    """Return the rating by which places are given: Elo less CERTAIN margins (docs/fairness.md)."""
    return comparable(elo - CERTAIN * margin, ELO_DIGITS)


def fit_elo(
    tallies: Tallies, *, anchor: int | None = None, start: Mapping[int, float] | None = None
) -> dict[int, float]:
    """Fit Elo by id like `fit_leaderboard`, to 10^-4 Elo, without errors and ranks. `start`: Elo by id, only for speed."""
    logits = {bot: (elo - BASE) / ELO for bot, elo in (start or {}).items()}
    fitted = fit_large(tallies, start=logits, errors=False, close=ENOUGH)
    anchored = fitted.bots.index(anchor) if anchor in fitted.bots else None
    zero = zero_point(fitted.theta, _linked(fitted.group, anchored), anchored)
    elo = comparable(BASE + ELO * (fitted.theta - zero), ELO_DIGITS)
    return dict(zip(fitted.bots, elo.tolist(), strict=True))


def zero_point(theta: Floats, linked: NDArray[np.bool_], anchored: int | None) -> float:
    """Return the strength that corresponds to 1000 Elo: that of the bot at place `anchored`, or the mean of the `linked` ones."""
    return float(theta[anchored] if anchored is not None else theta @ linked / linked.sum())


def superiority(fitted: Fit) -> Floats:
    """Return (N, N) likelihoods of superiority: Phi((theta_i - theta_j) / sd of that difference), by the full covariance. Diagonal 1/2.

    They are rounded, so that of two equal bots neither is above the other.
    """
    sd = fitted.sd_of_differences()
    apart = fitted.theta[:, None] - fitted.theta[None, :]
    ratio = np.divide(apart, sd, out=np.zeros_like(apart), where=sd > 0)
    upper = np.triu_indices(len(sd), 1)
    chances = np.fromiter(map(erf, (ratio[upper] / sqrt(2)).tolist()), dtype=np.float64, count=len(upper[0]))
    los = np.full_like(apart, 0.5)
    los[upper] = (1 + chances) / 2
    los[upper[::-1]] = (1 - chances) / 2
    return comparable(los)


def field_scores(fitted: Fit, members: Floats) -> tuple[Floats, Floats]:
    """Return (N,) the expected score of each bot per board, averaged over the other `members` (N,; 1 or 0), and (N,) its standard deviation.

    The standard deviation is that of the linearised score (delta method), with the floor of `Fit.sd`. A bot without rivals gets exactly 1/2.
    """
    others = np.tile(members, (len(members), 1))
    np.fill_diagonal(others, 0.0)
    count = np.maximum(others.sum(axis=1, keepdims=True), 1.0)
    chance = 1 / (1 + np.exp(fitted.theta[None, :] - fitted.theta[:, None]))
    score: Floats = np.where(others.any(axis=1), (chance * others / count).sum(axis=1), 0.5)
    slope = chance * (1 - chance) * others / count
    gradient = np.diag(slope.sum(axis=1)) - slope
    robust = ((gradient @ fitted.robust) * gradient).sum(axis=1)
    floor = fitted.dispersion * ((gradient @ fitted.naive) * gradient).sum(axis=1)
    sd: Floats = np.sqrt(np.maximum(np.maximum(robust, floor), 0.0))
    return score, sd


def expected_score(elo_a: float, elo_b: float) -> float:
    """Return the expected board points of a against b, 0 to 1: 1 / (1 + 10^((b - a) / 400))."""
    return float(1 / (1 + 10 ** ((elo_b - elo_a) / 400)))


def _linked(group: Ints, anchor: int | None) -> NDArray[np.bool_]:
    """Return (N,) True for the bots that chains of meetings connect to the anchor.

    Without an anchor, for the largest connected group (the oldest id decides a tie). Unconnected groups have different scales, so the leaderboard
    can use only one of them. `group`: (N,) the number of each bot's group.
    """
    linked: NDArray[np.bool_] = group == (int(np.bincount(group).argmax()) if anchor is None else group[anchor])
    return linked
