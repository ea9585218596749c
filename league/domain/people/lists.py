"""The list of all players."""

from __future__ import annotations

from django.db.models import QuerySet

from league.domain.core.counts import count_of
from league.models import Bot, Player


def rows() -> QuerySet[Player]:
    """Return all players with the number of their bots that everybody sees, as a query that has not run."""
    return Player.objects.annotate(bot_count=count_of(Bot.objects.filter(in_class=False), "owner"))
