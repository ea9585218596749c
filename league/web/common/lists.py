"""Lists shared by several pages. Each function states its number of queries; tests count them."""

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
    """Return the cursor in `?cursor=`, or None for the first page if it is missing or malformed."""
    try:
        return paging.read_cursor(request.GET[name], order.kinds) if name in request.GET else None
    except paging.BadCursor:
        return None


def page_of(request: HttpRequest, rows: QuerySet[Row], order: paging.Order = paging.NEWEST) -> paging.Page[Row]:
    """Return the page of a list at `?cursor=`, in an order that has an index. One query."""
    return paging.read_page(rows, order, cursor_of(request, order))


def with_parties(matches: QuerySet[Match]) -> QuerySet[Match]:
    """Prefetch everything that a row of a match list shows. One query more, whatever the number of matches."""
    parties = Party.objects.select_related("version__bot").order_by("number").defer("stderr", "faults")
    rows = matches.select_related("pool", "tournament").defer("tournament__secret", "host")
    return rows.prefetch_related(Prefetch("parties", parties))


def latest_matches(viewer: User | None, *, finished_only: bool = False) -> QuerySet[Match]:
    """Return the matches that `viewer` may see, newest first; with `finished_only`, the finished ones, latest first."""
    rows = sight.matches(Match.objects.all(), viewer)
    if finished_only:
        return with_parties(rows.filter(status=MatchStatus.FINISHED).order_by("-finished", "-id"))
    return with_parties(rows.order_by("-id"))


def open_tournaments(games: Iterable[str], viewer: User | None) -> QuerySet[Tournament]:
    """Return the tournaments of these games (or of all) that are open for entries, newest first. One query."""
    growing = [form.key for form in FORMATS.values() if form.grows]
    rows = sight.tournaments(Tournament.objects.all(), viewer).filter(
        Q(status=TournamentStatus.OPEN) | Q(status=TournamentStatus.RUNNING, format__in=growing)
    )
    keys = list(games)
    rows = rows.filter(pool__game__in=keys) if keys else rows
    return rows.select_related("pool").defer("secret").order_by("-created", "-id")


def listed_tournaments(viewer: User | None) -> QuerySet[Tournament]:
    """Return the tournaments that `viewer` may see, newest first, with their numbers of entries. One query. See also `counted`."""
    return (
        sight.tournaments(Tournament.objects.all(), viewer)
        .select_related("pool", "owner")
        .defer("secret")
        .annotate(size=count_of(Entry.objects.all(), "tournament"))
        .order_by("-id")
    )


def counted(rows: Iterable[Tournament]) -> list[Tournament]:
    """Add the numbers of all (`total`) and finished (`done`) matches to the tournaments of a page. At most two queries."""
    tournaments = list(rows)
    counts = counting.count_matches(tournaments)
    for row in tournaments:
        vars(row).update(total=counts[row.pk].total(), done=counts[row.pk][MatchStatus.FINISHED])
    return tournaments
