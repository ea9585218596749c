"""Who may see what of events that are held back, or private: the one place that says so, for every page and every answer of the API.

What is seen of a match or tournament follows from `Tournament.opens`, which an event writes into all its tournaments: null of what nobody ever
held back, else the moment from which on everybody sees it. Before it the owner of the event and the staff do, and those who take part
(`Guest`) where its audience says so. That there is a private event nobody else is told, then or later.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, TypeVar

from django.contrib.auth.models import User
from django.db.models import BooleanField, ExpressionWrapper, Q, QuerySet

from league.domain.core import clock, keyset
from league.domain.core.listed import Listed
from league.domain.core.prepared import ALL, Cells, Prepared, Some
from league.domain.people.tokens import Viewer
from league.enums import Audience
from league.models import Board, Entry, Event, Guest, Match, Pool, Round, Tournament

# Of what opens at no moment that is known
NEVER = datetime(9999, 1, 1, tzinfo=UTC)
Row = TypeVar("Row", Match, Tournament)


def matches(rows: QuerySet[Match], viewer: User | None, *, now: datetime | None = None) -> QuerySet[Match]:
    """Those that `viewer` (None: a stranger) may see. No query."""
    return rows if _sees_all(viewer) else rows.filter(_seen("tournament__", viewer, clock.now_or(now)))


def read_cells(
    columns: tuple[str, ...],
    cursor: keyset.Cursor | None,
    size: int,
    *,
    viewer: Viewer | None = None,
    some: Some[Any] = ALL,
    now: datetime | None = None,
) -> keyset.Page[tuple[int, str]]:
    """The matches that `viewer` (None: a stranger) may see, newest first: ids, and what is shown of them as one text (prepared.Cells). One query."""
    who, told = _asker(viewer, clock.now_or(now))
    return _MATCHES.read(columns, cursor, size, who=who, told=told, some=some)


def read_tournaments(
    columns: tuple[str, ...],
    cursor: keyset.Cursor | None,
    size: int,
    *,
    viewer: Viewer | None = None,
    some: Some[Any] = ALL,
    now: datetime | None = None,
) -> keyset.Page[tuple[int, str]]:
    """The tournaments that `viewer` may see, newest first, as `read_cells`. Whether the secret is held back now is the column `hidden`. One query."""
    now = clock.now_or(now)
    who, told = _asker(viewer, now)
    return _TOURNAMENTS.read(columns, cursor, size, who=who, told=(*told, now), some=some)


def read_entries(
    columns: tuple[str, ...],
    cursor: keyset.Cursor | None,
    size: int,
    *,
    tournament: int,
    viewer: Viewer | None = None,
    now: datetime | None = None,
) -> keyset.Page[tuple[int, str]]:
    """The entries of a tournament by their number, as `read_cells`: none where `viewer` may not see it. One query."""
    who, told = _asker(viewer, clock.now_or(now))
    return _ENTRIES.read(columns, cursor, size, who=who, told=(*told, tournament))


def read_rounds(
    cursor: keyset.Cursor | None,
    size: int,
    *,
    tournament: int,
    viewer: Viewer | None = None,
    now: datetime | None = None,
) -> keyset.Page[tuple[int, str]]:
    """The rounds of a tournament by their number, as `read_cells`: none where `viewer` may not see it. One query."""
    who, told = _asker(viewer, clock.now_or(now))
    return _ROUNDS.read(("number",), cursor, size, who=who, told=(*told, tournament))


def read_boards(
    columns: tuple[str, ...],
    cursor: keyset.Cursor | None,
    size: int,
    *,
    match: str,
    viewer: Viewer | None = None,
    now: datetime | None = None,
) -> keyset.Page[tuple[int, str]]:
    """The boards of the match of this public id by their number, as `read_cells`: none where `viewer` may not see it. One query."""
    who, told = _asker(viewer, clock.now_or(now))
    return _BOARDS.read(columns, cursor, size, who=who, told=(*told, match))


def read_events(
    columns: tuple[str, ...],
    cursor: keyset.Cursor | None,
    size: int,
    *,
    viewer: Viewer | None = None,
    now: datetime | None = None,
) -> keyset.Page[tuple[int, str]]:
    """The events that `viewer` may know of, newest first, as `read_cells`. Whether the secret is held back now is the column `hidden`. One query."""
    now = clock.now_or(now)
    who, told = _asker(viewer, now)
    return _EVENTS.read(columns, cursor, size, who=who, told=(*told[1:], now))


def read_stages(
    columns: tuple[str, ...], events: Sequence[int], *, viewer: Viewer | None = None, now: datetime | None = None
) -> list[tuple[int, str]]:
    """The tournaments of these events that `viewer` may see, by stage and group: ids, and what is shown of them as one text. One query at most."""
    if not events:
        return []
    who, told = _asker(viewer, clock.now_or(now))
    missing = (1 << (len(events) - 1).bit_length()) - len(
        events
    )  # few statements for all the numbers that there may be
    asked = [*events, *[events[-1]] * missing]
    return [(int(pk), cells) for pk, cells in _STAGES.rows((columns, who, len(told)), (*told, *asked))]


BY_NUMBER = keyset.Order.by("number")


def _asker(viewer: Viewer | None, now: datetime) -> tuple[str, tuple[Any, ...]]:
    """Who asks, as a query depends on it, and the values that it compares with."""
    if viewer is None:
        return "stranger", (now,)
    return ("staff", ()) if viewer.is_staff else ("somebody", (now, viewer.pk))


def _seen_by(who: str, told: Sequence[Any], path: str) -> Q:
    """What who asks so may see."""
    return Q() if who == "staff" else _seen(path, told[1] if who == "somebody" else None, told[0])


def _matches(who: str, told: Sequence[Any]) -> QuerySet[Match]:
    return Match.objects.filter(_seen_by(who, told, "tournament__"))


def _tournaments(who: str, told: Sequence[Any]) -> QuerySet[Tournament]:
    hidden = ExpressionWrapper(Q(secret_after__gt=told[-1]), BooleanField())
    return Tournament.objects.filter(_seen_by(who, told[:-1], "")).annotate(hidden=hidden)


def _events(who: str, told: Sequence[Any]) -> QuerySet[Event]:
    known = Q() if who == "staff" else _known(told[0] if who == "somebody" else None)
    hidden = ExpressionWrapper(Q(secret_after__gt=told[-1]), BooleanField())
    return Event.objects.filter(known).annotate(hidden=hidden)


def _stages(shape: Any, values: Sequence[Any]) -> QuerySet[Any, Any]:
    columns, who, told = shape
    rows = Tournament.objects.filter(_seen_by(who, values[:told], ""), event__in=list(values[told:]))
    return rows.order_by("stage", "group").values_list("id", Cells(columns))


def _entries(who: str, told: Sequence[Any]) -> QuerySet[Entry]:
    return Entry.objects.filter(_seen_by(who, told[:-1], "tournament__"), tournament=told[-1])


def _rounds(who: str, told: Sequence[Any]) -> QuerySet[Round]:
    return Round.objects.filter(_seen_by(who, told[:-1], "tournament__"), tournament=told[-1])


def _boards(who: str, told: Sequence[Any]) -> QuerySet[Board]:
    return Board.objects.filter(_seen_by(who, told[:-1], "match__tournament__"), match__public_id=told[-1])


_MATCHES, _TOURNAMENTS, _EVENTS = Listed(_matches), Listed(_tournaments), Listed(_events)
_STAGES = Prepared(_stages)
_ENTRIES, _ROUNDS, _BOARDS = (Listed(made, BY_NUMBER) for made in (_entries, _rounds, _boards))


def find_tournament(slug: str) -> int | None:
    """The id of a tournament, whoever may see it. One query."""
    return next((int(pk) for (pk,) in _BY_SLUG.rows((), (slug,))), None)


def find_tournament_of(match: str) -> int | None:
    """The id of the tournament of the match of this public id, whoever may see it; None where it has none. One query."""
    return next((int(pk) for (pk,) in _OF_MATCH.rows((), (match,)) if pk is not None), None)


def find_stages(event: str) -> tuple[int, ...]:
    """The ids of the tournaments of the event of this name, whoever may see them. One query."""
    return tuple(int(pk) for (pk,) in _OF_EVENT.rows((), (event,)))


_OF_MATCH = Prepared(lambda _, values: Match.objects.filter(public_id=values[0]).values_list("tournament"))
_OF_EVENT = Prepared(
    lambda _, values: Tournament.objects.filter(event__slug=values[0]).order_by("pk").values_list("pk")
)
_BY_SLUG = Prepared(lambda _, values: Tournament.objects.filter(slug=values[0]).values_list("pk"))


def find_pools(game: str) -> tuple[int, ...]:
    """The ids of the pools of a game. One query."""
    return tuple(int(pk) for (pk,) in _POOLS.rows((), (game,)))


_POOLS = Prepared(lambda _, values: Pool.objects.filter(game=values[0]).order_by("pk").values_list("pk"))


def in_tournament(rows: QuerySet[Match], slug: str) -> QuerySet[Match]:
    """Those of a tournament. No query.

    An index has them by their age. The database is not told which tournament it is: it would think that the matches of a large one lie
    evenly among all others, and go through all that are younger.
    """
    return rows.filter(tournament=Tournament.objects.filter(slug=slug).values("pk")[:1])


def tournaments(
    rows: QuerySet[Tournament], viewer: User | None, *, now: datetime | None = None
) -> QuerySet[Tournament]:
    """Those that `viewer` may see. No query."""
    return rows if _sees_all(viewer) else rows.filter(_seen("", viewer, clock.now_or(now)))


def by_everybody(path: str, *, now: datetime | None = None) -> Q:
    """What everybody sees, of rows that have their tournament at `path` ("match__tournament__")."""
    return _seen(path, None, clock.now_or(now))


def events(rows: QuerySet[Event], viewer: User | None) -> QuerySet[Event]:
    """Those that `viewer` may know of, whether or not their results are shown. No query."""
    return rows if _sees_all(viewer) else rows.filter(_known(viewer))


def sees_results(event: Event, viewer: User | None, *, now: datetime | None = None) -> bool:
    """Whether `viewer`, who may know of the event, sees its matches and standings. One query at most; needs its owner."""
    open_now = is_open(event, now=now)
    if (open_now and not event.private) or _sees_all(viewer):
        return True
    if viewer is None:
        return False
    if event.owner.user_id == viewer.pk:
        return True
    told = open_now or event.audience == Audience.ENTRANTS
    return told and event.guests.filter(player__user=viewer).exists()


def is_open(event: Event, *, now: datetime | None = None) -> bool:
    """Whether everybody who may know of an event sees all of it."""
    return event.opens is None or event.opens <= clock.now_or(now)


def is_held_back(tournament: Tournament | None) -> bool:
    """Whether a tournament was ever held back from somebody: its matches are unrated, whoever sees them later."""
    return tournament is not None and tournament.opens is not None


def _sees_all(viewer: User | None) -> bool:
    return viewer is not None and viewer.is_staff


def _known(viewer: User | int | None) -> Q:
    found = Q(private=False)
    if viewer is not None:
        found |= Q(owner__user=viewer) | Q(pk__in=Guest.objects.filter(player__user=viewer).values("event"))
    return found


def _seen(path: str, viewer: User | int | None, now: datetime) -> Q:
    found = Q(**{f"{path}opens": None}) | Q(**{f"{path}opens__lte": now})
    if viewer is not None:
        told = Q(event__audience=Audience.ENTRANTS) | Q(event__opens=None) | Q(event__opens__lte=now)
        found |= Q(**{f"{path}event__in": Event.objects.filter(owner__user=viewer).values("pk")})
        found |= Q(**{f"{path}event__in": Guest.objects.filter(told, player__user=viewer).values("event")})
    return found
