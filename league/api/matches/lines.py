"""The lists of all matches, and of the boards of one, from finished lines."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from django.http import HttpRequest

from league.api.http import lines
from league.api.http.filters import MatchFilters, narrowed_matches
from league.api.matches.rows import boards_of, listed
from league.api.matches.serializers import BoardOut, MatchOut
from league.domain.core import keyset
from league.domain.matches import sight
from league.domain.people.tokens import Viewer
from league.models import Board, Match
from league.service import marks


def matches(request: HttpRequest, _named: Mapping[str, str], viewer: Viewer | None) -> lines.Made | None:
    """A page of the matches that `viewer` may see, newest first. Two queries, one more for a game, and those for lines made anew.

    A line tells everybody the same; which there are is asked anew each time. None where something is asked for wrongly: the view says what.
    """
    asked = lines.asked(request, keyset.NEWEST, MatchFilters.base_filters)
    if asked is None:
        return None
    versions = marks.read([marks.MATCHES, marks.BOTS, marks.NAMES])
    try:
        some = narrowed_matches(asked.filters)
    except ValueError:
        return None
    if some is None:
        return lines.Made(asked.answer(keyset.Page()), versions)
    page = _lines.page(
        versions[marks.NAMES],
        lambda: sight.read_cells(columns(), asked.cursor, asked.size, viewer=viewer, some=some),
    )
    return lines.Made(asked.answer(page), versions) if page is not None else None


def _made(missing: list[int]) -> dict[int, bytes]:
    return {row.pk: lines.render(MatchOut(row).data) for row in listed(None, seen=True).filter(pk__in=missing)}


_lines: lines.Lines[bytes] = lines.Lines(_made)


@cache
def columns() -> tuple[str, ...]:
    """What a line shows of its match; parties are written in the transaction in which it moves on, and its token is then another one."""
    return (*lines.columns(MatchOut, Match), "token")


MOST_BOARDS = 5_000  # some 500 bytes each
# Of a board: its match, and when results of that were written; sittings are, too, in the transaction in which the match moves on
SHOWN = ("number", "scores", "match__token", "match__status")


def boards(request: HttpRequest, named: Mapping[str, str], viewer: Viewer | None) -> lines.Made | None:
    """A page of the boards of a match, by number. Two queries, and those for lines that are made anew.

    None where there is none that `viewer` may see, or something is asked for wrongly: the view says what there is to say.
    """
    asked = lines.narrowed(request, order=sight.BY_NUMBER)
    if asked is None:
        return None
    versions = marks.read([marks.MATCHES, marks.NAMES])
    page = _boards.page(
        versions[marks.NAMES],
        lambda: sight.read_boards(SHOWN, asked.cursor, asked.size, match=named["match"], viewer=viewer),
    )
    return lines.Made(asked.answer(page), versions) if page is not None and page.rows else None


def _board_lines(missing: list[int]) -> dict[int, bytes]:
    return {row.pk: lines.render(BoardOut(row).data) for row in boards_of(Board.objects.filter(pk__in=missing))}


_boards: lines.Lines[bytes] = lines.Lines(_board_lines, most=MOST_BOARDS)
