"""Ratings of a pool: always the fit of all its finished, rated boards, whatever way the rows got there."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime

import numpy as np
from django.conf import settings
from django.db import transaction
from django.db.models import Exists, OuterRef, Q

from league.domain.core import clock, journal
from league.domain.ratings import pools, sums
from league.enums import MatchStatus
from league.models import BotVersion, Match, Pool, Rating, RatingPoint
from league.pure.rating import leaderboard as pure
from league.pure.rating.bradley_terry import REVISION
from league.pure.rating.tallies import NOTHING, Tallies

MOST_FITS = 60  # fits of one run, which holds the pool locked; when more matches came in, only every so many of them gets a point in the history
STRUCK = Q(status=MatchStatus.VOID) | Q(status=MatchStatus.FINISHED, rated=False)
COLUMNS = [field.name for field in Rating._meta.fields if field.name not in ("id", "pool", "version")]


def stale_pools() -> list[Pool]:
    """Pools that lack results, count what was struck out or left unrated since, or have a table of another revision of the ratings."""
    waiting = Match.objects.filter(rated=True, status=MatchStatus.FINISHED, counted=None)
    struck = Match.objects.filter(STRUCK).exclude(counted=None)
    ids = {*waiting.values_list("pool_id", flat=True).distinct(), *struck.values_list("pool_id", flat=True).distinct()}
    of_old = Exists(Rating.objects.filter(pool=OuterRef("pk"))) & ~Q(
        ratings_revision__isnull=False, ratings_revision=REVISION
    )
    return list(Pool.objects.filter(Q(pk__in=ids) | of_old).order_by("pk"))


def refresh(pool: Pool, *, rebuild: bool = False, now: datetime | None = None) -> bool:
    """Take the results that are new in `pool` into its ratings and their history; whether anything changed.

    1. The pool's row is locked: two refreshes wait for each other, and the second one finds nothing new. New matches of the pool do not wait.
    2. Matches struck out since the last time (or `rebuild`) discard sums and history; everything counts as new.
    3. One statement reads and locks the new matches. These are added, these are marked: what finishes or is struck out meanwhile waits.
    4. They are added to the kept sums in the order in which they finished, each with the points of its bots, before and after.
    5. Sums and table replace the rows of `PoolSums` and `Rating`. Marks, sums and table are one transaction: each match counts once.

    The boards of matches that count already are not read. A table of another revision of the ratings is fitted anew from its sums, once;
    its history stays as it was told.
    """
    now = clock.given(now)
    with transaction.atomic():
        pool = Pool.objects.select_for_update(no_key=True).get(pk=pool.pk)
        struck = Match.objects.filter(STRUCK, pool=pool).exclude(counted=None)
        if struck.update(counted=None) or rebuild:
            RatingPoint.objects.filter(pool=pool).delete()
            sums.counted_matches(pool).update(counted=None)
            journal.append("pool.rebuilt", f"pool:{pool.pk}", now=now)
            rebuild = True
        waiting = sums.rated_matches(pool).filter(counted=None).select_for_update(no_key=True)
        fresh = list(waiting.order_by("finished", "id"))
        revised = _revise(pool, now) and not rebuild
        if not fresh and not rebuild:
            return revised
        ids = [match.pk for match in fresh]
        played = sums.read_matches(ids)
        tallies = NOTHING if rebuild else sums.remembered(pool)
        before = {} if rebuild else dict(Rating.objects.filter(pool=pool).values_list("version_id", "elo"))
        table = _add(pool, tallies, fresh, played, before, now)
        for start in range(0, len(ids), sums.CHUNK):
            Match.objects.filter(pk__in=ids[start : start + sums.CHUNK]).update(counted=now)
        _write(pool, table, now)
    return True


def _revise(pool: Pool, now: datetime) -> bool:
    """Take the pool, which is locked, over to the present revision of the ratings; whether it had a table, which is fitted anew then."""
    if pool.ratings_revision == REVISION:
        return False
    had = Rating.objects.filter(pool=pool).exists()
    Pool.objects.filter(pk=pool.pk).update(ratings_revision=REVISION, revised=now if had else None)
    if had:
        before = pool.ratings_revision or 1
        _write(pool, fit_pool(pool, sums.read_kept(pool)), now)
        journal.append("pool.revised", f"pool:{pool.pk}", now=now, revisions=[before, REVISION])
    return had


def _add(
    pool: Pool,
    tallies: Tallies,
    fresh: Sequence[Match],
    played: dict[int, sums.PlayedMatch],
    before: dict[int, float],
    now: datetime,
) -> pure.Leaderboard:
    """Add matches to the sums and keep these; the table of all, and the points of the history on the way. `before`: Elo by version."""
    table, known, added = None, tallies, NOTHING
    step = -(-len(fresh) // MOST_FITS)
    for start in range(0, len(fresh), step or 1):
        part = fresh[start : start + step]
        added += sums.tally_matches(pool, [played[match.pk] for match in part])
        tallies = known + added
        table = fit_pool(pool, tallies, start=before)
        _add_points(pool, part[-1], played[part[-1].pk].versions, before, table)
        before = {row.bot: row.elo for row in table.rows}
    matches = sums.counted_matches(pool).count() + len(fresh)
    if known is NOTHING:
        sums.write_kept(pool, tallies, matches=matches, now=now)
    else:
        sums.add_kept(pool, known, added, matches=matches, now=now)
    return table or fit_pool(pool, tallies)


def fit_pool(pool: Pool, tallies: Tallies, *, start: dict[int, float] | None = None) -> pure.Leaderboard:
    """The table of some boards of `pool`. `start`: Elo by version to begin with, for speed alone."""
    strengths = {version: (elo - pure.BASE) / pure.ELO for version, elo in (start or {}).items()}
    return pure.fit_leaderboard(tallies, anchor=anchor_version(set(tallies.ids.tolist())), start=strengths)


def anchor_version(there: Collection[int]) -> int | None:
    """The first version of the anchor bot among those that have played: versions never change, so its strength is a fixed mark."""
    anchors = BotVersion.objects.filter(bot__is_house=True, bot__slug=settings.ANCHOR_BOT).order_by("number")
    return next((version for version in anchors.values_list("pk", flat=True) if version in there), None)


def _add_points(
    pool: Pool, match: Match, versions: Sequence[int], before: dict[int, float], after: pure.Leaderboard
) -> None:
    now = {row.bot: row for row in after.rows}
    at = match.finished
    if at is None:
        raise RuntimeError(f"match {match.public_id} counts and has not finished")
    RatingPoint.objects.bulk_create(
        RatingPoint(
            pool=pool,
            version_id=version,
            match=match,
            elo=now[version].elo,
            margin=now[version].margin,
            change=now[version].elo - before.get(version, pure.BASE),
            at=at,
        )
        for version in versions
    )


def _write(pool: Pool, table: pure.Leaderboard, now: datetime) -> None:
    """Bring the rating rows of `pool` up to date: only those that changed are written."""
    fresh = rating_rows(pool, table, now)
    there = {row.version_id: row for row in Rating.objects.filter(pool=pool)}
    gone = there.keys() - {row.version_id for row in fresh}
    if gone:
        Rating.objects.filter(pool=pool, version_id__in=gone).delete()
    moved = [row for row in fresh if row.version_id not in there or _numbers(row) != _numbers(there[row.version_id])]
    Rating.objects.bulk_create(
        moved, sums.ROWS, update_conflicts=True, unique_fields=["pool", "version"], update_fields=COLUMNS
    )


def _numbers(row: Rating) -> list[object]:
    return [getattr(row, name) for name in COLUMNS if name != "updated"]


def rating_rows(pool: Pool, table: pure.Leaderboard, now: datetime) -> list[Rating]:
    """A table as rows of the database, best first, with ranks among the versions that stand for their bots. Two queries."""
    listed = _listed(table)
    shown = [place for place, row in enumerate(table.rows) if row.bot in listed]
    above, below = table.sure(np.array(shown, dtype=np.int64))  # nobody is surely above himself
    likely = table.likelihoods(np.array(shown[:-1], dtype=np.int64), np.array(shown[1:], dtype=np.int64))
    following = dict(zip(shown, likely.tolist(), strict=False))
    score_size = pools.game_of(pool).score_size
    expected, expected_sd = table.field_scores(np.array([float(row.bot in listed) for row in table.rows]))
    found = []
    for place, row in enumerate(table.rows):
        others = len(shown) - (row.bot in listed)
        found.append(
            Rating(
                pool=pool,
                version_id=row.bot,
                elo=row.elo,
                margin=row.margin,
                boards=row.boards,
                opponents=row.opponents,
                score=row.score,
                points_per_board=row.points_per_board / score_size,
                faults=row.faults,
                rank_best=1 + int(above[place]),
                rank_worst=1 + others - int(below[place]),
                los_next=following.get(place),
                field_score=float(expected[place]),
                field_sd=float(expected_sd[place]),
                provisional=row.provisional,
                listed=row.bot in listed,
                updated=now,
            )
        )
    return found


def _listed(table: pure.Leaderboard) -> set[int]:
    """For each bot its newest version that is not provisional, else its newest."""
    provisional = {row.bot: row.provisional for row in table.rows}
    best: dict[int, tuple[tuple[bool, int], int]] = {}
    for pk, bot_id, number in BotVersion.objects.filter(pk__in=provisional).values_list("pk", "bot_id", "number"):
        claim = (not provisional[pk], number)
        if bot_id not in best or claim > best[bot_id][0]:
            best[bot_id] = (claim, pk)
    return {pk for _, pk in best.values()}
