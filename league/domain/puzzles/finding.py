"""Puzzles of the league's own matches: those that were judged fairly are looked through by workers that have nothing else to do.

Each judgement that everybody may see gets a row when it is counted (`judgements.summing`), and is looked through once, the newest first, by the
fair judgement over other deals that proves the margin (`engine.puzzles`). A worker holds the row by a lease without a heartbeat: one that is
killed is followed by another when that is over. It lets go as soon as a match waits, and goes on at the sitting where it stopped.

Only finished matches count that everybody may see, and that nobody ever held back. What is not so any more is shown no longer (`shelf`).
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import Q

from engine.judging import Broken, Child, Stopped
from engine.puzzles import DEALS, Puzzle
from league.domain.core import clock, journal, transitions
from league.domain.core.errors import Refused
from league.domain.matches import background, holds, logs, replays, sight
from league.enums import MatchKind, MatchStatus
from league.models import FoundPuzzle, Match, PuzzleSearch, Sitting

log = logging.getLogger("league.puzzles")
OF_A_MATCH = 3  # puzzles: more are much alike
MOST = 500  # kept in all; the oldest are left out
ATTEMPTS = 2  # that may fail by a fault of ours
MOST_S = 300.0  # a worker looks so long at most, with the sitting at hand
LEASE = timedelta(seconds=2 * MOST_S + 60)
PAUSE = timedelta(minutes=1)  # after a match came between
DAY = timedelta(days=1)
LOOKED = 20  # rows of one claim


def claim(
    worker: str, *, before_ladders: bool = False, by_hand: bool = False, now: datetime | None = None
) -> PuzzleSearch | None:
    """Lease the next judged match to `worker`. None where nothing is left, a match waits, or the day has its puzzles.

    before_ladders: matches of ladders do not count. by_hand: neither matches that wait nor the day count. Two queries where nothing is left, at most.
    """
    now = clock.now_or(now)
    if not settings.PUZZLES_PER_DAY:
        return None
    waiting = PuzzleSearch.objects.filter(Q(lease_until=None) | Q(lease_until__lte=now), finished=None)
    waiting = waiting.filter(attempts__lt=ATTEMPTS).order_by("-judgement")
    rows = list(waiting.select_related("judgement").defer("judgement__body")[:LOOKED])
    if not rows:
        return None
    if not by_hand and (_day_is_full(now) or makes_way(before_ladders=before_ladders, now=now)):
        return None
    for row in rows:
        mine = PuzzleSearch.objects.filter(pk=row.pk, finished=None, lease_until=row.lease_until)
        if not is_open(_match_of(row)):
            mine.update(finished=now)
        elif mine.update(worker=worker, lease_until=now + LEASE, attempts=row.attempts + 1):
            row.worker, row.lease_until, row.attempts = worker, now + LEASE, row.attempts + 1
            return row
    return None


def makes_way(*, before_ladders: bool = False, now: datetime | None = None) -> bool:
    """Whether anything else waits that may be done now: a match, an audit, a judgement, a consultation. Four queries at most.

    before_ladders: matches of ladders do not count, nor audits, which come after these.
    """
    now = clock.now_or(now)
    waits = any(background.waiting(model, now).exists() for model in background.KINDS)
    if waits or background.is_busy(before_ladders=before_ladders, now=now):
        return True
    audits = Match.work.filter(holds.due(now), kind=MatchKind.AUDIT, status=MatchStatus.QUEUED)
    return not before_ladders and holds.playable_audits(audits).exists()


def _day_is_full(now: datetime) -> bool:
    most = settings.PUZZLES_PER_DAY
    return len(FoundPuzzle.objects.filter(created__gt=now - DAY).values_list("pk")[:most]) >= most


def _match_of(row: PuzzleSearch) -> Match:
    rows = Match.objects.select_related("tournament").defer("tournament__secret")  # no worker may read that
    return rows.defer("secret", "tournament__secret").get(pk=row.judgement.match_id)


def is_open(match: Match) -> bool:
    """Whether everybody may see its cards, and always might since it was finished. Needs its tournament."""
    if match.status != MatchStatus.FINISHED or match.kind == MatchKind.VALIDATION or logs.was_let_go(match):
        return False
    return not sight.is_held_back(match.tournament) and replays.reason_closed(match) is None


def carry_out(row: PuzzleSearch, *, stop: Callable[[], bool], now: datetime | None = None) -> int:
    """Look through the match of a row that this worker has leased, and keep its puzzles; how many were made."""
    made = row.made
    child = Child(cpu_s=settings.JUDGE_CPU_S, puzzles=DEALS)
    try:
        whole = _look(row, child, stop, clock.now_or(now))
    except Stopped:
        _write(row, worker="", lease_until=clock.now_or(now) + PAUSE, attempts=row.attempts - 1)
        return row.made - made
    except Broken as error:
        log.error("puzzles of judgement %s: attempt %d failed: %s", row.pk, row.attempts, error)
        _write(row, worker="", lease_until=clock.now_or(now) + PAUSE)
        return row.made - made
    finally:
        child.close()
    if not whole:
        log.info("puzzles of judgement %s: its time was over", row.pk)
    _write(row, finished=clock.now_or(now), lease_until=None)
    return row.made - made


def _look(row: PuzzleSearch, child: Child, stop: Callable[[], bool], now: datetime) -> bool:
    """All sittings that are left, until there are enough; whether there was time for them. Raises Stopped, Broken."""
    until = time.monotonic() + MOST_S

    def stops() -> bool:
        return stop() or time.monotonic() > until

    match = _match_of(row)
    rows = Sitting.objects.filter(board__match=match).select_related("board").order_by("board__number", "number")
    for number, sitting in enumerate(list(rows)[row.done :]):
        if row.made >= OF_A_MATCH:
            break
        if stops() if number else stop():
            raise Stopped
        sitting.board.match = match  # one for all: its log is read once
        try:
            record = replays.unpack(sitting)
        except Refused:  # damaged: its page says so
            _write(row, done=row.done + 1)
            continue
        try:
            found, whole = child.find(record, stop=stops)
        except Stopped:
            # It has had all of the time that a worker looks, and the next one would give it no more
            if not number and time.monotonic() > until:
                return False
            raise
        made = _keep(row, match, sitting, found, now)
        _write(row, done=row.done + 1, made=row.made + made)
        if not whole:
            return False
    return True


def _keep(row: PuzzleSearch, match: Match, sitting: Sitting, found: list[Puzzle], now: datetime) -> int:
    """Those of the largest margins, as many as the match may still have; how many were new."""
    best = sorted(found, key=lambda one: -one.margin)[: OF_A_MATCH - row.made]
    new = []
    with transaction.atomic():
        for one in best:
            place = {"match": match.public_id, "board": sitting.board.number, "sitting": sitting.number}
            one.source.update(place)
            made = {"match": match, "created": now, "line": one.line()}
            if FoundPuzzle.objects.get_or_create(puzzle=one.id, defaults=made)[1]:
                new.append(one.id)
        if new:
            journal.append("puzzle.found", transitions.subject(match), now=now, actor=row.worker, puzzles=new)
    return len(new)


def _write(row: PuzzleSearch, **columns: object) -> None:
    """Note it, unless the lease is somebody else's by now."""
    mine = PuzzleSearch.objects.filter(pk=row.pk, worker=row.worker, lease_until=row.lease_until, finished=None)
    if mine.update(**columns):
        for name, value in columns.items():
            setattr(row, name, value)


def tidy(*, most: int = 100) -> int:
    """Take out the oldest where there are too many; how many. One query where there are not."""
    old = FoundPuzzle.objects.order_by("-created", "pk").values_list("pk", flat=True)[MOST : MOST + most]
    gone = list(old)
    return FoundPuzzle.objects.filter(pk__in=gone).delete()[0] if gone else 0
