"""Cases: audits with a difference, or a failure that the match did not have. A case is open until a person has noted a conclusion."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction
from django.db.models import QuerySet

from league.domain.core import clock, journal, transitions
from league.domain.core.errors import Refused
from league.enums import CASES, AuditConclusion
from league.models import Audit


def open_cases() -> QuerySet[Audit]:
    """Return the open cases with match, bot and owner, the newest first. One query."""
    rows = Audit.objects.filter(verdict__in=CASES, closed=None).defer("match__secret")
    return rows.select_related("work", "match__pool", "version__bot__owner").order_by("-finished")


def close(audit: Audit, *, actor: str, conclusion: str, why: str, now: datetime | None = None) -> bool:
    """Note the conclusion of a case, also in the journal. Return True if it is new.

    The result of the match stays; an operator may void it. Raise Refused if the audit is no case.
    """
    now = clock.now_or(now)
    columns = {"conclusion": AuditConclusion(conclusion).value, "why": why}
    with transaction.atomic():
        row = Audit.objects.select_for_update(of=("self",)).select_related("work", "match").get(pk=audit.pk)
        if not row.is_case:
            raise Refused("audit {audit} found no difference, so there is no case to close", audit=row.work.public_id)
        if row.conclusion == columns["conclusion"]:
            return False
        Audit.objects.filter(pk=row.pk).update(**columns, closed_by=actor, closed=now)
        journal.append(
            "audit.closed", transitions.subject(row.match), now=now, actor=actor, audit=row.work.public_id, **columns
        )
    audit.refresh_from_db()
    return True
