"""The ratings of a pool: always the fit of all its finished, rated boards, whatever way the rows were computed."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

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

MOST_FITS = (
    # The most fits of one run, while the pool is locked. With more new matches, only every n-th gets a point in the history.
    60
)
STRUCK = Q(status=MatchStatus.VOID) | Q(status=MatchStatus.FINISHED, rated=False)
OF_MATCHES = ("played", "idle", "slowest_s")  # Columns that do not come from a fit.
COLUMNS = [field.name for field in Rating._meta.fields if field.name not in ("id", "pool", "version")]


def stale_pools() -> list[Pool]:
    """Return the pools that lack results, count a match voided or unrated since, or have a table of an older revision or older totals."""
    waiting = Match.objects.filter(rated=True, status=MatchStatus.FINISHED, counted=None)
    struck = Match.objects.filter(STRUCK).exclude(counted=None)
    ids = {*waiting.values_list("pool_id", flat=True).distinct(), *struck.values_list("pool_id", flat=True).distinct()}
    of_old = Exists(Rating.objects.filter(pool=OuterRef("pk"))) & ~Q(
        ratings_revision__isnull=False, ratings_revision=REVISION
    )
    ids |= set(PoolSums.objects.exclude(ranked=F("stamp")).values_list("pool_id", flat=True))
    return list(Pool.objects.filter(Q(pk__in=ids) | of_old).order_by("pk"))


def refresh(pool: Pool, *, rebuild: bool = False, now: datetime | None = None) -> bool:
    """Add the new results of `pool` to its ratings and their history; return True if anything changed.

    1. The pool's row is locked, so a second refresh waits and then finds nothing new. New matches of the pool do not wait.
    2. If a match was voided since the last time (or with `rebuild`), totals and history are discarded and everything counts as new.
    3. One statement reads and locks the new matches. Exactly these are added and marked as counted; changes to other matches wait for the next
       call.
    4. They are added to the stored totals in the order in which they finished, each with the rating points of its bots, before and after.
    5. Totals and table replace the rows of `PoolSums` and `Rating`. All of this is one transaction, so each match counts once.

    The boards of counted matches are not read again. A table of an older revision of the rating model is refitted from its totals once; its history
    stays. A large pool is rated in stages (`league.domain.ratings.refits`); this function runs all of them at once.
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
        last = note_matches((match, played[match.pk]) for match in fresh)
        current = totals.CachedTotals.of_tallies(NOTHING) if rebuild else totals.cached(pool)
        before = {} if rebuild else shown_elo(pool)
        table = _add(pool, current, fresh, played, before, now)
        mark_counted(ids, now)
        _write(pool, table, now, last, is_rebuild=rebuild)
    return True


def settle(pool: Pool, now: datetime) -> bool:
    """Compute the table of `pool`, which is locked, from the stored totals; return False if it was current."""
    if not PoolSums.objects.filter(pool=pool).exclude(ranked=F("stamp")).exists():
        return False
    _write(pool, fit_pool(pool, totals.cached(pool).whole, start=shown_elo(pool)), now)
    totals.settle(pool, now)
    return True


def shown_elo(pool: Pool) -> dict[int, float]:
    """Return the Elo of each version in the table."""
    return dict(Rating.objects.filter(pool=pool).values_list("version_id", "elo"))


def mark_counted(ids: Sequence[int], now: datetime) -> None:
    """Mark these matches, which are locked, as counted."""
    for start in range(0, len(ids), totals.CHUNK):
        Match.objects.filter(pk__in=ids[start : start + totals.CHUNK]).update(counted=now)


def _revise(pool: Pool, now: datetime) -> bool:
    """Move the pool, which is locked, to the current revision of the rating model; return True if it had a table, which is then refitted."""
    if pool.ratings_revision == REVISION:
        return False
    had = Rating.objects.filter(pool=pool).exists()
    Pool.objects.filter(pk=pool.pk).update(ratings_revision=REVISION, revised=now if had else None)
    if had:
        before = pool.ratings_revision or 1
        _write(pool, fit_pool(pool, totals.read_stored(pool)), now)
        totals.settle(pool, now)
        journal.append("pool.revised", f"pool:{pool.pk}", now=now, revisions=[before, REVISION])
    return had


def is_large(versions: int) -> bool:
    """Return True if a pool with this many versions is rated in stages."""
    return versions > settings.RATINGS_AT_ONCE


def _add(
    pool: Pool,
    current: totals.CachedTotals,
    fresh: Sequence[Match],
    played: dict[int, totals.PlayedMatch],
    before: dict[int, float],
    now: datetime,
) -> pure.Leaderboard:
    """Add matches to the totals and store them; write the history, and return the whole table. `before`: Elo by version.

    For the history of a large pool only strengths are fitted, and margins come from the versions' own boards.
    """
    table, tallies, added = None, current.whole, NOTHING
    step = -(-len(fresh) // MOST_FITS)
    large = is_large(
        len({*tallies.ids.tolist(), *(version for match in played.values() for version in match.versions)})
    )
    for start in range(0, len(fresh), step or 1):
        part = fresh[start : start + step]
        added += totals.tally_matches(pool, [played[match.pk] for match in part])
        tallies = current.whole + added
        versions = played[part[-1].pk].versions
        if large:
            after = fit_elo(tallies, before)
            margins = {version: row.margin for version, row in estimate(tallies, versions, after).items()}
        else:
            table = fit_pool(pool, tallies, start=before)
            after = {row.bot: row.elo for row in table.rows}
            margins = {row.bot: row.margin for row in table.rows}
        add_points(pool, part[-1], versions, before, after, margins)
        before = after
    matches = totals.counted_matches(pool).count() + len(fresh)
    if current.is_empty:
        totals.write_stored(pool, tallies, matches=matches, now=now)
    else:
        totals.add_stored(pool, current, added, matches=matches, now=now)
    return table or fit_pool(pool, tallies, start=before)


def fit_elo(tallies: Tallies, before: Mapping[int, float]) -> dict[int, float]:
    """Fit the Elo of all versions, without margins and ranks. `before`: Elo by version, only to start the fit."""
    return pure.fit_elo(tallies, anchor=anchor_version(set(tallies.ids.tolist())), start=before)


def estimate(boards: Tallies, versions: Collection[int], elo: Mapping[int, float]) -> dict[int, local.LocalEstimate]:
    """Estimate Elo and margin of `versions` from `boards`; the Elo of all other versions is fixed at `elo`."""
    return local.estimate(around([boards], versions), versions, elo, anchor=anchor_version(versions))


def fit_pool(pool: Pool, tallies: Tallies, *, start: dict[int, float] | None = None) -> pure.Leaderboard:
    """Fit the table of some boards of `pool`. `start`: Elo by version to begin with, only for speed."""
    strengths = {version: (elo - pure.BASE) / pure.ELO for version, elo in (start or {}).items()}
    return pure.fit_leaderboard(
        tallies, anchor=anchor_version(set(tallies.ids.tolist())), start=strengths, choose=choose_listed
    )


def anchor_version(versions: Collection[int]) -> int | None:
    """Return the first of these versions that belongs to the anchor bot. Versions never change, so its strength can be fixed."""
    anchors = BotVersion.objects.filter(bot__is_house=True, bot__slug=settings.ANCHOR_BOT).order_by("number")
    return next((version for version in anchors.values_list("pk", flat=True) if version in versions), None)


def add_points(
    pool: Pool,
    match: Match,
    versions: Sequence[int],
    before: Mapping[int, float],
    after: Mapping[int, float],
    margins: Mapping[int, float],
) -> None:
    """Write the history points of the versions that played `match`. Elo before and after it, by version."""
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


class MatchNotes(NamedTuple):
    """Facts about the matches of a version: when the last one finished, and the CPU seconds of the slowest decision."""

    played: datetime
    slowest_s: float | None


def note_matches(matches: Iterable[tuple[Match, totals.PlayedMatch]]) -> dict[int, MatchNotes]:
    """Return the notes of these matches by version."""
    notes: dict[int, MatchNotes] = {}
    for match, seats in matches:
        if match.finished:
            for version, slowest in zip(seats.versions, seats.slowest, strict=True):
                before = notes.get(version, MatchNotes(match.finished, None))
                notes[version] = MatchNotes(max(match.finished, before.played), slower(slowest, before.slowest_s))
    return notes


def slower(first: float | None, second: float | None) -> float | None:
    """Return the larger of two times, of which each may be unknown."""
    return max((seconds for seconds in (first, second) if seconds is not None), default=None)


def note_played(row: Rating, before: Rating | None, last: Mapping[int, MatchNotes]) -> None:
    """Set the columns OF_MATCHES: as in the row before, together with the notes in `last` of further matches of this version."""
    if before is not None:
        row.played, row.idle, row.slowest_s = before.played, before.idle, before.slowest_s
    if row.version_id in last:
        notes = last[row.version_id]
        row.played, row.idle = max(notes.played, row.played or notes.played), False
        row.slowest_s = slower(notes.slowest_s, row.slowest_s)


def _write(
    pool: Pool,
    table: pure.Leaderboard,
    now: datetime,
    last: Mapping[int, MatchNotes] | None = None,
    *,
    is_rebuild: bool = False,
) -> None:
    """Bring the rating rows of `pool` up to date; write only those that changed. `last`: see `note_played`; with `is_rebuild` it has all versions."""
    fresh = rating_rows(pool, table, now)
    stored = {row.version_id: row for row in Rating.objects.filter(pool=pool)}
    for row in fresh:
        note_played(row, None if is_rebuild else stored.get(row.version_id), last or {})
    gone = stored.keys() - {row.version_id for row in fresh}
    if gone:
        Rating.objects.filter(pool=pool, version_id__in=gone).delete()
    write_rows(moved_rows(fresh, stored))


def moved_rows(fresh: Iterable[Rating], stored: Mapping[int, Rating]) -> list[Rating]:
    """Return the `fresh` rows that differ from the `stored` ones (by version)."""
    return [row for row in fresh if row.version_id not in stored or _numbers(row) != _numbers(stored[row.version_id])]


def write_rows(rows: Iterable[Rating], names: Collection[str] = COLUMNS) -> None:
    """Insert these rows, or update the columns `names` of existing ones."""
    rows = list(rows)
    for row in rows:
        row.pk = None  # Pool and version identify the row.
    Rating.objects.bulk_create(
        rows, totals.ROWS, update_conflicts=True, unique_fields=["pool", "version"], update_fields=names
    )


def _numbers(row: Rating) -> list[object]:
    return [getattr(row, name) for name in COLUMNS if name != "updated"]


def rating_rows(pool: Pool, table: pure.Leaderboard, now: datetime) -> list[Rating]:
    """Turn a table into database rows, best first. No query."""
    score_size = pools.game_of(pool).score_size
    expected, expected_sd = table.field_scores(np.array([float(row.listed) for row in table.rows]))
    return [
        Rating(
            pool=pool,
            version_id=row.bot,
            elo=row.elo,
            margin=row.margin,
            certain=row.certain,
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


def choose_listed(certain: Mapping[int, float]) -> set[int]:
    """Return for each bot its version with the highest certain Elo, the newest of equals. `certain`: by version. A query per 5,000 versions.

    So a bot keeps its place while a new version proves itself, and nobody gains by going back to a version that was lucky.
    """
    best: dict[int, tuple[tuple[float, int], int]] = {}
    versions = sorted(certain)
    for start in range(0, len(versions), totals.CHUNK):
        rows = BotVersion.objects.filter(pk__in=versions[start : start + totals.CHUNK])
        for pk, bot_id, number in rows.values_list("pk", "bot_id", "number"):
            claim = (certain[pk], number)
            if bot_id not in best or claim > best[bot_id][0]:
                best[bot_id] = (claim, pk)
    return {pk for _, pk in best.values()}
