"""Lists that more than one page shows, page by page. Each function states how many queries it makes; tests count them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from django.contrib.auth.models import User
from django.db.models import Model, Prefetch, Q, QuerySet
from django.http import HttpRequest

from league.domain.core import paging
from league.domain.core.counts import count_of
from league.domain.matches import sight
from league.domain.tournaments import counting
from league.enums import MatchStatus, TournamentStatus
from league.models import Entry, Match, Party, Tournament
from league.pure.formats import FORMATS

Row = TypeVar("Row", bound=Model)


def cursor_of(request: HttpRequest, order: paging.Order, name: str = "cursor") -> paging.Cursor | None:
    """Where the page begins that `?cursor=` asks for; one that cannot be read is that of the first page."""
    try:
        return paging.read_cursor(request.GET[name], order.kinds) if name in request.GET else None
    except paging.BadCursor:
        return None


def page_of(request: HttpRequest, rows: QuerySet[Row], order: paging.Order = paging.NEWEST) -> paging.Page[Row]:
    """The page of a list that `?cursor=` asks for, in an order that an index has. One query."""
    return paging.read_page(rows, order, cursor_of(request, order))


def with_parties(matches: QuerySet[Match]) -> QuerySet[Match]:
    """Matches with all that a row of a list shows. One query more, whatever their number."""
    parties = Party.objects.select_related("version__bot").order_by("number").defer("stderr", "faults")
    shown = matches.select_related("pool", "tournament").defer("tournament__secret", "host")
    return shown.prefetch_related(Prefetch("parties", parties))


def latest_matches(viewer: User | None, *, finished_only: bool = False) -> QuerySet[Match]:
    """Matches that `viewer` may see, from the newest; with `finished_only` those that are over, the last finished first."""
    rows = sight.matches(Match.objects.all(), viewer)
    if finished_only:
        return with_parties(rows.filter(status=MatchStatus.FINISHED).order_by("-finished", "-id"))
    return with_parties(rows.order_by("-id"))


def open_tournaments(games: Iterable[str], viewer: User | None) -> QuerySet[Tournament]:
    """Tournaments that take entries now, of these games (all, where none is named), the newest first. One query."""
    growing = [form.key for form in FORMATS.values() if form.grows]
    rows = sight.tournaments(Tournament.objects.all(), viewer).filter(
        Q(status=TournamentStatus.OPEN) | Q(status=TournamentStatus.RUNNING, format__in=growing)
    )
    named = list(games)
    rows = rows.filter(pool__game__in=named) if named else rows
    return rows.select_related("pool").defer("secret").order_by("-created", "-id")


def listed_tournaments(viewer: User | None) -> QuerySet[Tournament]:
    """Tournaments that `viewer` may see, from the newest, with their numbers of entries; those of matches follow (`counted`). One query."""
    return (
        sight.tournaments(Tournament.objects.all(), viewer)
        .select_related("pool", "owner")
        .defer("secret")
        .annotate(size=count_of(Entry.objects.all(), "tournament"))
        .order_by("-id")
    )


def counted(rows: Iterable[Tournament]) -> list[Tournament]:
    """The tournaments of a page with the numbers of their matches, in all (`total`) and finished (`done`). Two queries at most."""
    found = list(rows)
    counts = counting.count_matches(found)
    for row in found:
        vars(row).update(total=counts[row.pk].total(), done=counts[row.pk][MatchStatus.FINISHED])
    return found
