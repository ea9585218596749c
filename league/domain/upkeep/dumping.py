"""All rated matches with every card, as files for who studies or trains: one file a game and day, and a list of them with their check sums.

A line is a replay, as in the log of a match, so that what reads one reads the other. A day is written when it is over. It is written again where
more of it can be seen by then: replays that were held back. What is no longer kept in the league stays in the files: a file is written
beside, told in the list, and only then put in its place, so whatever is ended half way is either not told yet or can be finished.
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
class Dumped:
    """One file, by its path below the folder. held: matches whose replays are held back; without: those whose replays cannot be read any more."""

    path: str
    matches: int
    sittings: int
    held: int
    without: int
    bytes: int
    sha256: str


def dump(
    folder: Path, *, games: Collection[str] = (), since: date | None = None, now: datetime | None = None
) -> Iterator[Dumped]:
    """Write what is not there yet, from the oldest day. Yields each file that it has written. Harmless to repeat, and to end at any moment.

    games: only these. since: from that day (UTC) on. Raises Refused where the folder cannot be written, or its list cannot be read.
    """
    now = clock.now_or(now)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        there = _listed(folder)
        _finish(folder, there)
        for game, day, count in list(_days(games, since, now)):
            path = f"{game}/{day.isoformat()}.jsonl.gz"
            before = there.get(path)
            if before and (folder / path).exists() and before.held == 0 and before.matches + before.without == count:
                continue
            written = _write(folder, path, _matches(now).filter(pool__game=game, finished__range=_span(day)), before)
            if written is not None:
                there[path] = written
                _list(folder, there)
                _beside(folder / path).replace(folder / path)
                yield written
    except OSError as error:
        raise Refused("the folder {folder} cannot be written: {why}", folder=str(folder), why=str(error)) from error


def _matches(now: datetime) -> QuerySet[Match]:
    """Those that counted and that everybody sees, and that were over before today."""
    over = datetime.combine(now.astimezone(UTC).date(), time(), UTC)
    rows = Match.objects.filter(status=MatchStatus.FINISHED, rated=True, finished__lt=over)
    return sight.matches(rows, None, now=now)


def _days(games: Collection[str], since: date | None, now: datetime) -> QuerySet[Any, tuple[str, date, int]]:
    """Game, day and how many matches were finished on it."""
    rows = _matches(now)
    if games:
        rows = rows.filter(pool__game__in=games)
    if since:
        rows = rows.filter(finished__gte=datetime.combine(since, time(), UTC))
    days = rows.annotate(day=TruncDate("finished", tzinfo=UTC)).order_by("day", "pool__game")
    return days.values_list("pool__game", "day").annotate(found=Count("pk"))


def _span(day: date) -> tuple[datetime, datetime]:
    begin = datetime.combine(day, time(), UTC)
    return begin, begin + timedelta(days=1) - timedelta(microseconds=1)


def _write(folder: Path, path: str, rows: QuerySet[Match], before: Dumped | None) -> Dumped | None:
    """The file of a day, beside its place; None where the one that is there holds as much."""
    target = folder / path
    target.parent.mkdir(exist_ok=True)
    beside = _beside(target)
    count = {"matches": 0, "sittings": 0, "held": 0, "without": 0}
    # No time and no name in its head: the same replays are the same bytes
    with beside.open("wb") as raw, gzip.GzipFile("", "wb", 6, raw, mtime=0) as file:
        for match in rows.select_related("tournament__event", "pool").order_by("pk").iterator(100):
            what, lines = _lines(match)
            count[what] += 1
            count["sittings"] += len(lines)
            for line in lines:
                file.write(line)
    if before is not None and target.exists() and before.matches >= count["matches"]:
        beside.unlink()
        return None
    with beside.open("rb") as done:
        os.fsync(done.fileno())
    return Dumped(path, **count, bytes=beside.stat().st_size, sha256=_digest(beside))


def _beside(target: Path) -> Path:
    """Where a file stands until it is told in the list."""
    return target.with_suffix(".part")


def _digest(file: Path) -> str:
    with file.open("rb") as done:
        return hashlib.file_digest(done, "sha256").hexdigest()


def _finish(folder: Path, there: dict[str, Dumped]) -> None:
    """Put what the list tells of in its place, where a run ended before it could."""
    for path, told in there.items():
        beside = _beside(folder / path)
        if beside.exists() and _digest(beside) == told.sha256:
            beside.replace(folder / path)


def _lines(match: Match) -> tuple[str, list[bytes]]:
    """What is to be counted, and the replays of a match."""
    if replays.reason_closed(match):
        return "held", []
    lines = []
    for sitting in (
        Sitting.objects.filter(board__match=match).select_related("board").order_by("board__number", "number")
    ):
        sitting.board.match = match  # its log is read once
        try:
            record = replays.replay(sitting)
        except replays.Unreadable:
            return "without", []
        lines.append(json.dumps(record, separators=(",", ":"), ensure_ascii=False).encode() + b"\n")
    return "matches", lines


def _listed(folder: Path) -> dict[str, Dumped]:
    """What the list says is there."""
    try:
        text = (folder / LIST).read_text(encoding="utf-8")
    except FileNotFoundError:
        return {}
    try:
        told = json.loads(text)
        if told["format"] != FORMAT:
            raise ValueError(f"it has the format {told['format']!r}")
        return {one["path"]: Dumped(**one) for one in told["files"]}
    except (ValueError, KeyError, TypeError) as error:
        raise Refused(
            "{file} is no list of this league's files: {why}; choose another folder",
            file=str(folder / LIST),
            why=str(error),
        ) from error


def _list(folder: Path, there: dict[str, Dumped]) -> None:
    told = {"format": FORMAT, "files": [asdict(there[path]) for path in sorted(there)]}
    beside = folder / f"{LIST}.part"
    with beside.open("w", encoding="utf-8") as file:
        json.dump(told, file, indent=1)
        file.flush()
        os.fsync(file.fileno())
    beside.replace(folder / LIST)
