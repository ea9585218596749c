"""Orders that several formats share: by board points with tie-breaks, and by a Bradley-Terry fit of all boards."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from league.pure.formats.base import Ranking
from league.pure.formats.sheet import Field, Levels, Sheet
from league.pure.portable import comparable
from league.pure.rating import standings as table
from league.pure.rating.bradley_terry import Fit, fit
from league.pure.rating.leaderboard import ELO
from league.pure.rating.tallies import Sides, Tallies, tally

EVEN_RATINGS = 3  # Schedule revision since which fits use even boards instead of a prior.
OLD_PRIOR_SD = 2.0  # Standard deviation of the former prior, in logits.
MIXED: Sides = ((0, 2), (1, 3))


def rank_by_points(field: Field, sheet: Sheet) -> Ranking:
    """Rank by board points, direct encounter, Sonneborn-Berger, score per board, boards won (`league.pure.rating.standings`)."""
    rows = table.rank_entries(range(field.entries), sheet.boards, sides(field)).rows
    levels = [[row.entry for row in level] for _, level in groupby(rows, key=lambda row: row.place)]
    return Ranking(levels)


def sides(field: Field) -> Sides | None:
    """Return which parties of a table play together, if several entries make a side."""
    return MIXED if field.mixed else None


def tallied(field: Field, sheet: Sheet) -> Tallies:
    """Return the totals of all boards on the sheet."""
    return tally(sheet.boards, sides(field))


def fitted(field: Field, sheet: Sheet) -> Fit:
    """Fit strengths from all boards on the sheet, eliminated entries included, with the rating model of the tournament's schedule revision."""
    return fit(tallied(field, sheet), prior_sd=OLD_PRIOR_SD if field.revision < EVEN_RATINGS else None)


def strengths(field: Field, sheet: Sheet) -> dict[int, float]:
    """Return a comparable strength in logits for every entry; 0 before its first board.

    Entries with the same results get exactly the same strength, so that two schedulers see the same tie.
    """
    estimate = fitted(field, sheet)
    theta_by_entry = dict(zip(estimate.bots, comparable(estimate.theta).tolist(), strict=True))
    return {entry: theta_by_entry.get(entry, 0.0) for entry in range(field.entries)}


def rank_by_strength(field: Field, sheet: Sheet, groups: Sequence[Sequence[int]] | None = None) -> Ranking:
    """Rank by strength, then by seed; with `groups`, first by group."""
    theta = strengths(field, sheet)
    seed = {entry: place for place, entry in enumerate(field.order)}
    levels: Levels = [
        [entry]
        for group in groups or [range(field.entries)]
        for entry in sorted(group, key=lambda entry: (-theta[entry], seed[entry]))
    ]
    return Ranking(levels, {entry: {"elo": ELO * value} for entry, value in theta.items()})
