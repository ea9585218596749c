"""Dumps: all rated matches with every card as files for study and training, one file per game and day, and a list with checksums.

A line is a replay as in the log of a match, so the same program reads both. A day is written after it has ended, and again when more of its matches
have become public. Files keep replays that the league has removed. Each file is written under a temporary name, entered in the list, and only then
renamed; so an interrupted file is either not listed yet or can be finished.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
from collections.abc import Collection, Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import Any

from django.db.models import Count, QuerySet
from django.db.models.functions import TruncDate

from league.domain.core import clock
from league.domain.core.errors import Refused
from league.domain.matches import replays, sight
from league.enums import MatchStatus
from league.models import Match, Sitting

LIST = "files.json"
FORMAT = "tute-dump/1"


@dataclass(frozen=True)
class DumpedFile:
    """A file of the dump; `path` is below the folder. held: matches whose replays are withheld; without: matches whose replays are unreadable."""

    path: str
    matches: int
    sittings: int
    held: int
    without: int
    bytes: int
    sha256: str


def dump(
    folder: Path, *, games: Collection[str] = (), since: date | None = None, now: datetime | None = None
) -> Iterator[DumpedFile]:
    """Write the missing files, oldest day first; yield each one written. Repeatable, and safe to interrupt.

    games: only these. since: from that day (UTC) on. Raise Refused if the folder cannot be written or its list cannot be read.
    """
    now = clock.now_or(now)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        listed = _read_list(folder)
        _finish(folder, listed)
        for game, day, count in list(_days(games, since, now)):
            path = f"{game}/{day.isoformat()}.jsonl.gz"
            before = listed.get(path)
            if before and (folder / path).exists() and before.held == 0 and before.matches + before.without == count:
                continue
            written = _write(folder, path, _matches(now).filter(pool__game=game, finished__range=_span(day)), before)
            if written is not None:
                listed[path] = written
                _write_list(folder, listed)
                _beside(folder / path).replace(folder / path)
                yield written
    except OSError as error:
        raise Refused("the folder {folder} cannot be written: {why}", folder=str(folder), why=str(error)) from error


def _matches(now: datetime) -> QuerySet[Match]:
    """Select the public matches that counted and finished before today."""
    today = datetime.combine(now.astimezone(UTC).date(), time(), UTC)
    rows = Match.objects.filter(status=MatchStatus.FINISHED, rated=True, finished__lt=today)
    return sight.matches(rows, None, now=now)


def _days(games: Collection[str], since: date | None, now: datetime) -> QuerySet[Any, tuple[str, date, int]]:
    """Return each game and day with the number of matches that finished on it."""
    rows = _matches(now)
    if games:
        rows = rows.filter(pool__game__in=games)
    if since:
        rows = rows.filter(finished__gte=datetime.combine(since, time(), UTC))
    days = rows.annotate(day=TruncDate("finished", tzinfo=UTC)).order_by("day", "pool__game")
    return days.values_list("pool__game", "day").annotate(number=Count("pk"))


def _span(day: date) -> tuple[datetime, datetime]:
    begin = datetime.combine(day, time(), UTC)
    return begin, begin + timedelta(days=1) - timedelta(microseconds=1)


def _write(folder: Path, path: str, rows: QuerySet[Match], before: DumpedFile | None) -> DumpedFile | None:
    """Write the file of a day under its temporary name; return None if the existing file has as many matches."""
    target = folder / path
    target.parent.mkdir(exist_ok=True)
    beside = _beside(target)
    count = {"matches": 0, "sittings": 0, "held": 0, "without": 0}
    # Without a time or name in the header, equal replays give equal bytes.
    with beside.open("wb") as raw, gzip.GzipFile("", "wb", 6, raw, mtime=0) as file:
        for match in rows.select_related("tournament__event", "pool").order_by("pk").iterator(100):
            state, lines = replay_lines(match)
            count[state] += 1
            count["sittings"] += len(lines)
            for line in lines:
                file.write(line)
    if before is not None and target.exists() and before.matches >= count["matches"]:
        beside.unlink()
        return None
    with beside.open("rb") as written:
        os.fsync(written.fileno())
    return DumpedFile(path, **count, bytes=beside.stat().st_size, sha256=_digest(beside))


def _beside(target: Path) -> Path:
    """Return the temporary name of a file until it is listed."""
    return target.with_suffix(".part")


def _digest(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _finish(folder: Path, listed: dict[str, DumpedFile]) -> None:
    """Rename listed files if an earlier run was interrupted before it could."""
    for path, entry in listed.items():
        beside = _beside(folder / path)
        if beside.exists() and _digest(beside) == entry.sha256:
            beside.replace(folder / path)


def replay_lines(match: Match) -> tuple[str, list[bytes]]:
    """Return the state of a match (a field of DumpedFile), and its replays as lines."""
    if replays.reason_closed(match):
        return "held", []
    lines = []
    for sitting in (
        Sitting.objects.filter(board__match=match).select_related("board").order_by("board__number", "number")
    ):
        sitting.board.match = match  # So its log is read only once.
        try:
            record = replays.replay(sitting)
        except replays.Unreadable:
            return "without", []
        lines.append(json.dumps(record, separators=(",", ":"), ensure_ascii=False).encode() + b"\n")
    return "matches", lines


def _read_list(folder: Path) -> dict[str, DumpedFile]:
    """Return the files in the list, by path."""
    try:
        text = (folder / LIST).read_text(encoding="utf-8")
    except FileNotFoundError:
        return {}
    try:
        document = json.loads(text)
        if document["format"] != FORMAT:
            raise ValueError(f"it has the format {document['format']!r}")
        return {entry["path"]: DumpedFile(**entry) for entry in document["files"]}
    except (ValueError, KeyError, TypeError) as error:
        raise Refused(
            "{file} is not a list of this league's files: {why}; choose another folder",
            file=str(folder / LIST),
            why=str(error),
        ) from error


def _write_list(folder: Path, listed: dict[str, DumpedFile]) -> None:
    document = {"format": FORMAT, "files": [asdict(listed[path]) for path in sorted(listed)]}
    beside = folder / f"{LIST}.part"
    with beside.open("w", encoding="utf-8") as file:
        json.dump(document, file, indent=1)
        file.flush()
        os.fsync(file.fileno())
    beside.replace(folder / LIST)
