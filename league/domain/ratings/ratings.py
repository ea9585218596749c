"""Ratings of a pool: always the fit of all its finished, rated boards, whatever way the rows got there."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime

import numpy as np
from django.conf import settings
from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q

from league.domain.core import clock, journal
from league.domain.ratings import pools, totals
from league.enums import MatchStatus
from league.models import BotVersion, Match, Pool, PoolSums, Rating, RatingPoint
from league.pure.portable import ELO_DIGITS, comparable
from league.pure.rating import leaderboard as pure
from league.pure.rating import local
from league.pure.rating.bradley_terry import REVISION
from league.pure.rating.tallies import NOTHING, Tallies, around

MOST_FITS = 60  # fits of one run, which holds the pool locked; when more matches came in, only every so many of them gets a point in the history
STRUCK = Q(status=MatchStatus.VOID) | Q(status=MatchStatus.FINISHED, rated=False)
OF_MATCHES = ("played", "idle")  # columns that follow from no fit
COLUMNS = [field.name for field in Rating._meta.fields if field.name not in ("id", "pool", "version")]


def stale_pools() -> list[Pool]:
    """Pools that lack results, count what was struck out or left unrated since, or have a table of another revision or of earlier sums."""
    waiting = Match.objects.filter(rated=True, status=MatchStatus.FINISHED, counted=None)
    struck = Match.objects.filter(STRUCK).exclude(counted=None)
    ids = {*waiting.values_list("pool_id", flat=True).distinct(), *struck.values_list("pool_id", flat=True).distinct()}
    of_old = Exists(Rating.objects.filter(pool=OuterRef("pk"))) & ~Q(
        ratings_revision__isnull=False, ratings_revision=REVISION
    )
    ids |= set(PoolSums.objects.exclude(ranked=F("stamp")).values_list("pool_id", flat=True))
    return list(Pool.objects.filter(Q(pk__in=ids) | of_old).order_by("pk"))


def refresh(pool: Pool, *, rebuild: bool = False, now: datetime | None = None) -> bool:
    """Take the results that are new in `pool` into its ratings and their history; whether anything changed.

    1. The pool's row is locked: two refreshes wait for each other, and the second one finds nothing new. New matches of the pool do not wait.
    2. Matches struck out since the last time (or `rebuild`) discard sums and history; everything counts as new.
    3. One statement reads and locks the new matches. These are added, these are marked: what finishes or is struck out meanwhile waits.
    4. They are added to the kept sums in the order in which they finished, each with the points of its bots, before and after.
    5. Sums and table replace the rows of `PoolSums` and `Rating`. Marks, sums and table are one transaction: each match counts once.

    The boards of matches that count already are not read. A table of another revision of the ratings is fitted anew from its sums, once;
    its history stays as it was told. A large pool goes on in stages (`league.domain.ratings.refits`); this takes them all at once.
    """
    now = clock.now_or(now)
    with transaction.atomic():
        pool = Pool.objects.select_for_update(no_key=True).get(pk=pool.pk)
        struck = Match.objects.filter(STRUCK, pool=pool).exclude(counted=None)
        if struck.update(counted=None) or rebuild:
            RatingPoint.objects.filter(pool=pool).delete()
            totals.counted_matches(pool).update(counted=None)
            journal.append("pool.rebuilt", f"pool:{pool.pk}", now=now)
            rebuild = True
        waiting = totals.rated_matches(pool).filter(counted=None).select_for_update(no_key=True)
        fresh = list(waiting.order_by("finished", "id"))
        revised = _revise(pool, now) and not rebuild
        if not fresh and not rebuild:
            return settle(pool, now) or revised
        ids = [match.pk for match in fresh]
        played = totals.read_matches(ids)
        last = last_played((match, played[match.pk].versions) for match in fresh)
        known = totals.Kept.of(NOTHING) if rebuild else totals.remembered(pool)
        before = {} if rebuild else shown_elo(pool)
        table = _add(pool, known, fresh, played, before, now)
        mark_counted(ids, now)
        _write(pool, table, now, last, anew=rebuild)
    return True


def settle(pool: Pool, now: datetime) -> bool:
    """Bring the table of `pool`, which is locked, up to the sums that are kept; whether it was not."""
    if not PoolSums.objects.filter(pool=pool).exclude(ranked=F("stamp")).exists():
        return False
    _write(pool, fit_pool(pool, totals.remembered(pool).whole, start=shown_elo(pool)), now)
    totals.settle(pool, now)
    return True


def shown_elo(pool: Pool) -> dict[int, float]:
    """Elo by version, as the table has it."""
    return dict(Rating.objects.filter(pool=pool).values_list("version_id", "elo"))


def mark_counted(ids: Sequence[int], now: datetime) -> None:
    """These matches, which are locked, count."""
    for start in range(0, len(ids), totals.CHUNK):
        Match.objects.filter(pk__in=ids[start : start + totals.CHUNK]).update(counted=now)


def _revise(pool: Pool, now: datetime) -> bool:
    """Take the pool, which is locked, over to the present revision of the ratings; whether it had a table, which is fitted anew then."""
    if pool.ratings_revision == REVISION:
        return False
    had = Rating.objects.filter(pool=pool).exists()
    Pool.objects.filter(pk=pool.pk).update(ratings_revision=REVISION, revised=now if had else None)
    if had:
        before = pool.ratings_revision or 1
        _write(pool, fit_pool(pool, totals.read_kept(pool)), now)
        totals.settle(pool, now)
        journal.append("pool.revised", f"pool:{pool.pk}", now=now, revisions=[before, REVISION])
    return had


def is_large(versions: int) -> bool:
    """Whether a pool of so many versions is counted, fitted and ranked in stages."""
    return versions > settings.RATINGS_AT_ONCE


def _add(
    pool: Pool,
    known: totals.Kept,
    fresh: Sequence[Match],
    played: dict[int, totals.PlayedMatch],
    before: dict[int, float],
    now: datetime,
) -> pure.Leaderboard:
    """Add matches to the sums and keep these; the table of all, and the points of the history on the way. `before`: Elo by version.

    In a large pool strengths alone are fitted on the way, and the margins of its history are those of the versions' own boards.
    """
    table, tallies, added = None, known.whole, NOTHING
    step = -(-len(fresh) // MOST_FITS)
    large = is_large(
        len({*tallies.ids.tolist(), *(version for match in played.values() for version in match.versions)})
    )
    for start in range(0, len(fresh), step or 1):
        part = fresh[start : start + step]
        added += totals.tally_matches(pool, [played[match.pk] for match in part])
        tallies = known.whole + added
        versions = played[part[-1].pk].versions
        if large:
            after = fit_elo(tallies, before)
            margins = {version: one.margin for version, one in estimate(tallies, versions, after).items()}
        else:
            table = fit_pool(pool, tallies, start=before)
            after = {row.bot: row.elo for row in table.rows}
            margins = {row.bot: row.margin for row in table.rows}
        add_points(pool, part[-1], versions, before, after, margins)
        before = after
    matches = totals.counted_matches(pool).count() + len(fresh)
    if known.is_empty:
        totals.write_kept(pool, tallies, matches=matches, now=now)
    else:
        totals.add_kept(pool, known, added, matches=matches, now=now)
    return table or fit_pool(pool, tallies, start=before)


def fit_elo(tallies: Tallies, before: Mapping[int, float]) -> dict[int, float]:
    """The Elo of all, without margins and ranks. `before`: by version, for speed alone."""
    return pure.fit_elo(tallies, anchor=anchor_version(set(tallies.ids.tolist())), start=before)


def estimate(boards: Tallies, versions: Collection[int], elo: Mapping[int, float]) -> dict[int, local.Estimate]:
    """Elo and margin of some versions by `boards` with all others held at `elo`."""
    return local.estimate(around([boards], versions), versions, elo, anchor=anchor_version(versions))


def fit_pool(pool: Pool, tallies: Tallies, *, start: dict[int, float] | None = None) -> pure.Leaderboard:
    """The table of some boards of `pool`. `start`: Elo by version to begin with, for speed alone."""
    strengths = {version: (elo - pure.BASE) / pure.ELO for version, elo in (start or {}).items()}
    return pure.fit_leaderboard(
        tallies, anchor=anchor_version(set(tallies.ids.tolist())), start=strengths, choose=choose_listed
    )


def anchor_version(there: Collection[int]) -> int | None:
    """The first version of the anchor bot among those that have played: versions never change, so its strength is a fixed mark."""
    anchors = BotVersion.objects.filter(bot__is_house=True, bot__slug=settings.ANCHOR_BOT).order_by("number")
    return next((version for version in anchors.values_list("pk", flat=True) if version in there), None)


def add_points(
    pool: Pool,
    match: Match,
    versions: Sequence[int],
    before: Mapping[int, float],
    after: Mapping[int, float],
    margins: Mapping[int, float],
) -> None:
    """The points of the history of those who played `match`. Elo before and after it, by version."""
    at = match.finished
    if at is None:
        raise RuntimeError(f"match {match.public_id} counts and has not finished")
    RatingPoint.objects.bulk_create(
        RatingPoint(
            pool=pool,
            version_id=version,
            match=match,
            elo=after[version],
            margin=margins[version],
            change=comparable(after[version] - before.get(version, pure.BASE), ELO_DIGITS),
            at=at,
        )
        for version in versions
    )


def last_played(matches: Iterable[tuple[Match, Iterable[int]]]) -> dict[int, datetime]:
    """When the last of these matches of each version was over. `matches`: each with its versions."""
    last: dict[int, datetime] = {}
    for match, versions in matches:
        if match.finished:
            for version in versions:
                last[version] = max(match.finished, last.get(version, match.finished))
    return last


def note_played(row: Rating, before: Rating | None, last: Mapping[int, datetime]) -> None:
    """Write into `row` when its version played last, and that it is not idle where it is among the `last`; else as it was `before`."""
    if before is not None:
        row.played, row.idle = before.played, before.idle
    if row.version_id in last:
        row.played, row.idle = max(last[row.version_id], row.played or last[row.version_id]), False


def _write(
    pool: Pool,
    table: pure.Leaderboard,
    now: datetime,
    last: Mapping[int, datetime] | None = None,
    *,
    anew: bool = False,
) -> None:
    """Bring the rating rows of `pool` up to date: only those that changed are written. `last`: see `note_played`; `anew`: it names all."""
    fresh = rating_rows(pool, table, now)
    there = {row.version_id: row for row in Rating.objects.filter(pool=pool)}
    for row in fresh:
        note_played(row, None if anew else there.get(row.version_id), last or {})
    gone = there.keys() - {row.version_id for row in fresh}
    if gone:
        Rating.objects.filter(pool=pool, version_id__in=gone).delete()
    write_rows(moved_rows(fresh, there))


def moved_rows(fresh: Iterable[Rating], there: Mapping[int, Rating]) -> list[Rating]:
    """Those of the rows `fresh` that differ from what is `there`, by version."""
    return [row for row in fresh if row.version_id not in there or _numbers(row) != _numbers(there[row.version_id])]


def write_rows(rows: Iterable[Rating], names: Collection[str] = COLUMNS) -> None:
    """Write these rows; of those that are there, these columns."""
    rows = list(rows)
    for row in rows:
        row.pk = None  # pool and version say which row it is
    Rating.objects.bulk_create(
        rows, totals.ROWS, update_conflicts=True, unique_fields=["pool", "version"], update_fields=names
    )


def _numbers(row: Rating) -> list[object]:
    return [getattr(row, name) for name in COLUMNS if name != "updated"]


def rating_rows(pool: Pool, table: pure.Leaderboard, now: datetime) -> list[Rating]:
    """A table as rows of the database, best first. No query."""
    score_size = pools.game_of(pool).score_size
    expected, expected_sd = table.field_scores(np.array([float(row.listed) for row in table.rows]))
    return [
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
            rank_best=row.rank_best,
            rank_worst=row.rank_worst,
            los_next=row.los_next,
            field_score=field_score,
            field_sd=field_sd,
            provisional=row.provisional,
            listed=row.listed,
            updated=now,
        )
        for row, field_score, field_sd in zip(table.rows, expected.tolist(), expected_sd.tolist(), strict=True)
    ]


def choose_listed(provisional: Mapping[int, bool]) -> set[int]:
    """For each bot its newest version that is not provisional, else its newest. `provisional`: of versions. A query for each 5,000 of them."""
    best: dict[int, tuple[tuple[bool, int], int]] = {}
    there = sorted(provisional)
    for start in range(0, len(there), totals.CHUNK):
        rows = BotVersion.objects.filter(pk__in=there[start : start + totals.CHUNK])
        for pk, bot_id, number in rows.values_list("pk", "bot_id", "number"):
            claim = (not provisional[pk], number)
            if bot_id not in best or claim > best[bot_id][0]:
                best[bot_id] = (claim, pk)
    return {pk for _, pk in best.values()}
