"""Ratings of large pools, in stages: who played is shown at once, all strengths soon, intervals and ranks after a while.

1. `count`: results enter the sums, and those who played move by their own boards (`league.pure.rating.local`). Their rows are `estimated`.
2. `fit`: the strengths of all. A row is written where it moved by more than MOVED, or was estimated.
3. `rank`: the whole table, exactly as `ratings.refresh` writes it.

What is owed is in the database: the stamps in `PoolSums` say which sums each stage has seen. Fits take long, so nobody waits for them: they look
at the sums as they were, and leave the strength of those who played meanwhile as it was estimated. One process does all of it for a pool, since
it remembers the sums; if it dies, another takes over after KEEP and reads them.
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
from league.pure.rating.leaderboard import BASE, expected_score

BATCH = 50  # matches that one transaction counts
PART = 200  # rows that one transaction writes
STRENGTH = ("elo", "estimated")  # columns that a fit of all writes
OF_BOARDS = ("boards", "opponents", "score", "points_per_board", "faults")
MOVED = 0.05  # Elo; a row that a fit of all moves by less is written with the next table
KEEP = timedelta(seconds=20)  # the pool of a process that died waits so long for another


class InTurn:
    """A lock of threads that goes to whoever has waited longest.

    One of `threading` goes to whoever is awake: who writes a table in parts would take it again at once, and a result would wait for the last part.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._next = 0  # number of who comes next
        self._served = 0

    @property
    def waiting(self) -> int:
        """How many wait."""
        return max(0, self._next - self._served - 1)

    def locked(self) -> bool:
        """Whether somebody has it."""
        return self._next > self._served

    def __enter__(self) -> None:
        with self._changed:
            mine, self._next = self._next, self._next + 1
            self._changed.wait_for(lambda: self._served == mine)

    def __exit__(self, *_raised: object) -> None:
        with self._changed:
            self._served += 1
            self._changed.notify_all()


class _Here:
    """What this process is for others, and what its threads have to know of each other."""

    name = ""  # empty: a command, which takes no pool for itself and is refused none
    writing = InTurn()  # so that a thread finds what another has counted in memory, and does not read it all again
    fitting = threading.Lock()
    ranking = threading.Lock()


@dataclass(eq=False)
class _Look:
    """The sums as a long stage looks at them, what the stages had seen then, and what has been counted since."""

    stamp: int
    fitted: int
    ranked: int
    kept: totals.Kept
    at: datetime
    counted: set[int] = field(default_factory=set)  # versions
    unlisted: set[int] = field(default_factory=set)  # versions for which a newer one stands now
    late: list[datetime] = field(default_factory=list)  # when such matches finished


_looks: dict[int, weakref.WeakSet[_Look]] = {}  # by pool


def keep_as(name: str) -> None:
    """From now on this process keeps large pools under this name: others leave these to it."""
    _Here.name = name


def look(pool: Pool, *, now: datetime | None = None) -> bool:
    """Count what is new in `pool` and show it; whether anything changed. A small pool gets its whole table at once."""
    now = clock.now_or(now)
    if not _is_large(pool):
        return ratings.refresh(pool, now=now)
    if _is_begun_anew(pool):
        return _keeps(pool, now) and ratings.refresh(pool, now=now)
    changed = False
    while counted := count(pool, now=now):
        changed = True
        if counted < BATCH:
            break
    return changed


def go_on(pool: Pool, *, now: datetime | None = None) -> bool:
    """`look`, and the later stages of a large pool, where their time has come; whether anything changed."""
    now = clock.now_or(now)
    changed = look(pool, now=now)
    return any([changed, fit_due(now=now, pool=pool), rank_due(now=now, pool=pool)])


def fit_due(*, now: datetime | None = None, pool: Pool | None = None) -> int:
    """Fit the strengths of all in each large pool (or in this one) that waits for it long enough; in how many."""
    wait = timedelta(seconds=settings.RATINGS_FIT_S)
    return _each_due(_Here.fitting, fit, pool, clock.now_or(now), ~Q(fitted=F("stamp")), "fitted_until", wait)


def rank_due(*, now: datetime | None = None, pool: Pool | None = None) -> int:
    """Make the whole table of each large pool (or of this one) that waits for it long enough; of how many."""
    wait = timedelta(seconds=settings.RATINGS_RANK_S)
    return _each_due(_Here.ranking, rank, pool, clock.now_or(now), ~Q(ranked=F("stamp")), "ranked_until", wait)


def count_waiting(*, now: datetime | None = None) -> int:
    """Count the results that no hint announced in the large pools of this process, and keep them for it; in how many pools there were some."""
    now = clock.now_or(now)
    if _Here.name:
        PoolSums.objects.filter(keeper=_Here.name, keeper_until__lt=now + KEEP / 2).update(keeper_until=now + KEEP)
    waiting = Match.objects.filter(rated=True, status=MatchStatus.FINISHED, counted=None)
    found = Pool.objects.filter(pk__in=set(waiting.values_list("pool_id", flat=True).distinct()))
    return sum(look(pool, now=now) for pool in found if _is_large(pool))


def _each_due(
    alone: threading.Lock,
    stage: Callable[..., bool],
    pool: Pool | None,
    now: datetime,
    owed: Q,
    until: str,
    wait: timedelta,
) -> int:
    if not alone.acquire(blocking=False):
        return 0  # another thread is at it
    try:
        heads = PoolSums.objects.filter(owed, _mine(now)).filter(
            Q(**{until: None}) | Q(**{f"{until}__lte": now - wait}) | Q(updated__lte=now - wait)
        )
        heads = heads if pool is None else heads.filter(pool=pool)
        return sum(stage(head.pool, now=now) for head in heads.select_related("pool") if _is_large(head.pool))
    finally:
        alone.release()


def _mine(now: datetime) -> Q:
    return Q(keeper__in=["", _Here.name]) | Q(keeper_until=None) | Q(keeper_until__lt=now) if _Here.name else Q()


def _keeps(pool: Pool, now: datetime) -> bool:
    """Whether no other process keeps the pool."""
    return not PoolSums.objects.filter(pool=pool).exclude(_mine(now)).exists() if _Here.name else True


def _is_large(pool: Pool) -> bool:
    """Looks at no more rows than make it large."""
    most = settings.RATINGS_AT_ONCE
    return BotSums.objects.filter(pool=pool).order_by("version_id")[most : most + 1].exists()


def _is_begun_anew(pool: Pool) -> bool:
    """Whether something that counted is struck out, or the table is of another revision: the whole pool is counted or fitted again then."""
    struck = Match.objects.filter(ratings.STRUCK, pool=OuterRef("pk")).exclude(counted=None)
    rows = Pool.objects.annotate(struck=Exists(struck)).values_list("ratings_revision", "struck")
    revision, is_struck = rows.get(pk=pool.pk)
    return is_struck or revision != REVISION


def count(pool: Pool, *, now: datetime) -> int:
    """Count at most BATCH of the results that are new in `pool`, the oldest first, and estimate those who played; how many there were.

    Marks, sums and rows are one transaction, as in `ratings.refresh`. None where another process keeps the pool.
    """
    with _Here.writing, transaction.atomic():
        pool = Pool.objects.select_for_update(no_key=True).get(pk=pool.pk)
        head = PoolSums.objects.get(pool=pool)
        if _Here.name and head.keeper not in ("", _Here.name) and head.keeper_until and head.keeper_until >= now:
            return 0
        waiting = totals.rated_matches(pool).filter(counted=None).select_for_update(no_key=True)
        fresh = list(waiting.order_by("finished", "id")[:BATCH])
        if not fresh:
            return 0
        ids = [match.pk for match in fresh]
        played = totals.read_matches(ids)
        known = totals.remembered(pool)
        added = totals.tally_matches(pool, played.values())
        movers = set(added.ids.tolist())
        elo = _elo_of((known + added).around(movers).ids.tolist(), pool)
        anchor = ratings.anchor_version(movers)
        estimates: dict[int, local.Estimate] = {}
        kept = known
        for match in fresh:
            kept += totals.tally_matches(pool, [played[match.pk]])
            versions = played[match.pk].versions
            found = local.estimate(kept.around(versions), versions, elo, anchor)
            after = {version: one.elo for version, one in found.items()}
            margins = {version: one.margin for version, one in found.items()}
            ratings.add_points(pool, match, versions, elo, after, margins)
            elo |= after
            estimates |= found
        last = ratings.last_played((match, played[match.pk].versions) for match in fresh)
        unlisted = _write_estimates(pool, kept, estimates, last, now)
        ratings.mark_counted(ids, now)
        finished = [match.finished for match in fresh if match.finished]
        told = {
            f"{stage}_until": min([*finished, getattr(head, f"{stage}_until") or now]) for stage in ("fitted", "ranked")
        }
        if _Here.name:
            told |= {"keeper": _Here.name, "keeper_until": now + KEEP}
        totals.add_kept(pool, known, added, matches=head.matches + len(fresh), now=now, settled=False, **told)
        for seen in tuple(_looks.get(pool.pk, ())):
            seen.counted |= movers
            seen.unlisted |= unlisted
            seen.late += finished
    return len(fresh)


def _elo_of(versions: Collection[int], pool: Pool) -> dict[int, float]:
    rows = Rating.objects.filter(pool=pool, version_id__in=versions)
    return dict(rows.values_list("version_id", "elo"))


def _write_estimates(
    pool: Pool,
    kept: totals.Kept,
    found: Mapping[int, local.Estimate],
    last: Mapping[int, datetime],
    now: datetime,
) -> set[int]:
    """The rows of those who played; for which versions a newer one stands from now on.

    Margins, ranks and superiority stay as they are; a newcomer has only what his boards say.
    """
    there = {row.version_id: row for row in Rating.objects.filter(pool=pool, version_id__in=found)}
    new = {version: one for version, one in found.items() if version not in there}
    unlisted: set[int] = set()
    if new:
        newcomers, unlisted = _newcomers(pool, new, now)
        there |= newcomers
    near = kept.around(found)
    first, second = near.met_pairs()
    size = pools.game_of(pool).score_size
    for place, row in enumerate(near.totals.tolist()):
        version, boards, points, half_points, meetings, faults = row
        if version not in found:
            continue
        rating = there[version]
        ratings.note_played(rating, rating, last)
        rating.elo, rating.estimated, rating.updated = found[version].elo, True, now
        rating.boards, rating.faults, rating.points_per_board = boards, faults, points / boards / size
        rating.score = half_points / (2 * meetings)
        rating.opponents = len(set(first[second == place].tolist()) | set(second[first == place].tolist()))
    ratings.write_rows(there.values())
    return unlisted


def _newcomers(pool: Pool, found: Mapping[int, local.Estimate], now: datetime) -> tuple[dict[int, Rating], set[int]]:
    """Rows of versions without one, provisional and anywhere in the order; versions of the same bots for which they stand now."""
    listed = Rating.objects.filter(pool=pool, listed=True).aggregate(number=Count("pk"), middle=Avg("elo"))
    bots = BotVersion.objects.filter(pk__in=found).values_list("bot_id", flat=True)
    siblings = dict(Rating.objects.filter(pool=pool, version__bot__in=bots).values_list("version_id", "provisional"))
    chosen = ratings.choose_listed(siblings | dict.fromkeys(found, True))
    unlisted = siblings.keys() - chosen
    Rating.objects.filter(pool=pool, version_id__in=unlisted, listed=True).update(listed=False)
    middle = BASE if listed["middle"] is None else comparable(listed["middle"], ELO_DIGITS)
    rows = {
        version: Rating(
            pool=pool,
            version_id=version,
            margin=one.margin,
            rank_best=1,
            rank_worst=listed["number"] + 1,
            field_score=comparable(expected_score(one.elo, middle)),
            field_sd=0.5,
            provisional=True,
            listed=version in chosen,
            updated=now,
        )
        for version, one in found.items()
    }
    return rows, unlisted


def fit(pool: Pool, *, now: datetime) -> bool:
    """Fit the strengths of all to the sums as they are now; whether that was owed, and nobody else did it meanwhile."""
    seen = _begin(pool, now, "fitted")
    if seen is None:
        return False
    after = ratings.fit_elo(seen.kept.whole, ratings.shown_elo(pool))
    shown = Rating.objects.filter(pool=pool).values_list("version_id", "elo", "estimated")
    moved = [
        version
        for version, elo, estimated in shown
        if version in after and (comparable(abs(after[version] - elo), ELO_DIGITS) > MOVED or estimated)
    ]

    def write(head: PoolSums, chunk: list[int]) -> bool:
        rows = list(Rating.objects.filter(pool=pool, version_id__in=set(chunk) - seen.counted))
        for row in rows:
            row.elo, row.estimated, row.updated = after[row.version_id], False, now
        ratings.write_rows(rows, ["elo", "estimated", "updated"])
        return True

    return _write_in_parts(pool, seen, moved, write, ["fitted"])


def rank(pool: Pool, *, now: datetime) -> bool:
    """Make the whole table of the sums as they are now; whether that was owed, and nobody else did it meanwhile."""
    seen = _begin(pool, now, "ranked")
    if seen is None:
        return False
    table = ratings.fit_pool(pool, seen.kept.whole, start=ratings.shown_elo(pool))
    fresh = {row.version_id: row for row in ratings.rating_rows(pool, table, now)}

    def write(head: PoolSums, chunk: list[int]) -> bool:
        newer = head.fitted not in (seen.fitted, seen.stamp)  # strengths of later sums stand there by now
        there = {row.version_id: row for row in Rating.objects.filter(pool=pool, version_id__in=chunk)}
        for version in chunk:
            counted = version in seen.counted
            if version in there:
                kept = (*ratings.OF_MATCHES, *(STRENGTH if counted or newer else ()), *(OF_BOARDS if counted else ()))
                for name in kept:
                    setattr(fresh[version], name, getattr(there[version], name))
            if version in seen.unlisted:
                fresh[version].listed = False
        ratings.write_rows(ratings.moved_rows([fresh[version] for version in chunk], there))
        return not newer

    return _write_in_parts(pool, seen, list(fresh), write, ["ranked"])


def _begin(pool: Pool, now: datetime, stage: str) -> _Look | None:
    """The sums as they are, for a stage that has not seen them; None where it has."""
    with _Here.writing, transaction.atomic():
        pool = Pool.objects.select_for_update(no_key=True).get(pk=pool.pk)
        head = PoolSums.objects.filter(pool=pool).first()
        if head is None or getattr(head, stage) == head.stamp or _is_begun_anew(pool):
            return None
        seen = _Look(head.stamp, head.fitted, head.ranked, totals.remembered(pool), now)
        totals.remember(pool.pk, head.stamp, seen.kept)
        _looks.setdefault(pool.pk, weakref.WeakSet()).add(seen)
    return seen


def _write_in_parts(
    pool: Pool, seen: _Look, versions: list[int], write: Callable[[PoolSums, list[int]], bool], stages: list[str]
) -> bool:
    """Write the rows of these versions, a part in each transaction, so that a match that ends meanwhile does not wait; then say that it is done.

    `write` says whether strengths, too, are now those of the sums that were looked at. Whether all of it was done: it is dropped where
    somebody has made the table anew since.
    """
    strengths = True
    for start in range(0, len(versions) + PART, PART):  # one more than there are: it has the last word
        with _Here.writing, transaction.atomic():
            Pool.objects.select_for_update(no_key=True).get(pk=pool.pk)
            head = PoolSums.objects.get(pool=pool)
            if (head.ranked != seen.ranked) or (stages == ["fitted"] and head.fitted != seen.fitted):
                return False
            if chunk := versions[start : start + PART]:
                strengths &= write(head, chunk)
                continue
            if head.stamp != seen.stamp and not seen.counted:
                return False  # another process has counted; this one knows nothing of it
            until = min([seen.at, *seen.late])
            done = {*stages, "fitted"} if strengths else {*stages}
            told = dict.fromkeys(done, seen.stamp) | {f"{name}_until": until for name in done}
            PoolSums.objects.filter(pk=head.pk).update(**told)
            current = totals.remembered_as(pool, head.stamp)
            if current is not None:  # put together, so that the next match finds little beside the most
                totals.remember(pool.pk, head.stamp, totals.Kept.of(current.whole))
            return True
    raise AssertionError("unreachable")
