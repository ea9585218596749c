"""The lists that people work off. Each stands on the page of operators with its number and its link: a new one is one line in QUEUES."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db.models import QuerySet
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from league.domain.audits import cases as audit_cases
from league.domain.talk import reports
from league.domain.upkeep import cases
from league.domain.volunteers import keys
from league.models import Audit, Case, Match
from league.pure.rating.collusion import Throwing

MOST = 50  # The most open cases of each kind on their page.


@dataclass(frozen=True)
class ReviewQueue:
    """A list of what people should look at: its title, the number of its rows, and the name of its address."""

    title: Promise
    count: Callable[[], int]
    page: str


def _open_rows() -> QuerySet[Audit, Any]:
    """Select the ids of the open cases of both kinds. No query."""
    return audit_cases.open_cases().order_by().values("pk").union(cases.open_cases().order_by().values("pk"), all=True)


QUEUES: tuple[ReviewQueue, ...] = (
    ReviewQueue(_("Open cases"), lambda: _open_rows().count(), "operator-cases"),
    ReviewQueue(_("Reported comments"), lambda: reports.reported().count(), "operator-reports"),
    ReviewQueue(_("Volunteers"), lambda: keys.shut_out().count(), "operator-volunteers"),
)


def open_queues() -> list[tuple[Promise, int, str]]:
    """Return title, number and address of each queue."""
    return [(queue.title, queue.count(), reverse(queue.page)) for queue in QUEUES]


@dataclass(frozen=True)
class OpenCase:
    """An audit or a case of results, with its evidence and matches if it is shown alone."""

    row: Audit | Case
    evidence: Throwing | None = None
    matches: Sequence[Match] = field(default_factory=tuple)

    @property
    def is_audit(self) -> bool:
        """Return True for an audit."""
        return isinstance(self.row, Audit)

    @property
    def subject(self) -> str:
        """Return the name of the case for actions."""
        return f"audit:{self.row.work.public_id}" if isinstance(self.row, Audit) else f"case:{self.row.pk}"

    @property
    def played_worse(self) -> bool:
        """Return True if results and decisions together make a case."""
        return (
            isinstance(self.row, Case) and self.evidence is not None and self.evidence.makes_a_case(self.row.deviations)
        )

    @property
    def since(self) -> datetime | None:
        """Return when the case arose."""
        return self.row.finished if isinstance(self.row, Audit) else self.row.created


def open_cases() -> list[OpenCase]:
    """Return the open cases of both kinds, the newest first. Two queries."""
    rows: list[Audit | Case] = [*audit_cases.open_cases()[:MOST], *cases.open_cases()[:MOST]]
    return sorted(map(OpenCase, rows), key=lambda case: case.since.timestamp() if case.since else 0, reverse=True)
