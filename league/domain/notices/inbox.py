"""A player's notices, and reading them."""

from __future__ import annotations

from datetime import datetime

from django.db.models import QuerySet

from league.domain.core import clock
from league.models import Notice, Player


def notices_of(player: Player) -> QuerySet[Notice]:
    """Select the player's notices."""
    return Notice.objects.filter(player=player)


def has_unread(player: Player) -> bool:
    """Return True if the player has unread notices. One query, using the index."""
    return notices_of(player).filter(read=None).exists()


def mark_read(player: Player, notices: QuerySet[Notice] | None = None, *, now: datetime | None = None) -> int:
    """Mark these notices of the player, or all, as read; return the number of those that were not. They stand in no later letter."""
    rows = notices_of(player) if notices is None else notices.filter(player=player)
    return rows.filter(read=None).update(read=clock.now_or(now), due=None)
