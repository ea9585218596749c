"""Who may see what of events that are held back, or private: the one place that says so, for every page and every answer of the API.

What is seen of a match or tournament follows from `Tournament.opens`, which an event writes into all its tournaments: null of what nobody ever
held back, else the moment from which on everybody sees it. Before it the owner of the event and the staff do, and those who take part
(`Guest`) where its audience says so. That there is a private event nobody else is told, then or later.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TypeVar

from django.contrib.auth.models import User
from django.db.models import Q, QuerySet

from league.domain.core import clock
from league.enums import Audience
from league.models import Event, Guest, Match, Pool, Tournament

# Of what opens at no moment that is known
NEVER = datetime(9999, 1, 1, tzinfo=UTC)
Row = TypeVar("Row", Match, Tournament)


def matches(rows: QuerySet[Match], viewer: User | None, *, now: datetime | None = None) -> QuerySet[Match]:
    """Those that `viewer` (None: a stranger) may see. No query."""
    return rows if _sees_all(viewer) else rows.filter(_seen("tournament__", viewer, clock.now_or(now)))


def find_tournament(slug: str) -> int | None:
    """Return the id of a tournament, whoever may see it. One query."""
    return Tournament.objects.filter(slug=slug).values_list("pk", flat=True).first()


def find_tournament_of(match: str) -> int | None:
    """Return the id of the tournament of the match with this public id, whoever may see it; None without one. One query."""
    return Match.objects.filter(public_id=match).values_list("tournament", flat=True).first()


def find_stages(event: str) -> tuple[int, ...]:
    """Return the ids of the tournaments of an event, whoever may see them. One query."""
    return tuple(Tournament.objects.filter(event__slug=event).order_by("pk").values_list("pk", flat=True))


def find_pools(game: str) -> tuple[int, ...]:
    """Return the ids of the pools of a game. One query."""
    return tuple(Pool.objects.filter(game=game).order_by("pk").values_list("pk", flat=True))


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


def _known(viewer: User | None) -> Q:
    found = Q(private=False)
    if viewer is not None:
        found |= Q(owner__user=viewer) | Q(pk__in=Guest.objects.filter(player__user=viewer).values("event"))
    return found


def _seen(path: str, viewer: User | None, now: datetime) -> Q:
    found = Q(**{f"{path}opens": None}) | Q(**{f"{path}opens__lte": now})
    if viewer is not None:
        told = Q(event__audience=Audience.ENTRANTS) | Q(event__opens=None) | Q(event__opens__lte=now)
        found |= Q(**{f"{path}event__in": Event.objects.filter(owner__user=viewer).values("pk")})
        found |= Q(**{f"{path}event__in": Guest.objects.filter(told, player__user=viewer).values("event")})
    return found
