"""Making notices from the journal, by the scheduler.

A line of the journal queues itself in the transaction in which the thing happens (`journal.append`), and leaves the queue in the transaction that
stores its last notice. So each line is spread exactly once, whoever is killed, and a bot with 10,000 followers costs the reporting worker nothing.
"""

from __future__ import annotations

import logging
from datetime import UTC, datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction

from league.domain.core import clock, journal
from league.domain.notices import notifying, sources
from league.domain.notices.notifying import Note
from league.enums import RequestStatus, TableStatus, TournamentStatus
from league.models import Arena, Assignment, Circuit, Event, LeagueEvent, Notice, NoticeSource, Table, TableOfDay
from league.pure.calendar import calendars

log = logging.getLogger("league.notices")
BATCH = 500  # The most notices of one transaction.
MOST = 5_000  # The most notices of one pass.
STAGE = 10**12  # Positions of the first group of recipients end before this number, those of the second at twice of it.
RETRY = timedelta(minutes=10)
KEPT = timedelta(days=90)  # Older notices are removed.
SOON = timedelta(hours=1)  # This long before it starts a tournament is announced.
DAY_BEFORE = timedelta(days=1)  # This long before its due time an assignment is announced.
WAITS = timedelta(minutes=5)  # A person who has been to move for this time is notified.
PUZZLE_FROM = 6  # The hour (UTC) from which the puzzle of the day is announced.
AT_ONCE = 200  # The most rows of a query that looks ahead.


def run(*, now: datetime | None = None) -> int:
    """Store the notices of queued lines, at most about MOST, and remove old ones; return the number of stored ones. Repeatable."""
    now = clock.now_or(now)
    _foresee(now)
    stored = 0
    due = NoticeSource.objects.filter(due__lte=now).order_by("due", "id")
    for pk in list(due.values_list("pk", flat=True)[:AT_ONCE]):
        stored += _spread(pk, MOST - stored, now)
        if stored >= MOST:
            break
    _tidy(now)
    return stored


def _spread(pk: int, most: int, now: datetime) -> int:
    stored, more = 0, True
    while more and stored < most:
        try:
            with transaction.atomic():
                source = NoticeSource.objects.select_for_update(skip_locked=True).filter(pk=pk, due__lte=now).first()
                if source is None:
                    return stored
                count, more = _step(source, now)
        except Exception:  # One line must not block all others.
            log.exception("the notices of line %s failed; trying again later", pk)
            NoticeSource.objects.filter(pk=pk).update(due=now + RETRY)
            return stored
        stored += count
    return stored


def _step(source: NoticeSource, now: datetime) -> tuple[int, bool]:
    """Store the next batch of a line; return their number, and True if more may follow."""
    notes, reached = _batch(source, now)
    if isinstance(notes, datetime):  # Never, if it is withheld for good.
        rows = NoticeSource.objects.filter(pk=source.pk)
        rows.update(due=notes) if notes < now + KEPT else rows.delete()
        return 0, False
    notifying.store(notes, now=now)
    if reached is None:
        source.delete()
    else:
        NoticeSource.objects.filter(pk=source.pk).update(reached=reached)
    return len(notes), reached is not None


def _batch(source: NoticeSource, now: datetime) -> tuple[list[Note] | datetime, int | None]:
    line: LeagueEvent = source.line
    if line.kind == "pool.day":
        return _overtaken(line, source.reached)
    groups = sources.SOURCES[line.kind](line, now)
    if isinstance(groups, datetime):
        return groups, None
    notes: list[Note] = []
    stage, after = divmod(source.reached, STAGE)
    for number, group in enumerate(groups[stage:], stage):
        room = BATCH - len(notes)
        if not room:
            return notes, number * STAGE
        players = group.players.filter(pk__gt=after).order_by("pk").values_list("pk", flat=True)
        chosen = list(players[:room])
        notes += [Note(pk, group.text, group.about, group.words, group.actor, str(line.pk)) for pk in chosen]
        if len(chosen) == room:
            return notes, number * STAGE + chosen[-1]
        after = 0
    return notes, None


def _overtaken(line: LeagueEvent, after: int) -> tuple[list[Note], int | None]:
    table = TableOfDay.objects.filter(pool=int(line.subject.partition(":")[2]), day=line.data["day"]).first()
    if table is None:
        return [], None
    falls, reached = sources.falls(table, after, BATCH)
    game = table.pool.game
    return [
        Note(
            fall.bot.owner_id,
            "overtaken",
            f"overtaken:{fall.bot.slug}:{line.data['day']}",  # Once a day and bot, whatever the number of its tables.
            {"bot": fall.bot.slug, "rival": fall.rival, "place": fall.place, "game": game, "pool": table.pool_id},
        )
        for fall in falls
    ], reached


def _foresee(now: datetime) -> None:
    """Add a line to the journal for what starts or is due soon, and for each person who has been to move for long. Once each."""
    soon = Event.objects.filter(status=TournamentStatus.OPEN, due__gt=now, due__lte=now + SOON)
    soon = soon.filter(requests__status=RequestStatus.GRANTED).distinct()
    for slug, due in soon.order_by("due").values_list("slug", "due")[:AT_ONCE]:
        _once("event.soon", f"event:{slug}", now, {"at": f"{due:%Y-%m-%dT%H:%M:%SZ}"})
    for circuit in Circuit.objects.filter(active=True, bots__isnull=False).distinct():
        due = calendars.read_calendar(circuit.days, circuit.at, circuit.time_zone).next(now)
        if due <= now + SOON:
            _once("season.soon", f"circuit:{circuit.slug}", now, {"at": f"{due:%Y-%m-%dT%H:%M:%SZ}"})
    hours = Arena.objects.filter(start__gt=now, start__lte=now + SOON, entries__player__isnull=False).distinct()
    for slug, start in hours.order_by("start").values_list("slug", "start")[:AT_ONCE]:
        _once("arena.soon", f"arena:{slug}", now, {"at": f"{start:%Y-%m-%dT%H:%M:%SZ}"})
    waits = Table.objects.filter(status=TableStatus.RESTING, player__isnull=False, turn__isnull=False)
    rows = waits.filter(since__lt=now - WAITS).order_by("pk").values_list("public_id", "turn", "pool__game")
    for public_id, turn, game in rows[:AT_ONCE]:
        _once("table.waits", f"table:{public_id}", now, {"turn": turn, "game": game})

    near = Assignment.objects.filter(
        due__gt=now, due__lte=now + DAY_BEFORE, opens__lte=now, school_class__archived=None
    )
    for pk, due in near.order_by("due", "pk").values_list("pk", "due")[:AT_ONCE]:
        _once("assignment.due", f"assignment:{pk}", now, {"at": f"{due:%Y-%m-%dT%H:%M:%SZ}"})
    here = now.astimezone(UTC)
    if settings.PUZZLES and here.hour >= PUZZLE_FROM and sources.puzzle_readers().exists():
        _once("puzzle.day", "puzzle:day", now, {"day": f"{here:%Y-%m-%d}"})


def _once(kind: str, subject: str, now: datetime, data: dict[str, Any]) -> None:
    """Append a line unless the latest one of this kind about the subject says the same."""
    latest = journal.latest(subject, [kind], 1)
    if not latest or latest[0].data != data:
        journal.append(kind, subject, now=now, **data)


def _tidy(now: datetime) -> None:
    """Remove notices older than KEPT, a batch in each pass."""
    old = Notice.objects.filter(created__lt=now - KEPT).order_by("created").values("pk")[:BATCH]
    Notice.objects.filter(pk__in=list(old.values_list("pk", flat=True))).delete()
