"""Retention: after a time, logs lose their replays, analyses and consultations. Results, the scores of every sitting and the digest stay."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from django.db import transaction
from django.db.models import Q

from league.domain.core import clock, journal
from league.domain.matches import logs
from league.enums import MatchStatus
from league.models import Audit, Consultation, Judgement, MatchLog

CHUNK = 200  # Matches in one transaction.
ENDED = (MatchStatus.FINISHED, MatchStatus.VOID)


def remove_expired(*, actor: str = "", now: datetime | None = None) -> int:
    """Remove the replays of all expired logs; return their number. Repeatable, also by two processes at once.

    A log stays until its audits have been drawn and none of them is queued or running.
    """
    now, count = clock.now_or(now), 0
    while gone := _remove_some(now):
        count += gone
    if count:
        journal.append("replays.let_go", "league", now=now, actor=actor, count=count)
    return count


def _remove_some(now: datetime) -> int:
    waiting = Audit.objects.filter(work__status__in=(MatchStatus.QUEUED, MatchStatus.LEASED, MatchStatus.RUNNING))
    looked_at = Q(match__drawn__isnull=False) | Q(match__status=MatchStatus.VOID)
    due = MatchLog.objects.filter(looked_at, until__lte=now, let_go=None)
    due = due.exclude(match__in=waiting.values("match")).order_by("until")
    with transaction.atomic():
        ids = list(due.select_for_update(skip_locked=True, of=("self",)).values_list("pk", flat=True)[:CHUNK])
        for model in (Judgement, Consultation):  # They refer to steps that nobody can see any more.
            model.objects.filter(match__in=ids).delete()
        return MatchLog.objects.filter(pk__in=ids, let_go=None).update(data=b"", let_go=now)


def apply_settings(*, dry_run: bool = False) -> Iterator[tuple[str, datetime | None, datetime | None]]:
    """Set the expiry of each stored log by the current settings; yield public id, old and new expiry if they differ."""
    last = 0
    while True:
        rows = MatchLog.objects.filter(pk__gt=last, let_go=None, match__status__in=ENDED).select_related("match")
        logs_read = list(rows.defer("data").order_by("pk")[:CHUNK])
        if not logs_read:
            return
        for row in logs_read:
            until = logs.keep_until(row.match, row.match.finished)
            if until != row.until:
                if not dry_run:
                    MatchLog.objects.filter(pk=row.pk, let_go=None).update(until=until)
                yield row.match.public_id, row.until, until
        last = logs_read[-1].pk
