"""Cases: audits with a difference, or a failure that the match did not have. A case is open until a person has noted a conclusion."""

from __future__ import annotations

from datetime import datetime

from django.db import IntegrityError, transaction
from django.db.models import QuerySet

from league.domain.core import clock, journal, transitions
from league.domain.core.errors import Refused
from league.enums import CASES, AuditConclusion
from league.models import Audit, Case


def open_cases() -> QuerySet[Audit]:
    """Return the open cases with match, bot and owner, the newest first. One query."""
    rows = Audit.objects.filter(verdict__in=CASES, closed=None).defer("match__secret")
    return rows.select_related("work", "match__pool", "version__bot__owner", "version__bot__team").order_by("-finished")


def close(row: Audit | Case, *, actor: str, conclusion: str, why: str, now: datetime | None = None) -> bool:
    """Note a person's conclusion about an audit, or about results of two owners, also in the journal. Return True if it is new.

    No result changes; an operator may void matches. Raise Refused if the audit is no case.
    """
    now = clock.now_or(now)
    columns = {"conclusion": AuditConclusion(conclusion).value, "why": why}
    with transaction.atomic():
        locked = type(row)._default_manager.select_for_update(of=("self",)).get(pk=row.pk)
        kind, subject, data = "case", f"case:{row.pk}", columns
        if isinstance(locked, Audit):
            name = locked.work.public_id
            if not locked.is_case:
                raise Refused("audit {audit} found no difference, so there is no case to close", audit=name)
            kind, subject, data = "audit", transitions.subject(locked.match), {"audit": name, **columns}
        if locked.conclusion == columns["conclusion"]:
            return False
        type(row)._default_manager.filter(pk=row.pk).update(**columns, closed_by=actor, closed=now)
        journal.append(f"{kind}.closed", subject, now=now, actor=actor, **data)
    row.refresh_from_db()
    return True


def reopen(row: Audit | Case, *, actor: str, why: str, now: datetime | None = None) -> bool:
    """Remove the conclusion about an audit, or about results of two owners. Return True if there was one.

    Raise Refused if another case about the same owners is open.
    """
    now = clock.now_or(now)
    rows = type(row)._default_manager.filter(pk=row.pk, closed__isnull=False)
    try:
        with transaction.atomic():
            if not rows.update(conclusion="", why="", closed_by="", closed=None):
                return False
            kind, subject = (
                ("audit", transitions.subject(row.match)) if isinstance(row, Audit) else ("case", f"case:{row.pk}")
            )
            journal.append(f"{kind}.reopened", subject, now=now, actor=actor, why=why)
    except IntegrityError:
        raise Refused("these owners have an open case already; look at that one") from None
    row.refresh_from_db()
    return True
