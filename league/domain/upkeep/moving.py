"""Moving replays of older releases into the log of their match.

Each match is moved in one transaction: the log is stored and read again, and the old replays are deleted only if the log has all of them. So a move
may be stopped at any time, and the next one continues.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef

from league.domain.matches import logs, packing, replays
from league.enums import MatchStatus
from league.models import Match, MatchLog, Sitting

CHUNK = 500  # Matches that are read together.
PLAYED = (MatchStatus.FINISHED, MatchStatus.VOID)


@dataclass(frozen=True)
class MovedReplays:
    """The result for one match. `why`: why its replays were not moved."""

    match: str
    sittings: int = 0
    before: int = 0  # Bytes of the old replays.
    after: int = 0
    why: str = ""


class _Stays(Exception):
    """The signal to leave the replays of this match in place."""


def move_all() -> Iterator[MovedReplays]:
    """Move the replays, oldest match first; yield each result after its commit."""
    last = 0
    loose = Sitting.objects.filter(board__match=OuterRef("pk")).exclude(digest="", replay=b"")
    while True:
        ids = list(
            Match.objects.filter(pk__gt=last, status__in=PLAYED).order_by("pk").values_list("pk", flat=True)[:CHUNK]
        )
        if not ids:
            return
        for pk in Match.objects.filter(Exists(loose), pk__in=ids).order_by("pk").values_list("pk", flat=True):
            if result := _move(pk):
                yield result
        last = ids[-1]


def _move(pk: int) -> MovedReplays | None:
    """Move the replays of one match; return None if another process has done so."""
    with transaction.atomic():
        match = Match.objects.select_for_update(of=("self",), no_key=True).get(pk=pk)
        rows = list(Sitting.objects.filter(board__match=match).select_related("board"))
        if not any(map(replays.is_loose, rows)):
            return None
        try:
            with transaction.atomic():
                after = _store(match, rows)
        except (_Stays, replays.Unreadable) as error:
            return MovedReplays(match.public_id, why=str(error))
        before = sum(len(bytes(row.replay)) for row in rows)
        Sitting.objects.filter(board__match=match).update(replay=b"", digest="")
    return MovedReplays(match.public_id, len(rows), before, after)


def _store(match: Match, rows: list[Sitting]) -> int:
    """Store the log of a match, verify it against the rows, and return its size in bytes. Raise _Stays or Unreadable."""
    records: dict[packing.Place, dict[str, Any]] = {}
    for row in rows:
        row.board.match = match
        record = replays.unpack_loose(row)
        if not row.digest and record.get("forfeit", record).get("scores") != row.scores:
            raise _Stays(f"board {row.board.number}, sitting {row.number} has scores that differ from its replay")
        records[row.board.number, row.number] = record
    if MatchLog.objects.filter(match=match).exists():
        raise _Stays("it already has a log")
    size = len(logs.store(match, logs.pack_records(records), finished=match.finished).data)
    try:
        stored = logs.opened(Match.objects.get(pk=match.pk))
        same = stored.places() == sorted(records) and all(
            packing.canonical(stored.record(place)) == packing.canonical(packing.kept(record))
            for place, record in records.items()
        )
    except (logs.Unopened, packing.OtherRules) as error:
        raise _Stays(f"the stored log cannot be read back: {error}") from None
    if not same:
        raise _Stays("the stored log differs from the replays")
    return size
