"""The list of all players."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet

from league.domain.core import keyset
from league.domain.core.counts import count_of
from league.domain.core.listed import Listed
from league.models import Bot, Player

COUNTED = ("bot_count",)  # of their bots


def rows() -> QuerySet[Player]:
    """Every player, with the number of their bots. No query."""
    return Player.objects.annotate(bot_count=count_of(Bot.objects.all(), "owner"))


def read_cells(columns: tuple[str, ...], cursor: keyset.Cursor | None, size: int) -> keyset.Page[tuple[int, str]]:
    """The players, newest first: ids, and what is shown of them and counted as one text (prepared.Cells). One query."""
    return _PLAYERS.read((*columns, *COUNTED), cursor, size)


def _players(_who: Any, _told: Any) -> QuerySet[Player]:
    return rows()


_PLAYERS = Listed(_players)
