"""Audits that differ are cases for people: open until somebody has looked at them and says what came of it."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction
from django.db.models import F, QuerySet

from league.domain.core import clock, journal, transitions
from league.domain.core.errors import Refused
from league.enums import AuditConclusion, AuditVerdict
from league.models import Audit


def cases() -> QuerySet[Audit]:
    """Every case with its match, bot and owner: the open ones first, then those that were closed last. One query."""
    rows = Audit.objects.filter(verdict=AuditVerdict.DIFFERS).defer("match__secret")
    rows = rows.select_related("work", "match__pool", "version__bot__owner")
    return rows.order_by(F("closed").desc(nulls_first=True), "-finished")


def close(audit: Audit, *, actor: str, conclusion: str, why: str, now: datetime | None = None) -> bool:
    """Say what came of a case, in the journal, too; whether that is new. It moves no result: what follows from it is an act of its own.

    Refused for what is no case.
    """
    now = clock.now_or(now)
    told = {"conclusion": AuditConclusion(conclusion).value, "why": why}
    with transaction.atomic():
        row = Audit.objects.select_for_update(of=("self",)).select_related("work", "match").get(pk=audit.pk)
        if row.verdict != AuditVerdict.DIFFERS:
            raise Refused("audit {audit} is no case: it does not differ", audit=row.work.public_id)
        if row.conclusion == told["conclusion"]:
            return False
        Audit.objects.filter(pk=row.pk).update(**told, closed_by=actor, closed=now)
        journal.append(
            "audit.closed", transitions.subject(row.match), now=now, actor=actor, audit=row.work.public_id, **told
        )
    audit.refresh_from_db()
    return True
