"""The list of all bots from finished lines."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from django.http import HttpRequest

from league.api.bots.serializers import BotOut
from league.api.http import lines
from league.api.http.filters import BotFilters, narrowed
from league.domain.bots import lists
from league.domain.core import keyset
from league.domain.people.tokens import Viewer
from league.models import Bot
from league.service import marks
from league.service.remembered import Held

# A description has up to 2,000 characters, and is in the line and in what it follows from: some 5 MB as bots are, 40 MB where each has a long one
MOST_LINES = 5_000
FILTERS = BotFilters.base_filters.keys() - {"q"}  # a part of a name is looked for by the view

_held: Held[int, bytes] = Held(MOST_LINES)


def bots(request: HttpRequest, _named: Mapping[str, str], _viewer: Viewer | None) -> lines.Made | None:
    """A page of the bots, newest first, which everybody sees alike. Two queries, and one for lines that are made anew.

    None where something is asked for wrongly, or by a part of a name: the view says what there is to say.
    """
    asked = lines.asked(request, keyset.NEWEST, FILTERS)
    if asked is None:
        return None
    try:
        some = narrowed(BotFilters, asked.filters)
    except ValueError:
        return None
    versions = marks.read([marks.BOTS, marks.NAMES])
    page = lists.read_cells(columns(), asked.cursor, asked.size, some=some)
    names = versions[marks.NAMES]

    def make(missing: list[int]) -> tuple[dict[int, bytes], dict[int, Any]]:
        rows = lists.rows().select_related("owner", "sends").filter(pk__in=missing)
        made = {row.pk: lines.render(BotOut(row).data) for row in rows}
        return made, follow(lists.read_cells(columns(), asked.cursor, asked.size, some=some))

    def follow(rows: keyset.Page[tuple[int, str]]) -> dict[int, Any]:
        return {pk: (names, cells) for pk, cells in rows}

    there = _held.of_many(follow(page), make)
    if len(there) < len(page):
        return None
    return lines.Made(asked.answer(keyset.Page([there[pk] for pk, _ in page], page.before, page.after)), versions)


@cache
def columns() -> tuple[str, ...]:
    """What a line shows of its bot."""
    return lines.columns(BotOut, Bot)
