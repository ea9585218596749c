"""The list of all bots."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db.models import Max, QuerySet

from league.domain.core import keyset
from league.domain.core.counts import count_of, value_of
from league.domain.core.prepared import ALL, Cells, Prepared, Some
from league.enums import VersionStatus
from league.models import Bot, BotVersion

COUNTED = ("version_count", "newest_accepted")  # of its versions


def rows() -> QuerySet[Bot]:
    """Every bot, with what is counted of its versions. No query."""
    accepted = BotVersion.objects.filter(status=VersionStatus.ACCEPTED)
    return Bot.objects.annotate(
        version_count=count_of(BotVersion.objects.all(), "bot"),
        newest_accepted=value_of(accepted, "bot", Max("number")),
    )


def read_cells(
    columns: tuple[str, ...], cursor: keyset.Cursor | None, size: int, *, some: Some[Any] = ALL
) -> keyset.Page[tuple[int, str]]:
    """The bots, newest first: ids, and what is shown of them and counted as one text (prepared.Cells). One query."""
    values = (*(cursor.edge if cursor else ()), *some.values)
    found = _CELLS.rows((columns, cursor and cursor.back, size, some.narrow), values)
    return keyset.fold([(int(pk), cells) for pk, cells in found], lambda row: row[:1], cursor, size)


def _cells(shape: Any, values: Sequence[Any]) -> QuerySet[Any, Any]:
    columns, back, size, narrow = shape
    to = 0 if back is None else 1
    cursor = None if back is None else keyset.Cursor(back, tuple(values[:to]))
    bots = Some.of(rows(), narrow, values[to:])
    return keyset.asked(bots, keyset.NEWEST, cursor, size).values_list("id", Cells((*columns, *COUNTED)))


_CELLS = Prepared(_cells)
