"""The parts of studies: each is a job of some boards. A worker stores the boards of a part, and the scheduler counts them, once.

A study's boards and cards follow from its rules, bots and engine alone. So the order of the parts does not matter, a part whose worker dies is
played again with the same cards, and a stopped study goes on where it was. Reports are built by workers, too, as a part without boards.
"""

from __future__ import annotations

import json
import zlib
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any

from django.db import transaction
from django.db.models import Q, QuerySet, Sum

import engine
from engine.game import Game
from engine.studying import BOARDS
from engine.version import VERSION
from league.domain.core import clock, hints, queue
from league.models import Job, Study, StudyPart

JOB = "study"  # The kind of the jobs.
AHEAD = 4  # Parts of a study that wait or are played.
MOST_S = 24 * 3600.0  # Time of the workers for a study, in all attempts.
PART = timedelta(minutes=30)  # The longest attempt of a part.
GROWTH = 1.25  # Factor from the boards of a report to those of the next one.
MOST_BYTES = 8_000_000  # Of a result; 32 boards have some 50,000, and a report less.
REPORT = 0  # The `first` of the part that builds the report.
BY_OPERATOR = "stopped by an operator"  # A reason to end.
USED_UP = "it has used the time of workers that a study may have"
LEFT = Q(player=None) | Q(player__banned__isnull=False)  # The player has closed the account, or is banned.
NEW = Q(finished__isnull=False, counted=False)


def pack(value: Any) -> bytes:
    """Pack the result of a part."""
    return zlib.compress(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode(), 9)


def unpack(part: StudyPart) -> Any:
    """Read the result of a part. Raise ValueError, zlib.error if it is damaged, or larger than any that a worker makes."""
    data = bytes(part.data or b"")
    if sha256(data).hexdigest() != part.digest:
        raise ValueError(f"{part} is damaged: its digest is not {part.digest}")
    reader = zlib.decompressobj()
    text = reader.decompress(data, MOST_BYTES)
    if not reader.eof:
        raise ValueError(f"{part} has more than {MOST_BYTES} bytes, or no end")
    return json.loads(text)


def numbers_of(study: Study, first: int) -> range:
    """Return the numbers of the boards of a part."""
    return range(first, min(first + BOARDS, study.boards + 1))


def rules_of(study: Study) -> Game:
    """Load the rules of a study. Raise OptionError if they no longer exist."""
    return engine.load(study.game, players=study.players, **study.options)


def is_outdated(study: Study) -> bool:
    """Return True if another release of the league began the study, so that its further boards would not fit."""
    try:
        return study.inputs["engine"] != VERSION or rules_of(study).revision != study.revision
    except engine.OptionError:
        return True


def counted(study: Study) -> QuerySet[StudyPart]:
    """Select the counted parts, in the order of their boards."""
    return study.parts.filter(counted=True).order_by("first")


def plan(row: Study, *, now: datetime) -> None:
    """Queue the next parts of a study that the caller has locked or created. End it once its report has all boards."""
    reported = row.report["boards"] if row.report else 0
    is_whole = row.played >= row.boards
    if is_whole and reported == row.played:
        end(row, "", now=now)
        return
    parts = dict(row.parts.values_list("first", "finished"))
    missing = [first for first in range(1, row.boards + 1, BOARDS) if first not in parts]
    waiting = sum(finished is None for first, finished in parts.items() if first != REPORT)
    new = missing[: max(0, AHEAD - waiting)]
    if REPORT not in parts and row.played > reported and (is_whole or row.played >= GROWTH * reported):
        new.insert(0, REPORT)
    for first in new:
        _queue(row, StudyPart.objects.create(study=row, first=first), now)
    row.save()
    if new:
        hints.matches_wait()


def _queue(row: Study, part: StudyPart, now: datetime) -> None:
    position = queue.turn_of(JOB, row.player) if row.player is not None else 0
    queue.add(JOB, now=now, owner=row.player, position=position, study=part)


def attempt_s(job: Job, now: datetime) -> float:
    """Return the seconds since a worker has leased the job of a part, at most `PART`; 0 if none has it."""
    if not job.ends_by:
        return 0.0
    # The league may have been down since.
    return max(0.0, (min(now, job.ends_by) - (job.ends_by - PART)).total_seconds())


def end(row: Study, why: str, *, now: datetime) -> None:
    """End a study that the caller has locked, and remove its unfinished parts. Workers that do them lose their leases.

    What these parts have cost so far counts in the time of the study.
    """
    removed = row.parts.filter(Q(finished=None) | Q(first=REPORT), counted=False)
    row.spent_s += removed.aggregate(sum=Sum("seconds"))["sum"] or 0.0
    row.spent_s += sum(attempt_s(job, now) for job in Job.objects.filter(kind=JOB, study__in=removed))
    removed.delete()
    row.decided, row.why = now, why
    row.save()


def settle(*, now: datetime | None = None) -> int:
    """Count the results of parts, and queue the next ones; end studies of an earlier release, and stop those of players who have left.

    Return the number of studies that changed. Repeatable.
    """
    now = clock.now_or(now)
    running = Study.objects.filter(decided=None)
    fresh = StudyPart.objects.filter(NEW, study__decided=None).values("study")
    chosen = running.filter(Q(pk__in=fresh) | ~Q(inputs__engine=VERSION) | LEFT).order_by("pk")
    count = 0
    for pk in list(chosen.values_list("pk", flat=True)[: queue.MOST]):
        with transaction.atomic():
            row = running.select_for_update(skip_locked=True, of=("self",)).filter(pk=pk).first()
            if row is None:
                continue
            _count(row, now)
            count += 1
    return count


def _count(row: Study, now: datetime) -> None:
    if is_outdated(row):
        end(row, "the league has a newer release; start the study again", now=now)
        return
    if row.player is None or row.player.banned is not None:  # Nobody's limits would count it.
        end(row, "stopped", now=now)
        return
    for part in row.parts.filter(NEW).order_by("finished", "pk"):
        row.spent_s += part.seconds
        if part.why:
            part.delete()
            end(row, part.why, now=now)
            return
        try:
            result = unpack(part)
            if part.first == REPORT:
                fits = 0 < result["boards"] <= row.played
            else:
                fits = [board["number"] for board in result] == list(numbers_of(row, part.first))
            if not fits:
                raise ValueError(f"{part} has other boards")
        except (ValueError, LookupError, TypeError, zlib.error):
            _repeat(row, part, now)
            continue
        if part.first == REPORT:
            row.report = result
            part.delete()
        else:
            row.played += len(result)
            row.cpu_s += part.cpu_s
            StudyPart.objects.filter(pk=part.pk).update(counted=True)
    if row.spent_s > MOST_S:
        end(row, USED_UP, now=now)
        return
    plan(row, now=now)


def _repeat(row: Study, part: StudyPart, now: datetime) -> None:
    """Queue a part again whose stored result is damaged."""
    StudyPart.objects.filter(pk=part.pk).update(data=None, digest="", seconds=0.0, finished=None)
    _queue(row, part, now)
