"""The stored log of a match, written in the transaction that stores the result. A digest binds it to the match."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from functools import lru_cache
from pathlib import Path
from typing import Any

from django.apps import apps
from django.conf import settings

from engine.choices import PartyCounts
from engine.runner.result import BoardResult
from league.domain.matches import packing
from league.enums import MatchKind
from league.models import LogDictionary, Match, MatchLog

# One file for each dictionary, named by its hash; new logs use the last one of USED
DICTIONARIES = Path(__file__).parent / "dictionaries"
USED = ("367b01af945e916de7f7acc60bfee73fe11beae2c49d73392336d2544420f8f0",)


class Unopened(Exception):
    """The error for a log that cannot be read, because it is `missing` or `damaged`, or belongs to another match (`exchanged`)."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


def pack(boards: Sequence[BoardResult]) -> bytes:
    """Serialise the log of a finished match for the database."""
    return pack_records(
        {(board.number, sitting.number): sitting.replay for board in boards for sitting in board.sittings}
    )


def pack_records(records: Mapping[packing.Place, dict[str, Any]]) -> bytes:
    """Serialise records by board and sitting for the database."""
    return packing.pack(records, dictionary(USED[-1]))


def store(
    match: Match, data: bytes, *, finished: datetime | None, opening: list[PartyCounts] | None = None
) -> MatchLog:
    """Store a log inside the transaction of the caller. A match has one log: the database refuses a second one.

    opening: the choices of each party, bound to this log by its digest.
    """
    columns = _columns(match, data)
    bound = None if opening is None else {"log": columns["digest"], "parties": opening}
    return MatchLog.objects.create(match=match, until=keep_until(match, finished), choices=bound, **columns)


def kind(match: Match) -> str:
    """Return the retention class of a match: a key of settings.KEEP_DAYS."""
    if match.kind == MatchKind.VALIDATION:
        return "validation"
    return "rated" if match.rated else "unrated"


def keep_until(match: Match, finished: datetime | None) -> datetime | None:
    """Return the time until which the log of a match is kept with the current settings; None means for ever."""
    days = settings.KEEP_DAYS[kind(match)]
    return finished + timedelta(days=days) if finished and days else None


def replace(match: Match, data: bytes) -> None:
    """Store another log in place of a damaged or missing one."""
    MatchLog.objects.update_or_create(match=match, defaults=_columns(match, data))


def _columns(match: Match, data: bytes) -> dict[str, Any]:
    row = _row(packing.dictionary_of(data))
    return {"data": data, "digest": digest(match.public_id, data), "dictionary_id": row}


def digest(match: str, data: bytes) -> str:
    """Return the hash of a stored log together with the public id of its `match`, so that the log fits no other match."""
    return hashlib.sha256(b"tute-log/1\n%s\n" % match.encode() + data).hexdigest()


def opened(match: Match) -> packing.Opened:
    """Return the unpacked log of a match, which must be intact. It is unpacked once for each `match` object. Raise Unopened."""
    log: packing.Opened | None = getattr(match, "_opened_log", None)
    if log is None:
        row = row_of(match)
        log = open_data(bytes(row.data)) if row and row.digest == digest(match.public_id, bytes(row.data)) else None
        if log is None or not log.whole:
            raise Unopened(_why(match, row))
        match._opened_log = log  # type: ignore[attr-defined]
    return log


def row_of(match: Match) -> MatchLog | None:
    """Return the row of a match's log, even if the data was removed, or None. One query."""
    try:
        return match.log
    except MatchLog.DoesNotExist:
        return None


def was_let_go(match: Match) -> bool:
    """Return True if the log was removed because its retention time had ended."""
    row = row_of(match)
    return row is not None and row.let_go is not None


def doubt(match: Match) -> str:
    """Return how the log of a match differs from the stored one, as a reason of Unopened; "" if it is intact or its retention time had ended."""
    if was_let_go(match):
        return ""
    try:
        opened(match)
    except Unopened as error:
        return error.why
    return ""


def open_data(data: bytes) -> packing.Opened | None:
    """Unpack the readable part of a log; None if there is none, or if its dictionary is unknown."""
    try:
        return packing.Opened(data, dictionary(packing.dictionary_of(data)))
    except (packing.BrokenLog, LookupError):
        return None


def _why(match: Match, row: MatchLog | None) -> str:
    if row is None or not row.data:
        return "missing"
    log = open_data(bytes(row.data))
    return "exchanged" if log and log.match() not in (None, match.public_id) else "damaged"


# ---- dictionaries


@lru_cache(maxsize=32)
def dictionary(sha256: str) -> bytes:
    """Return the dictionary with a hash, from the database, else from the files of this release. Raise LookupError."""
    if not sha256:
        return b""
    stored = LogDictionary.objects.filter(sha256=sha256).values_list("data", flat=True).first()
    file = DICTIONARIES / sha256
    for data in ([bytes(stored)] if stored is not None else []) + ([file.read_bytes()] if file.exists() else []):
        if hashlib.sha256(data).hexdigest() == sha256:
            return data
    raise LookupError(f"the dictionary {sha256} is not there")


def _row(sha256: str) -> int | None:
    """Return the key of the row that stores a dictionary, or None if only a file of the release has it."""
    return LogDictionary.objects.filter(sha256=sha256).values_list("pk", flat=True).first() if sha256 else None


def keep_dictionaries(*, apps: Any = apps, **_: Any) -> None:
    """Store the dictionaries of this release in the database, so that backups include them.

    Runs after each migration, as the owner of the tables.
    """
    try:
        rows = apps.get_model("league", "LogDictionary").objects
    except LookupError:  # The migrations went back to before there were dictionaries
        return
    for sha256 in filter(None, USED):
        rows.get_or_create(sha256=sha256, defaults={"data": (DICTIONARIES / sha256).read_bytes()})
