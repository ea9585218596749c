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
from django.db.models import Q, QuerySet

from league.domain.core import clock, keyset
from league.domain.core.prepared import Cells, Prepared
from league.enums import Audience
from league.models import Event, Guest, Match, Tournament

# Of what opens at no moment that is known
NEVER = datetime(9999, 1, 1, tzinfo=UTC)
Row = TypeVar("Row", Match, Tournament)


def matches(rows: QuerySet[Match], viewer: User | None, *, now: datetime | None = None) -> QuerySet[Match]:
    """Those that `viewer` (None: a stranger) may see. No query."""
    return rows if _sees_all(viewer) else rows.filter(_seen("tournament__", viewer, clock.given(now)))


def read_cells(
    columns: tuple[str, ...], cursor: keyset.Cursor | None, size: int, *, now: datetime | None = None
) -> keyset.Page[tuple[int, str]]:
    """The matches that a stranger may see, newest first: ids, and what is shown of them as one text (prepared.Cells). One query."""
    values = (clock.given(now), *(cursor.edge if cursor else ()))
    found = _CELLS.rows((columns, cursor and cursor.back, size), values)
    return keyset.fold([(int(pk), cells) for pk, cells in found], lambda row: row[:1], cursor, size)


def _cells(shape: tuple[tuple[str, ...], bool | None, int], values: Sequence[Any]) -> QuerySet[Any, Any]:
    columns, back, size = shape
    cursor = None if back is None else keyset.Cursor(back, tuple(values[1:]))
    rows = Match.objects.filter(_seen("tournament__", None, values[0]))
    return keyset.asked(rows, keyset.NEWEST, cursor, size).values_list("id", Cells(columns))


_CELLS = Prepared(_cells)


def tournaments(
    rows: QuerySet[Tournament], viewer: User | None, *, now: datetime | None = None
) -> QuerySet[Tournament]:
    """Those that `viewer` may see. No query."""
    return rows if _sees_all(viewer) else rows.filter(_seen("", viewer, clock.given(now)))


def by_everybody(path: str, *, now: datetime | None = None) -> Q:
    """What everybody sees, of rows that have their tournament at `path` ("match__tournament__")."""
    return _seen(path, None, clock.given(now))


def events(rows: QuerySet[Event], viewer: User | None) -> QuerySet[Event]:
    """Those that `viewer` may know of, whether or not their results are shown. No query."""
    if _sees_all(viewer):
        return rows
    known = Q(private=False)
    if viewer is not None:
        known |= Q(owner__user=viewer) | Q(pk__in=Guest.objects.filter(player__user=viewer).values("event"))
    return rows.filter(known)


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
    return event.opens is None or event.opens <= clock.given(now)


def is_held_back(tournament: Tournament | None) -> bool:
    """Whether a tournament was ever held back from somebody: its matches are unrated, whoever sees them later."""
    return tournament is not None and tournament.opens is not None


def _sees_all(viewer: User | None) -> bool:
    return viewer is not None and viewer.is_staff


def _seen(path: str, viewer: User | None, now: datetime) -> Q:
    found = Q(**{f"{path}opens": None}) | Q(**{f"{path}opens__lte": now})
    if viewer is not None:
        told = Q(event__audience=Audience.ENTRANTS) | Q(event__opens=None) | Q(event__opens__lte=now)
        found |= Q(**{f"{path}event__in": Event.objects.filter(owner__user=viewer).values("pk")})
        found |= Q(**{f"{path}event__in": Guest.objects.filter(told, player__user=viewer).values("event")})
    return found
