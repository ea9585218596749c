"""Work on finished matches that a worker does where nothing else waits: rows that are their own place in a queue, held under leases.

Judgements and consultations are such work. A match that waits goes first, whoever asked; a worker that is lost is found by its lease.
"""

from __future__ import annotations

import logging
from datetime import datetime, timedelta
from typing import Any, Generic, TypeVar

from django.conf import settings
from django.db import transaction
from django.db.models import Q, QuerySet

from league.domain.core import clock, transitions
from league.domain.core.errors import IllegalMove
from league.domain.matches import holds
from league.enums import JudgementStatus, MatchKind, MatchStatus
from league.models import Consultation, Judgement, Match, Player

log = logging.getLogger("league.background")
ATTEMPTS = 2  # that may fail by a fault of ours; a match that breaks the work is not put to it for ever
PATIENCE = timedelta(minutes=2)  # so long it waits for matches of ladders, too
FAILED_DAYS = 30  # so long a failure is kept; then it may be asked for again
WAITING = (JudgementStatus.ASKED, JudgementStatus.WORKING)
Work = TypeVar("Work", bound=Judgement | Consultation)
KINDS: tuple[type[Judgement] | type[Consultation], ...] = (Consultation, Judgement)
# Columns that only who works on a row reads
LATE: dict[type, tuple[str, ...]] = {Judgement: ("body",), Consultation: ("answers",)}


class Held(Generic[Work]):
    """Work that a worker has leased."""

    def __init__(self, row: Work) -> None:
        self.row: Work = row
        self.progress = row.progress
        self.lost = False  # the lease is somebody else's by now

    def beat(self, *, now: datetime | None = None) -> None:
        """Renew the lease."""
        until = _deadline(clock.now_or(now))
        mine = type(self.row)._default_manager.filter(
            pk=self.row.pk, token=self.row.token, status=JudgementStatus.WORKING
        )
        self.lost |= not mine.update(lease_until=until, progress=self.progress)

    def move(self, to: str, *, now: datetime, why: str = "", **columns: object) -> bool:
        """Give the lease back with a new status; False where it is somebody else's by now."""
        row = self.row
        guard = {"token": row.token}
        try:
            transitions.move(row, to, now=now, actor=row.worker, why=why, guard=guard, lease_until=None, **columns)
        except IllegalMove as error:
            log.warning("%s: %s", transitions.subject(row), error)
            return False
        return True


def place_of(model: type[Work], by: Player) -> int:
    """The place in the queue of what somebody asks for next: how much of theirs waits."""
    return model._default_manager.filter(asked_by=by, status__in=WAITING).count()


def is_busy(*, before_ladders: bool = False, now: datetime | None = None) -> bool:
    """Whether a match waits that may be played now. It goes first, whoever asked for other work. One query, of the rows of a claim.

    before_ladders: matches of ladders do not count.
    """
    waiting = Match.line.filter(holds.due(clock.now_or(now)), status=MatchStatus.QUEUED, held_back=False)
    return waiting.exclude(kind__in=[MatchKind.AUDIT, *([MatchKind.LADDER] if before_ladders else [])]).exists()


def is_overdue(model: type[Work], *, now: datetime | None = None) -> bool:
    """Whether a row waits for longer than `PATIENCE`, and only ladders keep it waiting: they never end. One query where none does, else two."""
    now = clock.now_or(now)
    waits = model._default_manager.filter(status=JudgementStatus.ASKED, created__lte=now - PATIENCE)
    return waits.exists() and not is_busy(before_ladders=True, now=now)


def waiting(model: type[Work], now: datetime) -> QuerySet[Work]:
    """Those that may be claimed: what is held back waits until it is shown, and a bot that an operator holds back until it is let go."""
    later = Q(match__embargo__gt=now) | Q(match__tournament__embargo__gt=now)
    rows: QuerySet[Any] = model._default_manager.filter(
        status=JudgementStatus.ASKED, match__status=MatchStatus.FINISHED
    )
    if model is Consultation:
        rows = rows.filter(version__bot__stopped=None)
    return rows.exclude(later)


def claim(
    model: type[Work], worker: str, *, before_ladders: bool = False, now: datetime | None = None
) -> Held[Work] | None:
    """Lease the next row to `worker`, None while a match waits. For who has been given neither match nor audit.

    before_ladders: matches of ladders do not count. Askers take turns. What is held back waits until it is shown.
    """
    now = clock.now_or(now)
    asked = model._default_manager.filter(status=JudgementStatus.ASKED)
    if not asked.exists() or is_busy(before_ladders=before_ladders, now=now):
        return None
    with transaction.atomic():
        rows = waiting(model, now).order_by("place", "id")
        row = rows.select_for_update(skip_locked=True, of=("self",)).first()
        if row is None:
            return None
        token = row.token + 1
        transitions.move(
            row,
            JudgementStatus.WORKING,
            now=now,
            actor=worker,
            guard={"token": row.token},
            token=token,
            worker=worker,
            lease_until=_deadline(now),
            attempts=row.attempts + 1,
        )
    return Held(row)


def _deadline(now: datetime) -> datetime:
    return now + timedelta(seconds=settings.LEASE_S)


def expire(model: type[Work], *, now: datetime | None = None, most: int = 500) -> int:
    """Take back what workers hold that have been silent past their lease; how many. Old failures, and matches struck out since, are forgotten."""
    now = clock.now_or(now)
    rows = model._default_manager
    rows.filter(status=JudgementStatus.FAILED, finished__lt=now - timedelta(days=FAILED_DAYS)).delete()
    rows.filter(status=JudgementStatus.ASKED).exclude(match__status=MatchStatus.FINISHED).delete()
    overdue = rows.filter(status=JudgementStatus.WORKING, lease_until__lt=now).defer(*LATE[model]).order_by("id")
    taken = 0
    for row in overdue[:most]:
        why = f"worker {row.worker} was lost"
        last = row.attempts >= ATTEMPTS
        to = JudgementStatus.FAILED if last else JudgementStatus.ASKED
        guard = {"token": row.token, "lease_until__lt": now}
        columns = {"worker": "", "lease_until": None, "reason": why} | ({"finished": now} if last else {})
        try:
            transitions.move(row, to, now=now, actor=row.worker, why=why, guard=guard, **columns)
        except IllegalMove:
            continue
        taken += 1
    return taken
