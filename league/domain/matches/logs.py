"""The stored log of a match: written with its result, in the same transaction, and bound to the match by a digest."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from functools import lru_cache
from pathlib import Path
from typing import Any

from django.apps import apps
from django.conf import settings

from engine.runner.result import BoardResult
from league.domain.matches import packing
from league.enums import MatchKind
from league.models import LogDictionary, Match, MatchLog

DICTIONARIES = (
    Path(__file__).parent / "dictionaries"
)  # one file each, named by its hash; the last of USED is what new logs take
USED = ("367b01af945e916de7f7acc60bfee73fe11beae2c49d73392336d2544420f8f0",)


class Unopened(Exception):
    """A log that cannot be read: `missing`, `damaged`, or `exchanged` for that of another match."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


def pack(boards: Sequence[BoardResult]) -> bytes:
    """The log of a match that was played, as it is stored."""
    return pack_records({(board.number, one.number): one.replay for board in boards for one in board.sittings})


def pack_records(records: Mapping[packing.Place, dict[str, Any]]) -> bytes:
    """Records by board and sitting, as they are stored."""
    return packing.pack(records, dictionary(USED[-1]))


def store(match: Match, data: bytes, *, finished: datetime | None) -> MatchLog:
    """Store it, inside the transaction of whoever calls. A match has one log: the second one is refused by the database."""
    return MatchLog.objects.create(match=match, until=keep_until(match, finished), **_columns(match, data))


def kind(match: Match) -> str:
    """What the match was played for: a key of settings.KEEP_DAYS."""
    if match.kind == MatchKind.VALIDATION:
        return "validation"
    return "rated" if match.rated else "unrated"


def keep_until(match: Match, finished: datetime | None) -> datetime | None:
    """Until when the log of a match is kept, by the present settings; None: for ever."""
    days = settings.KEEP_DAYS[kind(match)]
    return finished + timedelta(days=days) if finished and days else None


def replace(match: Match, data: bytes) -> None:
    """Store another log in place of one that is damaged or missing."""
    MatchLog.objects.update_or_create(match=match, defaults=_columns(match, data))


def _columns(match: Match, data: bytes) -> dict[str, Any]:
    row = _row(packing.dictionary_of(data))
    return {"data": data, "digest": digest(match.public_id, data), "dictionary_id": row}


def digest(match: str, data: bytes) -> str:
    """What binds a stored log to its match: a hash over both. `match`: its public id."""
    return hashlib.sha256(b"tute-log/1\n%s\n" % match.encode() + data).hexdigest()


def opened(match: Match) -> packing.Opened:
    """The log of a match, unpacked once for each `match` object. Raises Unopened; `whole` of what is returned is true."""
    found: packing.Opened | None = getattr(match, "_opened_log", None)
    if found is None:
        row = row_of(match)
        found = open_data(bytes(row.data)) if row and row.digest == digest(match.public_id, bytes(row.data)) else None
        if found is None or not found.whole:
            raise Unopened(_why(match, row))
        match._opened_log = found  # type: ignore[attr-defined]
    return found


def row_of(match: Match) -> MatchLog | None:
    """The row, empty or not. One query."""
    try:
        return match.log
    except MatchLog.DoesNotExist:
        return None


def was_let_go(match: Match) -> bool:
    """Whether its log was removed because its time had come."""
    row = row_of(match)
    return row is not None and row.let_go is not None


def doubt(match: Match) -> str:
    """Why the log of a match cannot be what was stored, in the words of Unopened; "" where nothing speaks against it, or it was let go."""
    if was_let_go(match):
        return ""
    try:
        opened(match)
    except Unopened as error:
        return error.why
    return ""


def open_data(data: bytes) -> packing.Opened | None:
    """What the bytes hold, as far as they can be read; None where nothing can, and where no dictionary of theirs is known."""
    try:
        return packing.Opened(data, dictionary(packing.dictionary_of(data)))
    except (packing.Broken, LookupError):
        return None


def _why(match: Match, row: MatchLog | None) -> str:
    if row is None or not row.data:
        return "missing"
    found = open_data(bytes(row.data))
    return "exchanged" if found and found.match() not in (None, match.public_id) else "damaged"


# ---- dictionaries


@lru_cache(maxsize=32)
def dictionary(sha256: str) -> bytes:
    """The dictionary of this hash, from the database, else from the files of this release. Raises LookupError."""
    if not sha256:
        return b""
    kept = LogDictionary.objects.filter(sha256=sha256).values_list("data", flat=True).first()
    file = DICTIONARIES / sha256
    for data in ([bytes(kept)] if kept is not None else []) + ([file.read_bytes()] if file.exists() else []):
        if hashlib.sha256(data).hexdigest() == sha256:
            return data
    raise LookupError(f"the dictionary {sha256} is not there")


def _row(sha256: str) -> int | None:
    """The row that keeps a dictionary, None where it has none: then the file of the release is all that there is."""
    return LogDictionary.objects.filter(sha256=sha256).values_list("pk", flat=True).first() if sha256 else None


def keep_dictionaries(*, apps: Any = apps, **_: Any) -> None:
    """Put the dictionaries of this release into the database, where a backup finds them. Called after each migration, by the owner of the tables."""
    try:
        rows = apps.get_model("league", "LogDictionary").objects
    except LookupError:  # migrated back to before there were any
        return
    for sha256 in filter(None, USED):
        rows.get_or_create(sha256=sha256, defaults={"data": (DICTIONARIES / sha256).read_bytes()})
