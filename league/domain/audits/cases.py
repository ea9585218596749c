"""Audits that differ are cases for people: open until somebody has looked at them and says what came of it."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction
from django.db.models import F, QuerySet

from league.domain.core import clock, journal, moves
from league.domain.core.errors import Refused
from league.enums import AuditConclusion, AuditVerdict
from league.models import Audit

MOST_WHY = 2000  # characters


def cases() -> QuerySet[Audit]:
    """Every case with its match, bot and owner: the open ones first, then those that were closed last. One query."""
    rows = Audit.objects.filter(verdict=AuditVerdict.DIFFERS).defer("match__secret")
    rows = rows.select_related("work", "match__pool", "version__bot__owner")
    return rows.order_by(F("closed").desc(nulls_first=True), "-finished")


def close(audit: Audit, *, actor: str, conclusion: str, why: str, now: datetime | None = None) -> None:
    """Say what came of a case, in the journal, too. It moves no result: what follows from it (a match struck out, a bot barred) is an act of its own.

    Refused for what is no case, is closed already, or without a reason.
    """
    now = clock.given(now)
    why = why.strip()
    if conclusion not in AuditConclusion.values:
        raise Refused(
            "{conclusion!r} is no conclusion; it is one of {words}",
            conclusion=conclusion,
            words=", ".join(AuditConclusion.values),
        )
    if not why or len(why) > MOST_WHY:
        raise Refused("say why, in 1 to {most} characters: everybody reads it beside the audit", most=MOST_WHY)
    with transaction.atomic():
        open_case = Audit.objects.filter(pk=audit.pk, verdict=AuditVerdict.DIFFERS, closed=None)
        if not open_case.update(conclusion=conclusion, why=why, closed_by=actor, closed=now):
            audit.refresh_from_db()
            if audit.verdict != AuditVerdict.DIFFERS:
                raise Refused("audit {audit} is no case: it does not differ", audit=audit.work.public_id)
            raise Refused(
                "audit {audit} was closed by {who}: {conclusion}",
                audit=audit.work.public_id,
                who=audit.closed_by,
                conclusion=AuditConclusion(audit.conclusion).label,
            )
        journal.append(
            "audit.closed", moves.subject(audit.match), now=now, actor=actor, audit=audit.work.public_id, conclusion=conclusion, why=why
        )  # fmt: skip
    audit.refresh_from_db()
