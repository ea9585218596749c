"""Who plays which match, and for how long: claims with a deadline and a fencing token.

The token grows with every claim. Whatever a worker does with a match names the token it got; one that was overtaken is refused.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import F, Q

from league.domain import clock, state
from league.domain.errors import IllegalMove
from league.enums import MatchStatus
from league.models import Match

HELD = (MatchStatus.LEASED, MatchStatus.RUNNING)
BACKOFF_S = 2  # before the second try; doubles with each further one


def _deadline(now: datetime) -> datetime:
    return now + timedelta(seconds=settings.LEASE_S)


def claim(worker: str, *, prefer: int | None = None, now: datetime | None = None) -> Match | None:
    """Lease a queued match to `worker`: the one with the id `prefer` if it still waits, else the next in line; None if there is none.

    1. Row locks (PostgreSQL skips rows that others are claiming; on SQLite the transaction holds the one write lock).
    2. `move` to leased with token + 1, which updates only a row that is still queued.
    """
    now = clock.given(now)
    with transaction.atomic():
        waiting = (
            Match.objects.filter(status=MatchStatus.QUEUED)
            .filter(Q(not_before=None) | Q(not_before__lte=now))
            .order_by("-priority", "id")
            .select_for_update(skip_locked=True)
        )
        match = (waiting.filter(pk=prefer).first() if prefer else None) or waiting.first()
        if match is None:
            return None
        state.move(
            match,
            MatchStatus.LEASED,
            now=now,
            actor=worker,
            token=match.token + 1,
            worker=worker,
            lease_until=_deadline(now),
            attempts=match.attempts + 1,
            progress=0,
            reason="",
        )
    return match


def start(match: Match, *, now: datetime | None = None) -> None:
    """The worker of a leased match starts its bots."""
    now = clock.given(now)
    state.move(
        match,
        MatchStatus.RUNNING,
        now=now,
        actor=match.worker,
        guard={"token": match.token},
        started=now,
        lease_until=_deadline(now),
    )


def heartbeat(match_id: int, token: int, *, progress: int = 0, now: datetime | None = None) -> bool:
    """Prolong a lease and note the progress in percent. False: the match is no longer the caller's, who should stop playing it."""
    now = clock.given(now)
    held = Match.objects.filter(pk=match_id, token=token, status__in=HELD)
    return bool(held.update(lease_until=_deadline(now), progress=progress))


def release(match_id: int, token: int, *, why: str, now: datetime | None = None) -> bool:
    """Give a match back unplayed, because the worker is told to stop: no attempt is counted. False if it is not the caller's."""
    now = clock.given(now)
    match = Match.objects.filter(pk=match_id, token=token, status__in=HELD).first()
    if match is None:
        return False
    return _requeue(match, now=now, why=why, attempts=F("attempts") - 1, not_before=None)


def fail(match_id: int, token: int, *, why: str, now: datetime | None = None) -> bool:
    """A fault of ours ended the attempt: the match waits a little and is played again, or is void after too many attempts."""
    now = clock.given(now)
    match = Match.objects.filter(pk=match_id, token=token, status__in=HELD).first()
    return match is not None and _retry(match, now=now, why=why)


def expire(*, now: datetime | None = None, most: int = 500) -> int:
    """Take back the matches whose worker has been silent past its lease; their number."""
    now = clock.given(now)
    overdue = Match.objects.filter(status__in=HELD, lease_until__lt=now).order_by("id")[:most]
    return sum(
        _retry(match, now=now, why=f"worker {match.worker} was lost", guard={"lease_until__lt": now})
        for match in overdue
    )


def _retry(match: Match, *, now: datetime, why: str, guard: dict[str, object] | None = None) -> bool:
    if match.attempts < settings.MAX_ATTEMPTS:
        wait = timedelta(seconds=BACKOFF_S * 2 ** (match.attempts - 1))
        return _requeue(match, now=now, why=why, guard=guard, not_before=now + wait)
    why = f"void after {match.attempts} attempts; the last one failed: {why}"
    guard = {"token": match.token, **(guard or {})}
    try:
        state.move(
            match,
            MatchStatus.VOID,
            now=now,
            actor=match.worker,
            why=why,
            guard=guard,
            reason=why,
            finished=now,
            lease_until=None,
        )
    except IllegalMove:
        return False
    return True


def _requeue(
    match: Match, *, now: datetime, why: str, guard: dict[str, object] | None = None, **columns: object
) -> bool:
    guard = {"token": match.token, **(guard or {})}
    try:
        state.move(
            match,
            MatchStatus.QUEUED,
            now=now,
            actor=match.worker,
            why=why,
            guard=guard,
            reason=f"attempt {match.attempts}: {why}",
            worker="",
            lease_until=None,
            progress=0,
            **columns,
        )
    except IllegalMove:
        return False  # the worker reported, or somebody else took it back, in the meantime
    return True
