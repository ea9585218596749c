"""The list of tournaments, and that of the entries of one, from finished lines."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from django.http import HttpRequest

from league.api.http import lines
from league.api.http.filters import TournamentFilters
from league.api.tournaments.rows import counted, listed
from league.api.tournaments.serializers import EntryOut, TournamentOut
from league.domain.matches import sight
from league.domain.people.tokens import Viewer
from league.models import Entry
from league.service import marks

MOST_TOURNAMENTS = 5_000  # some 1,500 bytes each
MOST_ENTRIES = 10_000  # some 200 bytes each


def tournaments(request: HttpRequest, _named: Mapping[str, str], viewer: Viewer | None) -> lines.Made | None:
    """A page of the tournaments that `viewer` may see, newest first. Three queries, and those for lines that are made anew.

    A line tells everybody the same, and holds while nothing of its tournament changes, its entries and matches included, and its secret is
    held back or told as before. None where something is asked for wrongly: the view says what.
    """
    asked = lines.narrowed(request, TournamentFilters)
    if asked is None:
        return None
    versions = marks.read([marks.TOURNAMENTS, marks.MATCHES, marks.BOTS, marks.EVENTS, marks.NAMES])
    page = _tournaments.page(
        versions[marks.NAMES],
        lambda: sight.read_tournaments(("hidden",), asked.cursor, asked.size, viewer=viewer, some=asked.some),
    )
    return lines.Made(asked.answer(page), versions) if page is not None else None


def _tournament_lines(missing: list[int]) -> dict[int, bytes]:
    rows = counted(list(listed(None, seen=True).filter(pk__in=missing)))
    return {row.pk: lines.render(TournamentOut(row).data) for row in rows}


_tournaments: lines.Lines[bytes] = lines.Lines(
    _tournament_lines, follow=lines.follow_marks(lambda pk: (marks.of_tournament(pk),)), most=MOST_TOURNAMENTS
)


def entries(request: HttpRequest, named: Mapping[str, str], viewer: Viewer | None) -> lines.Made | None:
    """A page of the entries of a tournament, by number. Three queries, and one for lines that are made anew.

    None where there is none that `viewer` may see, or something is asked for wrongly: the view says what there is to say.
    """
    asked = lines.narrowed(request, order=sight.BY_NUMBER)
    tournament = sight.find_tournament(named["slug"])
    if asked is None or tournament is None:
        return None
    versions = marks.read([marks.of_tournament(tournament), marks.BOTS, marks.NAMES])
    page = _entries.page(
        versions[marks.NAMES],
        lambda: sight.read_entries(columns(), asked.cursor, asked.size, tournament=tournament, viewer=viewer),
    )
    return lines.Made(asked.answer(page), versions) if page is not None and page.rows else None


def _entry_lines(missing: list[int]) -> dict[int, bytes]:
    rows = Entry.objects.select_related("version__bot__owner").filter(pk__in=missing)
    return {row.pk: lines.render(EntryOut(row).data) for row in rows}


_entries: lines.Lines[bytes] = lines.Lines(_entry_lines, most=MOST_ENTRIES)


@cache
def columns() -> tuple[str, ...]:
    """What a line shows of its entry."""
    return lines.columns(EntryOut, Entry)
