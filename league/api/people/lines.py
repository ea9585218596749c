"""The list of all players from finished lines."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from django.http import HttpRequest

from league.api.http import lines
from league.api.people.serializers import PlayerOut
from league.domain.people import lists
from league.domain.people.tokens import Viewer
from league.models import Player
from league.service import marks

MOST = 10_000  # some 100 bytes each


def players(request: HttpRequest, _named: Mapping[str, str], _viewer: Viewer | None) -> lines.Made | None:
    """A page of the players, newest first, which everybody sees alike. Two queries, and one for lines that are made anew.

    None where something is asked for wrongly, or by a part of a name: the view says what there is to say.
    """
    asked = lines.narrowed(request)
    if asked is None:
        return None
    versions = marks.read([marks.BOTS, marks.NAMES])
    page = _lines.page(versions[marks.NAMES], lambda: lists.read_cells(columns(), asked.cursor, asked.size))
    return lines.Made(asked.answer(page), versions) if page is not None else None


def _made(missing: list[int]) -> dict[int, bytes]:
    return {row.pk: lines.render(PlayerOut(row).data) for row in lists.rows().filter(pk__in=missing)}


_lines: lines.Lines[bytes] = lines.Lines(_made, most=MOST)


@cache
def columns() -> tuple[str, ...]:
    """What a line shows of its player."""
    return lines.columns(PlayerOut, Player)
