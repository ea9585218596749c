"""The sufficient statistics of a pool as they are kept, and as they follow from the boards themselves."""

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

CHUNK = 5000  # matches read at a time
ROWS = 500  # of the sums, written or read at a time
OF_BOT = ["boards", "points", "half_points", "meetings", "faults"]
OF_BOARDS = ["wins", "draws", "losses"]


@dataclass(frozen=True)
class Kept:
    """The statistics of a pool as a process remembers them: most, and what came since, so that a match is added without a look at the most."""

    base: Tallies
    added: Tallies

    def __add__(self, fresh: Tallies) -> Kept:
        return Kept(self.base, self.added + fresh)

    @classmethod
    def of(cls, tallies: Tallies) -> Kept:
        """Nothing was added to them yet."""
        return cls(tallies, NOTHING)

    @property
    def is_empty(self) -> bool:
        """Whether nobody has played."""
        return not (len(self.base.totals) or len(self.added.totals))

    @cached_property
    def whole(self) -> Tallies:
        """Both in one."""
        return self.base + self.added if len(self.added.totals) else self.base

    def around(self, versions: Iterable[int]) -> Tallies:
        """All boards of these versions, and the totals of everybody on them."""
        return around([self.base, self.added], versions)


# What this process has written last, by pool: the stamp of then, and the sums. Whoever dies loses time only.
_memory: dict[int, tuple[int, Kept]] = {}


@dataclass
class PlayedMatch:
    """One match as ratings see it: versions at the table, those of them that made a fault, the scores of each board."""

    versions: list[int] = field(default_factory=list)
    faulty: list[int] = field(default_factory=list)
    boards: list[Sequence[int]] = field(default_factory=list)


def rated_matches(pool: Pool) -> QuerySet[Match]:
    """The matches that count in `pool`."""
    return Match.objects.filter(pool=pool, rated=True, status=MatchStatus.FINISHED)


def counted_matches(pool: Pool) -> QuerySet[Match]:
    """The matches that have been counted."""
    return rated_matches(pool).exclude(counted=None)


def read_matches(ids: Sequence[int]) -> dict[int, PlayedMatch]:
    """What was played in these finished matches, by id. Two queries for each CHUNK.

    Who decides which matches these are, reads their ids in one statement. What a finished match holds never changes, so parties and boards
    that are read later belong to just these; were they chosen by their status again, another match could finish in between.
    """
    found = {pk: PlayedMatch() for pk in ids}
    for chunk in (ids[start : start + CHUNK] for start in range(0, len(ids), CHUNK)):
        seats = Party.objects.filter(match__in=chunk).order_by("match_id", "number")
        for match_id, version_id, fault in seats.values_list("match_id", "version_id", "fault"):
            found[match_id].versions.append(version_id)
            if fault:
                found[match_id].faulty.append(version_id)
        boards = Board.objects.filter(match__in=chunk).order_by("match_id", "number")
        for match_id, scores in boards.values_list("match_id", "scores"):
            found[match_id].boards.append(scores)
    return found


def tally_matches(pool: Pool, matches: Iterable[PlayedMatch]) -> Tallies:
    """The statistics of some matches of `pool`."""
    boards: list[tuple[Sequence[int], Sequence[int]]] = []
    faults: defaultdict[int, int] = defaultdict(int)
    for match in matches:
        boards += [(match.versions, scores) for scores in match.boards]
        for version in match.faulty:
            faults[version] += 1
    return tally(boards, pools.sides(pool), faults)


def recount(pool: Pool) -> Tallies:
    """The statistics of the counted matches, computed anew from their boards without what is kept."""
    return tally_matches(pool, read_matches(list(counted_matches(pool).values_list("pk", flat=True))).values())


def bots_kept(pool: Pool) -> set[int]:
    """The versions of which something is kept. It reads their rows in one statement, so nobody has to lock the pool."""
    head = PoolSums.objects.filter(pool=pool).first()
    if head is not None and head.data:
        return set(load(zlib.decompress(bytes(head.data))).ids.tolist())
    return set(BotSums.objects.filter(pool=pool).values_list("version_id", flat=True))


def read_kept(pool: Pool) -> Tallies:
    """The statistics that are kept; empty ones where nothing is kept. Three queries that must agree: the pool is locked."""
    head = PoolSums.objects.filter(pool=pool).first()
    if head is None:
        return NOTHING
    if head.data:
        return load(zlib.decompress(bytes(head.data)))
    bots = BotSums.objects.filter(pool=pool).order_by("version_id").values_list("version_id", *OF_BOT)
    boards = BoardSums.objects.filter(pool=pool).order_by().values_list("key", *OF_BOARDS)
    return from_rows(list(bots.iterator(ROWS)), boards.iterator(ROWS))


def remembered(pool: Pool) -> Kept:
    """The statistics that are kept, from the memory of this process where nobody has changed them since. The pool is locked."""
    known = _memory.get(pool.pk)
    now = PoolSums.objects.filter(pool=pool).values_list("stamp", flat=True).first()
    return known[1] if known and known[0] == now else Kept.of(read_kept(pool))


def remembered_as(pool: Pool, stamp: int | None) -> Kept | None:
    """The statistics of this stamp, if this process remembers them."""
    known = _memory.get(pool.pk)
    return known[1] if known and known[0] == stamp else None


def remember(pool_id: int, stamp: int, kept: Kept) -> None:
    """What this process knows of the sums of a pool, from the end of this transaction on."""
    transaction.on_commit(lambda: _memory.update({pool_id: (stamp, kept)}))


def add_kept(
    pool: Pool, known: Kept, fresh: Tallies, *, matches: int, now: datetime, settled: bool = True, **told: Any
) -> None:
    """Add `fresh` to what is kept, which is `known`: only rows that change are written. The pool is locked.

    `settled`: the whole table follows from them when this transaction ends. `told`: other fields of PoolSums that change.
    """
    if PoolSums.objects.filter(pool=pool).exclude(data=b"").exists() or known.is_empty:
        write_kept(pool, known.whole + fresh, matches=matches, now=now, settled=settled)
        return
    bots = list(BotSums.objects.filter(pool=pool, version_id__in=fresh.ids.tolist()))
    keys = [key for key, *_ in board_rows(fresh)]
    boards = [
        row
        for start in range(0, len(keys), ROWS)
        for row in BoardSums.objects.filter(pool=pool, key__in=keys[start : start + ROWS])
    ]
    there = from_rows(
        [(row.version_id, *(getattr(row, name) for name in OF_BOT)) for row in bots],
        [(row.key, *(getattr(row, name) for name in OF_BOARDS)) for row in boards],
    )
    _write_rows(pool, there + fresh)
    _note(pool, Kept.of(known.whole + fresh) if settled else known + fresh, matches, now, settled, **told)


def write_kept(pool: Pool, tallies: Tallies, *, matches: int, now: datetime, settled: bool = True) -> None:
    """Replace the kept statistics. The pool is locked. `settled`: see `add_kept`."""
    BotSums.objects.filter(pool=pool).delete()
    BoardSums.objects.filter(pool=pool).delete()
    _write_rows(pool, tallies)
    _note(pool, Kept.of(tallies), matches, now, settled)


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


def _note(pool: Pool, kept: Kept, matches: int, now: datetime, settled: bool, **told: Any) -> None:
    """Say how many matches are kept, and remember the statistics when all of it is committed."""
    stamp = secrets.randbits(62)
    fields = {"data": b"", "matches": matches, "stamp": stamp, "updated": now} | told
    if settled:
        fields |= {"fitted": stamp, "ranked": stamp, "fitted_until": now, "ranked_until": now}
    if not PoolSums.objects.filter(pool=pool).update(**fields):  # the pool is locked: nobody else makes it meanwhile
        PoolSums.objects.create(pool=pool, **fields)
    remember(pool.pk, stamp, kept)


def settle(pool: Pool, now: datetime) -> None:
    """Say that the whole table follows from what is kept. The pool is locked."""
    stamp = F("stamp")
    PoolSums.objects.filter(pool=pool).update(fitted=stamp, ranked=stamp, fitted_until=now, ranked_until=now)
