"""What audits have shown, of a version and of a match."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, QuerySet

from league.domain.core import keyset
from league.domain.core.counts import count_of
from league.domain.core.prepared import Cells, Prepared
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


def read_cells(version: int) -> keyset.Page[tuple[int, str]]:
    """The version of this id: its id, and what its summary follows from as one text (prepared.Cells). One query."""
    return keyset.Page([(int(pk), cells) for pk, cells in _CELLS.rows((), (version,))])


def _cells(_shape: object, values: Sequence[Any]) -> QuerySet[Any, Any]:
    counts = {verdict.value: count_of(_finished().filter(verdict=verdict), "version") for verdict in AuditVerdict}
    rows = BotVersion.objects.filter(pk=values[0]).annotate(**counts)
    return rows.values_list("id", Cells(("deterministic", *counts)))


_CELLS = Prepared(_cells)


def of_match(match: Match) -> QuerySet[Audit]:
    """The finished audits of a match, with their names and versions. One query."""
    rows = match.audits.exclude(verdict="")
    return rows.select_related("work", "version__bot__owner").order_by("sitting", "seat")
