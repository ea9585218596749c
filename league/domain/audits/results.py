"""The results of audits, for a version and for a match."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from django.db.models import Count, Q, QuerySet

from league.enums import AuditVerdict
from league.models import Audit, BotVersion, Match


@dataclass(frozen=True)
class Summary:
    """The number of audited conversations of a version by verdict.

    `reproducible`: it declares itself deterministic, and every audit confirms that.
    """

    same: int = 0
    alike: int = 0
    differs: int = 0
    failed: int = 0
    reproducible: bool = False

    @property
    def total(self) -> int:
        """Return the number of finished audits."""
        return self.same + self.alike + self.differs + self.failed


def summaries(versions: Iterable[BotVersion]) -> dict[int, Summary]:
    """Return the summaries of these versions, by id. One query."""
    rows = list(versions)
    counts: dict[int, dict[str, int]] = {version.pk: {} for version in rows}
    audits = _finished().filter(version__in=rows)
    for version, verdict, count in audits.values_list("version", "verdict").annotate(count=Count("pk")).order_by():
        counts[version][verdict] = count
    return {
        version.pk: Summary(
            **counts[version.pk],
            reproducible=version.deterministic and counts[version.pk].keys() == {AuditVerdict.SAME},
        )
        for version in rows
    }


def _finished() -> QuerySet[Audit]:
    """Return the audits that have compared at least one decision, or failed before. No query."""
    return Audit.objects.filter(Q(decisions__gt=0) | Q(verdict=AuditVerdict.FAILED)).exclude(verdict="")


def of_match(match: Match) -> QuerySet[Audit]:
    """Return the finished audits of a match, with names and versions. One query."""
    rows = match.audits.exclude(verdict="")
    return rows.select_related("work", "version__bot__owner", "version__bot__team").order_by("sitting", "seat")
