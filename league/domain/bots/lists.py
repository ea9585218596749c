"""The lists of all bots and of all versions."""

from __future__ import annotations

from django.db.models import Max, QuerySet

from league.domain.core.counts import count_of, value_of
from league.enums import VersionStatus
from league.models import Bot, BotVersion


def rows() -> QuerySet[Bot]:
    """Select all bots with the counts of their versions; runs no query."""
    accepted = BotVersion.objects.filter(status=VersionStatus.ACCEPTED)
    return Bot.objects.annotate(
        version_count=count_of(BotVersion.objects.all(), "bot"),
        newest_accepted=value_of(accepted, "bot", Max("number")),
    )


def versions() -> QuerySet[BotVersion]:
    """Select all versions; runs no query."""
    people = ("bot__owner", "bot__team", "origin__bot__owner", "origin__bot__team")
    return BotVersion.objects.select_related(*people, "package", "fetch").defer("package__data", "fetch__result")
