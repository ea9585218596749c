"""The totals of a pool (the sufficient statistics of its ratings): stored in rows, cached, and recounted from the boards."""

from __future__ import annotations

import secrets
import zlib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any

from django.db import transaction
from django.db.models import F, QuerySet

from league.domain.ratings import pools
from league.enums import MatchStatus
from league.models import Board, BoardSums, BotSums, Match, Party, Pool, PoolSums
from league.pure.rating.tallies import NOTHING, Tallies, around, board_rows, from_rows, load, tally

CHUNK = 5000  # Matches read at a time.
ROWS = 500  # Rows of totals written or read at a time.
OF_BOT = ["boards", "points", "half_points", "meetings", "faults"]
OF_BOARDS = ["wins", "draws", "losses"]


@dataclass(frozen=True)
class CachedTotals:
    """The totals of a pool in memory: a large base, and what was added since, so that adding a match need not change the base."""

    base: Tallies
    added: Tallies

    def __add__(self, fresh: Tallies) -> CachedTotals:
        return CachedTotals(self.base, self.added + fresh)

    @classmethod
    def of_tallies(cls, tallies: Tallies) -> CachedTotals:
        """Start from `tallies`, with nothing added."""
        return cls(tallies, NOTHING)

    @property
    def is_empty(self) -> bool:
        """Return True if no version has played."""
        return not (len(self.base.totals) or len(self.added.totals))

    @cached_property
    def whole(self) -> Tallies:
        """Return the base with everything added."""
        return self.base + self.added if len(self.added.totals) else self.base

    def around(self, versions: Iterable[int]) -> Tallies:
        """Return all boards of these versions, and the totals of everybody on them."""
        return around([self.base, self.added], versions)


# The totals that this process last wrote or read, by pool, with their stamp. Losing them costs only time.
_memory: dict[int, tuple[int, CachedTotals]] = {}


@dataclass
class PlayedMatch:
    """A match as ratings see it: the versions at the table, those that made a fault, the scores of each board.

    slowest: for each of the versions the CPU seconds of its slowest decision, None if not measured.
    """

    versions: list[int] = field(default_factory=list)
    slowest: list[float | None] = field(default_factory=list)
    faulty: list[int] = field(default_factory=list)
    boards: list[Sequence[int]] = field(default_factory=list)


def rated_matches(pool: Pool) -> QuerySet[Match]:
    """Select the matches that count in `pool`."""
    return Match.objects.filter(pool=pool, rated=True, status=MatchStatus.FINISHED)


def counted_matches(pool: Pool) -> QuerySet[Match]:
    """Select the matches that are counted."""
    return rated_matches(pool).exclude(counted=None)


def read_matches(ids: Sequence[int]) -> dict[int, PlayedMatch]:
    """Read parties and boards of these finished matches, by id. Two queries per CHUNK.

    The caller selects the ids in one statement. A finished match never changes, so parties and boards read later fit them. Selecting by status
    again would add matches that finished in between.
    """
    matches = {pk: PlayedMatch() for pk in ids}
    for chunk in (ids[start : start + CHUNK] for start in range(0, len(ids), CHUNK)):
        seats = Party.objects.filter(match__in=chunk).order_by("match_id", "number")
        columns = ("match_id", "version_id", "fault", "max_cpu_s")
        for match_id, version_id, fault, slowest in seats.values_list(*columns):
            matches[match_id].versions.append(version_id)
            matches[match_id].slowest.append(slowest)
            if fault:
                matches[match_id].faulty.append(version_id)
        boards = Board.objects.filter(match__in=chunk).order_by("match_id", "number")
        for match_id, scores in boards.values_list("match_id", "scores"):
            matches[match_id].boards.append(scores)
    return matches


def tally_matches(pool: Pool, matches: Iterable[PlayedMatch]) -> Tallies:
    """Return the totals of some matches of `pool`."""
    boards: list[tuple[Sequence[int], Sequence[int]]] = []
    faults: defaultdict[int, int] = defaultdict(int)
    for match in matches:
        boards += [(match.versions, scores) for scores in match.boards]
        for version in match.faulty:
            faults[version] += 1
    return tally(boards, pools.sides(pool), faults)


def recount(pool: Pool) -> Tallies:
    """Compute the totals of the counted matches from their boards, without the stored rows."""
    return tally_matches(pool, read_matches(list(counted_matches(pool).values_list("pk", flat=True))).values())


def stored_versions(pool: Pool) -> set[int]:
    """Return the versions with stored totals, read in one statement, so that nobody has to lock the pool."""
    head = PoolSums.objects.filter(pool=pool).first()
    if head is not None and head.data:
        return set(load(zlib.decompress(bytes(head.data))).ids.tolist())
    return set(BotSums.objects.filter(pool=pool).values_list("version_id", flat=True))


def read_stored(pool: Pool) -> Tallies:
    """Read the stored totals; empty if there are none. Three queries that must agree, so the caller has locked the pool."""
    head = PoolSums.objects.filter(pool=pool).first()
    if head is None:
        return NOTHING
    if head.data:
        return load(zlib.decompress(bytes(head.data)))
    bots = BotSums.objects.filter(pool=pool).order_by("version_id").values_list("version_id", *OF_BOT)
    boards = BoardSums.objects.filter(pool=pool).order_by().values_list("key", *OF_BOARDS)
    return from_rows(list(bots.iterator(ROWS)), boards.iterator(ROWS))


def cached(pool: Pool) -> CachedTotals:
    """Return the stored totals, from the cache if nobody has changed them since. The caller has locked the pool."""
    entry = _memory.get(pool.pk)
    stamp = PoolSums.objects.filter(pool=pool).values_list("stamp", flat=True).first()
    return entry[1] if entry and entry[0] == stamp else CachedTotals.of_tallies(read_stored(pool))


def cached_at(pool: Pool, stamp: int | None) -> CachedTotals | None:
    """Return the totals with this stamp if they are cached."""
    entry = _memory.get(pool.pk)
    return entry[1] if entry and entry[0] == stamp else None


def cache(pool_id: int, stamp: int, totals: CachedTotals) -> None:
    """Cache the totals of a pool when this transaction commits."""
    transaction.on_commit(lambda: _memory.update({pool_id: (stamp, totals)}))


def add_stored(
    pool: Pool,
    current: CachedTotals,
    fresh: Tallies,
    *,
    matches: int,
    now: datetime,
    settled: bool = True,
    **columns: Any,
) -> None:
    """Add `fresh` to the stored totals, which are `current`; write only rows that change. The caller has locked the pool.

    `settled`: when this transaction ends, the whole table includes the new totals. `columns`: other fields of PoolSums to set.
    """
    if PoolSums.objects.filter(pool=pool).exclude(data=b"").exists() or current.is_empty:
        write_stored(pool, current.whole + fresh, matches=matches, now=now, settled=settled)
        return
    bots = list(BotSums.objects.filter(pool=pool, version_id__in=fresh.ids.tolist()))
    keys = [key for key, *_ in board_rows(fresh)]
    boards = [
        row
        for start in range(0, len(keys), ROWS)
        for row in BoardSums.objects.filter(pool=pool, key__in=keys[start : start + ROWS])
    ]
    stored = from_rows(
        [(row.version_id, *(getattr(row, name) for name in OF_BOT)) for row in bots],
        [(row.key, *(getattr(row, name) for name in OF_BOARDS)) for row in boards],
    )
    _write_rows(pool, stored + fresh)
    totals = CachedTotals.of_tallies(current.whole + fresh) if settled else current + fresh
    _note(pool, totals, matches, now, settled, **columns)


def write_stored(pool: Pool, tallies: Tallies, *, matches: int, now: datetime, settled: bool = True) -> None:
    """Replace the stored totals. The caller has locked the pool. `settled`: see `add_stored`."""
    BotSums.objects.filter(pool=pool).delete()
    BoardSums.objects.filter(pool=pool).delete()
    _write_rows(pool, tallies)
    _note(pool, CachedTotals.of_tallies(tallies), matches, now, settled)


def _write_rows(pool: Pool, tallies: Tallies) -> None:
    bots = [
        BotSums(pool=pool, version_id=row[0], **dict(zip(OF_BOT, row[1:], strict=True)))
        for row in tallies.totals.tolist()
    ]
    boards = [
        BoardSums(pool=pool, key=key, **dict(zip(OF_BOARDS, counts, strict=True)))
        for key, *counts in board_rows(tallies)
    ]
    BotSums.objects.bulk_create(
        bots, ROWS, update_conflicts=True, unique_fields=["pool", "version"], update_fields=OF_BOT
    )
    BoardSums.objects.bulk_create(
        boards, ROWS, update_conflicts=True, unique_fields=["pool", "key"], update_fields=OF_BOARDS
    )


def _note(pool: Pool, totals: CachedTotals, matches: int, now: datetime, settled: bool, **columns: Any) -> None:
    """Update the stamps and times of the totals, and cache the totals when the transaction commits."""
    stamp = secrets.randbits(62)
    fields = {"data": b"", "matches": matches, "stamp": stamp, "updated": now} | columns
    if settled:
        fields |= {"fitted": stamp, "ranked": stamp, "fitted_until": now, "ranked_until": now}
    if not PoolSums.objects.filter(pool=pool).update(**fields):  # The pool is locked, so nobody else creates the row.
        PoolSums.objects.create(pool=pool, **fields)
    cache(pool.pk, stamp, totals)


def settle(pool: Pool, now: datetime) -> None:
    """Mark the whole table as up to date with the stored totals. The caller has locked the pool."""
    stamp = F("stamp")
    PoolSums.objects.filter(pool=pool).update(fitted=stamp, ranked=stamp, fitted_until=now, ranked_until=now)
