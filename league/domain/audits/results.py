"""What audits have shown, of a version and of a match."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from django.db.models import Count, QuerySet

from league.enums import AuditVerdict
from league.models import Audit, BotVersion, Match


@dataclass(frozen=True)
class Summary:
    """Audited conversations of a version by their verdict. `reproducible`: it declares itself deterministic, and each of them bears it out."""

    same: int = 0
    alike: int = 0
    differs: int = 0
    failed: int = 0
    reproducible: bool = False

    @property
    def total(self) -> int:
        """All that are finished."""
        return self.same + self.alike + self.differs + self.failed


def summaries(versions: Iterable[BotVersion]) -> dict[int, Summary]:
    """Of each of these versions, by its id. One query."""
    rows = list(versions)
    counts: dict[int, dict[str, int]] = {version.pk: {} for version in rows}
    found = _finished().filter(version__in=rows)
    for version, verdict, count in found.values_list("version", "verdict").annotate(count=Count("pk")).order_by():
        counts[version][verdict] = count
    return {
        version.pk: Summary(
            **counts[version.pk],
            reproducible=version.deterministic and counts[version.pk].keys() == {AuditVerdict.SAME},
        )
        for version in rows
    }


def _finished() -> QuerySet[Audit]:
    """Those that say something. No query."""
    return Audit.objects.filter(decisions__gt=0).exclude(verdict="")


def of_match(match: Match) -> QuerySet[Audit]:
    """The finished audits of a match, with their names and versions. One query."""
    rows = match.audits.exclude(verdict="")
    return rows.select_related("work", "version__bot__owner").order_by("sitting", "seat")
