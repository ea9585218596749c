"""Cases: audits that found a difference. A case is open until a person has noted a conclusion."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction
from django.db.models import F, QuerySet

from league.domain.core import clock, journal, transitions
from league.domain.core.errors import Refused
from league.enums import AuditConclusion, AuditVerdict
from league.models import Audit


def cases() -> QuerySet[Audit]:
    """Return all cases with match, bot and owner: open ones first, then closed ones, the last closed first. One query."""
    rows = Audit.objects.filter(verdict=AuditVerdict.DIFFERS).defer("match__secret")
    rows = rows.select_related("work", "match__pool", "version__bot__owner")
    return rows.order_by(F("closed").desc(nulls_first=True), "-finished")


def close(audit: Audit, *, actor: str, conclusion: str, why: str, now: datetime | None = None) -> bool:
    """Note the conclusion of a case, also in the journal. Return True if it is new.

    The result of the match stays; an operator may void it. Raise Refused if the audit is no case.
    """
    now = clock.now_or(now)
    columns = {"conclusion": AuditConclusion(conclusion).value, "why": why}
    with transaction.atomic():
        row = Audit.objects.select_for_update(of=("self",)).select_related("work", "match").get(pk=audit.pk)
        if row.verdict != AuditVerdict.DIFFERS:
            raise Refused("audit {audit} found no difference, so there is no case to close", audit=row.work.public_id)
        if row.conclusion == columns["conclusion"]:
            return False
        Audit.objects.filter(pk=row.pk).update(**columns, closed_by=actor, closed=now)
        journal.append(
            "audit.closed", transitions.subject(row.match), now=now, actor=actor, audit=row.work.public_id, **columns
        )
    audit.refresh_from_db()
    return True
