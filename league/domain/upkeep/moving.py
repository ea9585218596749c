"""Replays of releases before the logs, moved into the log of their match.

A match is one transaction: what it stores is read back, and its replays are dropped only where all of them come back. So a move may be
stopped or killed at any moment, and is gone on with by beginning again.
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

CHUNK = 500  # matches that are looked at together
PLAYED = (MatchStatus.FINISHED, MatchStatus.VOID)


@dataclass(frozen=True)
class Moved:
    """What became of the replays of one match. `why`: they were left where they are, for that reason."""

    match: str
    sittings: int = 0
    before: int = 0  # bytes
    after: int = 0
    why: str = ""


class _Stays(Exception):
    """The replays of this match are left where they are."""


def move_all() -> Iterator[Moved]:
    """Move match by match, oldest first; each is committed when it is told."""
    last = 0
    loose = Sitting.objects.filter(board__match=OuterRef("pk")).exclude(digest="", replay=b"")
    while True:
        ids = list(
            Match.objects.filter(pk__gt=last, status__in=PLAYED).order_by("pk").values_list("pk", flat=True)[:CHUNK]
        )
        if not ids:
            return
        for pk in Match.objects.filter(Exists(loose), pk__in=ids).order_by("pk").values_list("pk", flat=True):
            if told := _move(pk):
                yield told
        last = ids[-1]


def _move(pk: int) -> Moved | None:
    """Move the replays of one match; None where another one has done so."""
    with transaction.atomic():
        match = Match.objects.select_for_update(of=("self",), no_key=True).get(pk=pk)
        rows = list(Sitting.objects.filter(board__match=match).select_related("board"))
        if not any(map(replays.is_loose, rows)):
            return None
        try:
            with transaction.atomic():
                after = _store(match, rows)
        except (_Stays, replays.Unreadable) as error:
            return Moved(match.public_id, why=str(error))
        before = sum(len(bytes(row.replay)) for row in rows)
        Sitting.objects.filter(board__match=match).update(replay=b"", digest="")
    return Moved(match.public_id, len(rows), before, after)


def _store(match: Match, rows: list[Sitting]) -> int:
    """Store the log of a match and prove that it has what the rows have; its bytes. Raises _Stays, Unreadable."""
    records: dict[packing.Place, dict[str, Any]] = {}
    for row in rows:
        row.board.match = match
        record = replays.unpack_loose(row)
        if not row.digest and record.get("forfeit", record).get("scores") != row.scores:
            raise _Stays(f"board {row.board.number}, sitting {row.number} has other scores than its replay")
        records[row.board.number, row.number] = record
    if MatchLog.objects.filter(match=match).exists():
        raise _Stays("it has a log already")
    size = len(logs.store(match, logs.pack_records(records), finished=match.finished).data)
    try:
        stored = logs.opened(Match.objects.get(pk=match.pk))
        same = stored.places() == sorted(records) and all(
            packing.canonical(stored.record(place)) == packing.canonical(packing.kept(record))
            for place, record in records.items()
        )
    except (logs.Unopened, packing.OtherRules) as error:
        raise _Stays(f"what was stored cannot be read back: {error}") from None
    if not same:
        raise _Stays("what was stored reads otherwise")
    return size
