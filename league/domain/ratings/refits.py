"""Ratings of large pools, in stages: results are shown at once, all strengths after seconds, intervals and ranks later.

1. `count`: results enter the totals, and the versions that played move by their own boards (`league.pure.rating.local`). Their rows are
   `estimated`.
2. `fit`: the strengths of all versions. A row is written if its strength moved by more than MOVED, or was estimated.
3. `rank`: the whole table, exactly as `ratings.refresh` writes it.

The stamps in `PoolSums` say which totals each stage has used, and so which stage is due. Fits take long, so they lock nothing: they work on a
snapshot of the totals, and leave the estimated strengths of versions that played in the meantime. One process does all stages of a pool, since it
has the totals in memory; if it dies, another one takes over after KEEP and reads them.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import Avg, Count, Exists, F, OuterRef, Q

from league.domain.core import clock
from league.domain.ratings import pools, ratings, totals
from league.enums import MatchStatus
from league.models import BotSums, BotVersion, Match, Pool, PoolSums, Rating
from league.pure.portable import ELO_DIGITS, comparable
from league.pure.rating import local
from league.pure.rating.bradley_terry import REVISION
from league.pure.rating.leaderboard import BASE, certain_elo, expected_score

BATCH = 50  # Matches counted in one transaction.
PART = 200  # Rows written in one transaction.
STRENGTH = ("elo", "certain", "estimated")  # Columns that a fit of all strengths writes.
OF_BOARDS = ("boards", "opponents", "score", "points_per_board", "faults")
MOVED = 0.05  # Elo; a row that moves by less is written with the next whole table.
KEEP = timedelta(seconds=20)  # After this time another process takes over the pools of a process that died.


class FairLock:
    """A lock that goes to the thread that has waited longest.

    A lock of `threading` goes to any thread that is awake: a thread that writes a table in parts would get it again at once, and a new result would
    have to wait for the last part.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._next = 0  # Number of the next thread to arrive
        self._served = 0

    @property
    def waiting(self) -> int:
        """Return the number of waiting threads."""
        return max(0, self._next - self._served - 1)

    def locked(self) -> bool:
        """Return True if a thread has the lock."""
        return self._next > self._served

    def __enter__(self) -> None:
        with self._changed:
            number, self._next = self._next, self._next + 1
            self._changed.wait_for(lambda: self._served == number)

    def __exit__(self, *_raised: object) -> None:
        with self._changed:
            self._served += 1
            self._changed.notify_all()


class _KeeperState:
    """The state of this process: its name as the keeper of pools, and the locks of its threads."""

    name = ""  # Empty in commands, which keep no pool and may work on every one.
    # Held while totals change: the next thread finds the changes in the cache and need not read them again.
    writing = FairLock()
    fitting = threading.Lock()
    ranking = threading.Lock()


@dataclass(eq=False)
class _Snapshot:
    """A snapshot of the totals for a long stage, the state of the stages at that time, and the matches counted since."""

    stamp: int
    fitted: int
    ranked: int
    totals: totals.CachedTotals
    at: datetime
    counted: set[int] = field(default_factory=set)  # Versions that have played since.
    unlisted: set[int] = field(default_factory=set)  # Versions that a newer version has replaced in the table since.
    late: list[datetime] = field(default_factory=list)  # Finish times of the matches counted since.


_snapshots: dict[int, weakref.WeakSet[_Snapshot]] = {}  # The running snapshots of each pool.


def keep_pools_as(name: str) -> None:
    """Make this process the keeper of large pools under this name; other processes leave these pools to it."""
    _KeeperState.name = name


def count_new(pool: Pool, *, now: datetime | None = None) -> bool:
    """Count the new results of `pool` and show them; return True if anything changed. The table of a small pool is written completely."""
    now = clock.now_or(now)
    if not _is_large(pool):
        return ratings.refresh(pool, now=now)
    if _must_rebuild(pool):
        return _keeps(pool, now) and ratings.refresh(pool, now=now)
    changed = False
    while counted := count(pool, now=now):
        changed = True
        if counted < BATCH:
            break
    return changed


def advance(pool: Pool, *, now: datetime | None = None) -> bool:
    """Count new results, and run the later stages of a large pool that are due; return True if anything changed."""
    now = clock.now_or(now)
    changed = count_new(pool, now=now)
    return any([changed, fit_due(now=now, pool=pool), rank_due(now=now, pool=pool)])


def fit_due(*, now: datetime | None = None, pool: Pool | None = None) -> int:
    """Fit all strengths in each large pool (or in `pool`) that is due; return the number of pools."""
    wait = timedelta(seconds=settings.RATINGS_FIT_S)
    return _each_due(_KeeperState.fitting, fit, pool, clock.now_or(now), ~Q(fitted=F("stamp")), "fitted_until", wait)


def rank_due(*, now: datetime | None = None, pool: Pool | None = None) -> int:
    """Write the whole table of each large pool (or of `pool`) that is due; return the number of pools."""
    wait = timedelta(seconds=settings.RATINGS_RANK_S)
    return _each_due(_KeeperState.ranking, rank, pool, clock.now_or(now), ~Q(ranked=F("stamp")), "ranked_until", wait)


def count_waiting(*, now: datetime | None = None) -> int:
    """Count results that no hint announced in the large pools of this process, and remain their keeper; return the number of changed pools."""
    now = clock.now_or(now)
    if _KeeperState.name:
        PoolSums.objects.filter(keeper=_KeeperState.name, keeper_until__lt=now + KEEP / 2).update(
            keeper_until=now + KEEP
        )
    waiting = Match.objects.filter(rated=True, status=MatchStatus.FINISHED, counted=None)
    pools_waiting = Pool.objects.filter(pk__in=set(waiting.values_list("pool_id", flat=True).distinct()))
    return sum(count_new(pool, now=now) for pool in pools_waiting if _is_large(pool))


def _each_due(
    lock: threading.Lock,
    stage: Callable[..., bool],
    pool: Pool | None,
    now: datetime,
    due: Q,
    until: str,
    wait: timedelta,
) -> int:
    if not lock.acquire(blocking=False):
        return 0  # Another thread is counting.
    try:
        heads = PoolSums.objects.filter(due, _kept_here(now)).filter(
            Q(**{until: None}) | Q(**{f"{until}__lte": now - wait}) | Q(updated__lte=now - wait)
        )
        heads = heads if pool is None else heads.filter(pool=pool)
        return sum(stage(head.pool, now=now) for head in heads.select_related("pool") if _is_large(head.pool))
    finally:
        lock.release()


def _kept_here(now: datetime) -> Q:
    return (
        Q(keeper__in=["", _KeeperState.name]) | Q(keeper_until=None) | Q(keeper_until__lt=now)
        if _KeeperState.name
        else Q()
    )


def _keeps(pool: Pool, now: datetime) -> bool:
    """Return True if no other process keeps the pool."""
    return not PoolSums.objects.filter(pool=pool).exclude(_kept_here(now)).exists() if _KeeperState.name else True


def _is_large(pool: Pool) -> bool:
    """Return True if the pool is large; reads only as many rows as it needs."""
    most = settings.RATINGS_AT_ONCE
    return BotSums.objects.filter(pool=pool).order_by("version_id")[most : most + 1].exists()


def _must_rebuild(pool: Pool) -> bool:
    """Return True if a counted match was voided, or the table has an older revision: then the whole pool has to be counted or fitted again."""
    struck = Match.objects.filter(ratings.STRUCK, pool=OuterRef("pk")).exclude(counted=None)
    rows = Pool.objects.annotate(struck=Exists(struck)).values_list("ratings_revision", "struck")
    revision, is_struck = rows.get(pk=pool.pk)
    return is_struck or revision != REVISION


def count(pool: Pool, *, now: datetime) -> int:
    """Count at most BATCH new results of `pool`, oldest first, and estimate the versions that played; return the number of results.

    Marks, totals and rows change in one transaction, as in `ratings.refresh`. Return 0 if another process keeps the pool.
    """
    with _KeeperState.writing, transaction.atomic():
        pool = Pool.objects.select_for_update(no_key=True).get(pk=pool.pk)
        head = PoolSums.objects.get(pool=pool)
        if (
            _KeeperState.name
            and head.keeper not in ("", _KeeperState.name)
            and head.keeper_until
            and head.keeper_until >= now
        ):
            return 0
        waiting = totals.rated_matches(pool).filter(counted=None).select_for_update(no_key=True)
        fresh = list(waiting.order_by("finished", "id")[:BATCH])
        if not fresh:
            return 0
        ids = [match.pk for match in fresh]
        played = totals.read_matches(ids)
        before = totals.cached(pool)
        added = totals.tally_matches(pool, played.values())
        movers = set(added.ids.tolist())
        elo = _elo_of((before + added).around(movers).ids.tolist(), pool)
        anchor = ratings.anchor_version(movers)
        estimates: dict[int, local.LocalEstimate] = {}
        current = before
        for match in fresh:
            current += totals.tally_matches(pool, [played[match.pk]])
            versions = played[match.pk].versions
            match_estimates = local.estimate(current.around(versions), versions, elo, anchor)
            after = {version: estimate.elo for version, estimate in match_estimates.items()}
            margins = {version: estimate.margin for version, estimate in match_estimates.items()}
            ratings.add_points(pool, match, versions, elo, after, margins)
            elo |= after
            estimates |= match_estimates
        last = ratings.note_matches((match, played[match.pk]) for match in fresh)
        unlisted = _write_estimates(pool, current, estimates, last, now)
        ratings.mark_counted(ids, now)
        finished = [match.finished for match in fresh if match.finished]
        columns = {
            f"{stage}_until": min([*finished, getattr(head, f"{stage}_until") or now]) for stage in ("fitted", "ranked")
        }
        if _KeeperState.name:
            columns |= {"keeper": _KeeperState.name, "keeper_until": now + KEEP}
        totals.add_stored(pool, before, added, matches=head.matches + len(fresh), now=now, settled=False, **columns)
        for snapshot in tuple(_snapshots.get(pool.pk, ())):
            snapshot.counted |= movers
            snapshot.unlisted |= unlisted
            snapshot.late += finished
    return len(fresh)


def _elo_of(versions: Collection[int], pool: Pool) -> dict[int, float]:
    rows = Rating.objects.filter(pool=pool, version_id__in=versions)
    return dict(rows.values_list("version_id", "elo"))


def _write_estimates(
    pool: Pool,
    current: totals.CachedTotals,
    estimates: Mapping[int, local.LocalEstimate],
    last: Mapping[int, ratings.MatchNotes],
    now: datetime,
) -> set[int]:
    """Write the rows of the versions that played; return the versions that a newcomer replaces in the table.

    Margins, ranks and superiority stay; those of a newcomer come from its own boards alone.
    """
    rows = {row.version_id: row for row in Rating.objects.filter(pool=pool, version_id__in=estimates)}
    new = {version: estimate for version, estimate in estimates.items() if version not in rows}
    unlisted: set[int] = set()
    if new:
        newcomers, unlisted = _newcomers(pool, new, now)
        rows |= newcomers
    near = current.around(estimates)
    first, second = near.met_pairs()
    size = pools.game_of(pool).score_size
    for place, counts in enumerate(near.totals.tolist()):
        version, boards, points, half_points, meetings, faults = counts
        if version not in estimates:
            continue
        rating = rows[version]
        ratings.note_played(rating, rating, last)
        rating.elo, rating.estimated, rating.updated = estimates[version].elo, True, now
        rating.certain = certain_elo(rating.elo, rating.margin)
        rating.boards, rating.faults, rating.points_per_board = boards, faults, points / boards / size
        rating.score = half_points / (2 * meetings)
        rating.opponents = len(set(first[second == place].tolist()) | set(second[first == place].tolist()))
    ratings.write_rows(rows.values())
    return unlisted


def _newcomers(
    pool: Pool, estimates: Mapping[int, local.LocalEstimate], now: datetime
) -> tuple[dict[int, Rating], set[int]]:
    """Create provisional rows for versions without one, in no particular order. Return them, and the versions that they replace in the table."""
    listed = Rating.objects.filter(pool=pool, listed=True).aggregate(number=Count("pk"), middle=Avg("elo"))
    bots = BotVersion.objects.filter(pk__in=estimates).values_list("bot_id", flat=True)
    siblings = dict(Rating.objects.filter(pool=pool, version__bot__in=bots).values_list("version_id", "certain"))
    chosen = ratings.choose_listed(
        siblings | {version: certain_elo(estimate.elo, estimate.margin) for version, estimate in estimates.items()}
    )
    unlisted = siblings.keys() - chosen
    Rating.objects.filter(pool=pool, version_id__in=unlisted, listed=True).update(listed=False)
    middle = BASE if listed["middle"] is None else comparable(listed["middle"], ELO_DIGITS)
    rows = {
        version: Rating(
            pool=pool,
            version_id=version,
            margin=estimate.margin,
            rank_best=1,
            rank_worst=listed["number"] + 1,
            field_score=comparable(expected_score(estimate.elo, middle)),
            field_sd=0.5,
            provisional=True,
            listed=version in chosen,
            updated=now,
        )
        for version, estimate in estimates.items()
    }
    return rows, unlisted


def fit(pool: Pool, *, now: datetime) -> bool:
    """Fit all strengths to the current totals; return False if that was not due, or another process did it in the meantime."""
    snapshot = _begin(pool, now, "fitted")
    if snapshot is None:
        return False
    after = ratings.fit_elo(snapshot.totals.whole, ratings.shown_elo(pool))
    current = Rating.objects.filter(pool=pool).values_list("version_id", "elo", "estimated")
    moved = [
        version
        for version, elo, estimated in current
        if version in after and (comparable(abs(after[version] - elo), ELO_DIGITS) > MOVED or estimated)
    ]

    def write(head: PoolSums, chunk: list[int]) -> bool:
        rows = list(Rating.objects.filter(pool=pool, version_id__in=set(chunk) - snapshot.counted))
        for row in rows:
            row.elo, row.estimated, row.updated = after[row.version_id], False, now
            row.certain = certain_elo(row.elo, row.margin)
        ratings.write_rows(rows, [*STRENGTH, "updated"])
        return True

    return _write_in_parts(pool, snapshot, moved, write, ["fitted"])


def rank(pool: Pool, *, now: datetime) -> bool:
    """Write the whole table from the current totals; return False if that was not due, or another process did it in the meantime."""
    snapshot = _begin(pool, now, "ranked")
    if snapshot is None:
        return False
    table = ratings.fit_pool(pool, snapshot.totals.whole, start=ratings.shown_elo(pool))
    fresh = {row.version_id: row for row in ratings.rating_rows(pool, table, now)}

    def write(head: PoolSums, chunk: list[int]) -> bool:
        # True if the table already has strengths from later totals.
        newer = head.fitted not in (snapshot.fitted, snapshot.stamp)
        stored = {row.version_id: row for row in Rating.objects.filter(pool=pool, version_id__in=chunk)}
        for version in chunk:
            counted = version in snapshot.counted
            if version in stored:
                names = (*ratings.OF_MATCHES, *(STRENGTH if counted or newer else ()), *(OF_BOARDS if counted else ()))
                for name in names:
                    setattr(fresh[version], name, getattr(stored[version], name))
            if version in snapshot.unlisted:
                fresh[version].listed = False
        ratings.write_rows(ratings.moved_rows([fresh[version] for version in chunk], stored))
        return not newer

    return _write_in_parts(pool, snapshot, list(fresh), write, ["ranked"])


def _begin(pool: Pool, now: datetime, stage: str) -> _Snapshot | None:
    """Return a snapshot of the totals for a stage; None if the stage is not due."""
    with _KeeperState.writing, transaction.atomic():
        pool = Pool.objects.select_for_update(no_key=True).get(pk=pool.pk)
        head = PoolSums.objects.filter(pool=pool).first()
        if head is None or getattr(head, stage) == head.stamp or _must_rebuild(pool):
            return None
        snapshot = _Snapshot(head.stamp, head.fitted, head.ranked, totals.cached(pool), now)
        totals.cache(pool.pk, head.stamp, snapshot.totals)
        _snapshots.setdefault(pool.pk, weakref.WeakSet()).add(snapshot)
    return snapshot


def _write_in_parts(
    pool: Pool,
    snapshot: _Snapshot,
    versions: list[int],
    write: Callable[[PoolSums, list[int]], bool],
    stages: list[str],
) -> bool:
    """Write the rows of these versions, one part per transaction, so that new results need not wait; then mark the stages as done.

    `write` returns True if the strengths are now those of the snapshot as well. Return False if another process has rebuilt the table; then the
    remaining parts are dropped.
    """
    strengths = True
    for start in range(0, len(versions) + PART, PART):  # The additional round, with an empty part, marks the stages.
        with _KeeperState.writing, transaction.atomic():
            Pool.objects.select_for_update(no_key=True).get(pk=pool.pk)
            head = PoolSums.objects.get(pool=pool)
            if (head.ranked != snapshot.ranked) or (stages == ["fitted"] and head.fitted != snapshot.fitted):
                return False
            if chunk := versions[start : start + PART]:
                strengths &= write(head, chunk)
                continue
            if head.stamp != snapshot.stamp and not snapshot.counted:
                return False  # Another process has counted, so this one does not know which versions played.
            until = min([snapshot.at, *snapshot.late])
            stages_done = {*stages, "fitted"} if strengths else {*stages}
            columns = dict.fromkeys(stages_done, snapshot.stamp) | {f"{name}_until": until for name in stages_done}
            PoolSums.objects.filter(pk=head.pk).update(**columns)
            current = totals.cached_at(pool, head.stamp)
            # Merge the additions into the base, so that the next match adds little to a large base.
            if current is not None:
                totals.cache(pool.pk, head.stamp, totals.CachedTotals.of_tallies(current.whole))
            return True
    raise AssertionError("unreachable")
