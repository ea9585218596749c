"""The list of all players."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet

from league.domain.core import keyset
from league.domain.core.counts import count_of
from league.domain.core.listed import Listed
from league.models import Bot, Player

COUNTED = ("bot_count",)  # Columns that `rows` adds.


def rows() -> QuerySet[Player]:
    """Return all players with the number of their bots, as a query that has not run."""
    return Player.objects.annotate(bot_count=count_of(Bot.objects.all(), "owner"))


def read_cells(columns: tuple[str, ...], cursor: keyset.Cursor | None, size: int) -> keyset.Page[tuple[int, str]]:
    """Return the players, newest first: ids, and their columns and counts as one text (prepared.Cells). One query."""
    return _PLAYERS.read((*columns, *COUNTED), cursor, size)


def _players(_viewer: Any, _stand_ins: Any) -> QuerySet[Player]:
    return rows()


_PLAYERS = Listed(_players)
