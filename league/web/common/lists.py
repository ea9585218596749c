"""Lists shared by several pages. Each function states its number of queries; tests count them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, TypeVar

from django.contrib.auth.models import User
from django.db.models import Case, Model, Prefetch, Q, QuerySet, When
from django.http import HttpRequest

from league.domain.core import paging
from league.domain.core.counts import count_of
from league.domain.matches import sight
from league.domain.tournaments import counting
from league.enums import Entrance, MatchStatus, TournamentStatus
from league.models import Circuit, Entry, Event, Match, Party, Player, Tournament
from league.pure.formats import FORMATS

Row = TypeVar("Row", bound=Model)
PARTY_COLUMNS = (
    *("match", "number", "points", "wins", "draws", "losses", "fault"),
    *("version__number", "version__bot__slug", "version__bot__is_house"),
)


def cursor_of(request: HttpRequest, order: paging.Order, name: str = "cursor") -> paging.Cursor | None:
    """Return the cursor in `?cursor=`; None (the first page) if it is missing or malformed."""
    try:
        return paging.read_cursor(request.GET[name], order.kinds) if name in request.GET else None
    except paging.BadCursor:
        return None


def page_of(
    request: HttpRequest, rows: QuerySet[Row], order: paging.Order = paging.NEWEST, name: str = "cursor"
) -> paging.Page[Row]:
    """Return the page of a list at `?cursor=`, or another parameter; an index must have the order. One query."""
    return paging.read_page(rows, order, cursor_of(request, order, name))


def with_parties(matches: QuerySet[Match]) -> QuerySet[Match]:
    """Prefetch everything that a row of a match list shows. One more query for any number of matches."""
    parties = Party.objects.select_related("version__bot").order_by("number").only(*PARTY_COLUMNS)
    rows = matches.select_related("pool", "tournament").defer("tournament__secret", "host")
    return rows.prefetch_related(Prefetch("parties", parties))


def latest_matches(viewer: User | None, *, finished_only: bool = False) -> QuerySet[Match]:
    """Return the matches that `viewer` may see, newest first; with `finished_only`, the finished ones, latest first."""
    rows = sight.matches(Match.objects.all(), viewer)
    if finished_only:
        return with_parties(rows.filter(status=MatchStatus.FINISHED).order_by("-finished", "-id"))
    return with_parties(rows.order_by("-id"))


def takes(viewer: User | None) -> Q:
    """Return the condition for tournaments and events into which the viewer may enter a bot: some take only bots of their owner's choice."""
    anybody = Q(entrance=Entrance.ANYBODY)
    return anybody | Q(owner__user=viewer) if viewer is not None and viewer.is_authenticated else anybody


def open_tournaments(games: Iterable[str], viewer: User | None) -> QuerySet[Tournament]:
    """Return the tournaments of these games (or of all) that take entries of the viewer, newest first. One query."""
    growing = [form.key for form in FORMATS.values() if form.grows]
    rows = sight.tournaments(Tournament.objects.all(), viewer).filter(
        Q(status=TournamentStatus.OPEN) | Q(status=TournamentStatus.RUNNING, format__in=growing), takes(viewer)
    )
    keys = list(games)
    rows = rows.filter(pool__game__in=keys) if keys else rows
    return rows.select_related("pool").defer("secret").order_by("-created", "-id")


def open_events(viewer: User | None) -> QuerySet[Event]:
    """Return the public events that are open for entries, newest first. One query."""
    rows = Event.objects.filter(status=TournamentStatus.OPEN, private=False, entrance=Entrance.ANYBODY)
    return sight.events(rows, viewer).defer("secret").order_by("-created", "-id")


class Contests(NamedTuple):
    """The tournaments, events and recurring leagues of a player, unfinished ones first."""

    tournaments: list[Tournament]
    events: list[Event]
    circuits: list[Circuit]

    def __bool__(self) -> bool:
        return bool(self.tournaments or self.events or self.circuits)


MOST_OWN = 10  # The most of each kind.


def contests_of(player: Player | None) -> Contests:
    """Return the tournaments, events and circuits of an organiser; stages and divisions are left to theirs. Three queries, none for a visitor."""
    if player is None:
        return Contests([], [], [])
    first = Case(When(status__in=(TournamentStatus.OPEN, TournamentStatus.RUNNING), then=0), default=1)
    own = Tournament.objects.filter(owner=player, event=None, season=None).select_related("pool").defer("secret")
    events = Event.objects.filter(owner=player).defer("secret")
    return Contests(
        list(own.order_by(first, "-id")[:MOST_OWN]),
        list(events.order_by(first, "-id")[:MOST_OWN]),
        list(Circuit.objects.filter(owner=player).order_by("-active", "-id")[:MOST_OWN]),
    )


def listed_tournaments(viewer: User | None) -> QuerySet[Tournament]:
    """Return the tournaments that `viewer` may see, newest first, with their numbers of entries, without cancelled ones. One query.

    See also `counted`.
    """
    return (
        sight.tournaments(Tournament.objects.exclude(status=TournamentStatus.CANCELLED), viewer)
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
