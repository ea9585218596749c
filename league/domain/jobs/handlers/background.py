"""Work that nobody waits for: it yields to every kind of work that somebody waits for, but always has its small share of the time."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Generic

from league.domain.core import clock
from league.domain.jobs.handlers import registry
from league.domain.jobs.handlers.base import Result, Task
from league.domain.jobs.handlers.idle import IdleHandler, Subject, is_match_waiting
from league.domain.matches import holds
from league.enums import MatchKind, MatchStatus
from league.models import Match

MOST_WHY = 500  # Characters of a reason that are stored.


class BackgroundHandler(IdleHandler[Subject, Task, Result], Generic[Subject, Task, Result]):
    """A kind of work that nobody waits for."""

    is_background = True
    pause = timedelta(minutes=1)

    def is_overdue(self, *, now: datetime | None = None) -> bool:
        """Return True: it always has its small share of the time."""
        return True

    def goes_after(self, *, before_ladders: bool, now: datetime | None = None) -> bool:
        """Return True if work is waiting that somebody waits for."""
        return is_work_waiting(before_ladders=before_ladders, now=now)


def stored_reason(why: str) -> str:
    """Return a reason as it is stored: PostgreSQL has no NUL in text."""
    return why.replace("\0", "\ufffd")[:MOST_WHY]


def is_work_waiting(*, before_ladders: bool = False, now: datetime | None = None) -> bool:
    """Return True if work that is not background work may be done now: a match, an audit, or a player's request.

    before_ladders: ladder matches do not count, nor do audits, which come after them.
    """
    now = clock.now_or(now)
    others = (handler for handler in registry.idle_handlers() if not handler.is_background)
    if any(handler.has_waiting(now=now) for handler in others):
        return True
    if is_match_waiting(before_ladders=before_ladders, now=now):
        return True
    audits = Match.work.filter(holds.due(now), kind=MatchKind.AUDIT, status=MatchStatus.QUEUED)
    return not before_ladders and holds.playable_audits(audits).exists()
