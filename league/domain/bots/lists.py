"""The lists of all bots and of all versions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db.models import Max, QuerySet

from league.domain.core import keyset
from league.domain.core.counts import count_of, value_of
from league.domain.core.listed import Listed
from league.domain.core.prepared import ALL, Prepared, Some
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
    return _BOTS.read((*columns, *COUNTED), cursor, size, some=some)


_BOTS = Listed(lambda _who, _told: rows())


def versions() -> QuerySet[BotVersion]:
    """Every version. No query."""
    return BotVersion.objects.select_related("bot__owner", "package").defer("package__data")


def read_versions(
    columns: tuple[str, ...], cursor: keyset.Cursor | None, size: int, *, bot: str | None = None, some: Some[Any] = ALL
) -> keyset.Page[tuple[int, str]]:
    """The versions of all bots, or of the one with this name, newest first, as `read_cells`. One query."""
    return _VERSIONS.read(columns, cursor, size, told=() if bot is None else (bot,), some=some)


def _versions(_who: object, told: Sequence[Any]) -> QuerySet[BotVersion]:
    return BotVersion.objects.filter(bot__slug=told[0]) if told else BotVersion.objects.all()


_VERSIONS = Listed(_versions)


def is_version(pk: int) -> bool:
    """Whether there is a version of this id. One query."""
    return bool(_VERSION.rows((), (pk,)))


_VERSION = Prepared(lambda _, values: BotVersion.objects.filter(pk=values[0]).values_list("pk"))
