"""The visibility of withheld and private events, and of bots in class, for every page and every response of the API.

`Tournament.opens`, which an event writes into all its tournaments, decides who sees a match or tournament: null if it was never withheld, else the
time from which everybody sees it. Before that time only who manages the event (`manages`) and the staff see it, and the
participants (`Guest`) if the event's audience includes them. Nobody else ever learns that a private event exists.

A bot in class (`Bot.in_class`) is seen by its people, and by everybody in a class in which its owner is a student, until its owner shows it to
everybody (`league.domain.bots.bots.show`). Matches in class are seen by whoever sees such a bot of theirs.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, TypeVar

from django.contrib.auth.models import User
from django.db.models import Exists, OuterRef, Q, QuerySet

from league.domain.core import clock
from league.enums import Audience, ClassRole, MatchKind
from league.models import Bot, ClassMember, Event, Guest, HandIn, Match, Party, Pool, TeamMember, Tournament

# Stored in `opens` of a tournament without a known release time
NEVER = datetime(9999, 1, 1, tzinfo=UTC)
Row = TypeVar("Row", Match, Tournament)


def matches(rows: QuerySet[Match], viewer: User | None, *, now: datetime | None = None) -> QuerySet[Match]:
    """Select the matches that `viewer` (None: an anonymous client) may see. No query."""
    if _sees_all(viewer):
        return rows
    return rows.filter(_shown_to(viewer), _seen("tournament__", viewer, clock.now_or(now)))


def _shown_to(viewer: User | None) -> Q:
    """Return the condition that `viewer` may see the bots of a match."""
    condition = Q(in_class=False)
    if viewer is not None:
        condition |= Q(Exists(Party.objects.filter(match=OuterRef("pk"), version__bot__in=_bots_in_class(viewer))))
    return condition


def readable(viewer: User | None) -> QuerySet[Match]:
    """Select the matches that `viewer` may open by name: all that lists show, and those of assignments. No query.

    A student sees the own matches of an assignment, a teacher those of the class.
    """
    if viewer is None:
        return matches(Match.objects.all(), None)
    rows = Match.work.exclude(kind__in=[MatchKind.AUDIT, MatchKind.TRY])
    if _sees_all(viewer):
        return rows
    taught = ClassMember.objects.filter(player__user=viewer, role=ClassRole.TEACHER).values("school_class")
    people = Q(member__player__user=viewer) | Q(assignment__school_class__in=taught)
    here = HandIn.objects.filter(people, version__parties__match=OuterRef("pk"), version__parties__number=0)
    listed = ~Q(kind=MatchKind.ASSIGNMENT) & _shown_to(viewer) & _seen("tournament__", viewer, clock.now_or(None))
    return rows.filter(listed | Q(Exists(here), kind=MatchKind.ASSIGNMENT))


def bots(rows: QuerySet[Bot], viewer: User | None) -> QuerySet[Bot]:
    """Select the bots that `viewer` may know of. No query."""
    return rows.filter(knows_bot(viewer))


def knows_bot(viewer: User | None, path: str = "") -> Q:
    """Return the condition that `viewer` may know of the bot at `path` ("version__bot__"). No query."""
    if _sees_all(viewer):
        return Q()
    condition = Q(**{f"{path}in_class": False})
    if viewer is not None:
        condition |= Q(**{f"{path}id__in": _bots_in_class(viewer)})
    return condition


def _bots_in_class(viewer: User) -> QuerySet[Bot, Any]:
    """Select the ids of the bots in class that `viewer` may see."""
    classes = ClassMember.objects.filter(player__user=viewer).values("school_class")
    students = ClassMember.objects.filter(school_class__in=classes, role=ClassRole.STUDENT).values("player")
    teams = TeamMember.objects.filter(player__user=viewer, since__isnull=False).values("team")
    people = Q(owner__user=viewer) | Q(owner__in=students) | Q(team__in=teams)
    return Bot.objects.filter(people, in_class=True).values("pk")


def find_tournament(slug: str) -> int | None:
    """Return the id of a tournament, also of a hidden one. One query."""
    return Tournament.objects.filter(slug=slug).values_list("pk", flat=True).first()


def find_tournament_of(match: str) -> int | None:
    """Return the id of the tournament (also of a hidden one) of the match with this public id; None if the match has none. One query."""
    return Match.objects.filter(public_id=match).values_list("tournament", flat=True).first()


def find_stages(event: str) -> tuple[int, ...]:
    """Return the ids of the tournaments of an event, hidden ones included. One query."""
    return tuple(Tournament.objects.filter(event__slug=event).order_by("pk").values_list("pk", flat=True))


def find_pools(game: str) -> tuple[int, ...]:
    """Return the ids of the pools of a game. One query."""
    return tuple(Pool.objects.filter(game=game).order_by("pk").values_list("pk", flat=True))


def in_tournament(rows: QuerySet[Match], slug: str) -> QuerySet[Match]:
    """Select the matches of a tournament. No query.

    The query uses an index of the tournament's matches by age. It names the tournament in a subquery, which the planner cannot look into: otherwise
    the planner would expect the matches of a large tournament to be spread evenly among all others, and would scan all newer ones.
    """
    return rows.filter(tournament=Tournament.objects.filter(slug=slug).values("pk")[:1])


def tournaments(
    rows: QuerySet[Tournament], viewer: User | None, *, now: datetime | None = None
) -> QuerySet[Tournament]:
    """Select the tournaments that `viewer` may see. No query."""
    return rows if _sees_all(viewer) else rows.filter(_seen("", viewer, clock.now_or(now)))


def by_everybody(path: str, *, now: datetime | None = None) -> Q:
    """Return the condition that everybody may see a row. The row's tournament is at `path` ("match__tournament__")."""
    return _seen(path, None, clock.now_or(now))


def events(rows: QuerySet[Event], viewer: User | None) -> QuerySet[Event]:
    """Select the events that `viewer` may know of, even if their results are hidden. No query."""
    return rows if _sees_all(viewer) else rows.filter(_known(viewer))


def sees_results(event: Event, viewer: User | None) -> bool:
    """Return True if `viewer`, who may know of the event, may see its matches and standings.

    Two queries at most; `event` must have been read with its owner.
    """
    open_now = is_open(event)
    if (open_now and not event.private) or _sees_all(viewer):
        return True
    if viewer is None or manages(event, viewer):
        return viewer is not None
    guests_see_it = open_now or event.audience == Audience.ENTRANTS
    return guests_see_it and event.guests.filter(player__user=viewer).exists()


def manages(event: Event, viewer: User | None) -> bool:
    """Return True for the owner of an event, and for every teacher of the class whose tournament it is.

    One query at most; `event` must have been read with its owner.
    """
    if viewer is None or event.owner.user_id == viewer.pk:
        return viewer is not None
    return event.private and Event.objects.filter(_managed(viewer), pk=event.pk).exists()


def _managed(viewer: User) -> Q:
    taught = ClassMember.objects.filter(player__user=viewer, role=ClassRole.TEACHER, school_class__event__isnull=False)
    return Q(owner__user=viewer) | Q(pk__in=taught.values("school_class__event"))


def is_open(event: Event, *, now: datetime | None = None) -> bool:
    """Return True if everybody who may know of the event sees all of it."""
    return event.opens is None or event.opens <= clock.now_or(now)


def is_public(row: Match | Tournament, *, now: datetime | None = None) -> bool:
    """Return True if everybody may see a tournament, or a match that was read with its tournament. No query."""
    if isinstance(row, Match) and (row.in_class or row.kind == MatchKind.ASSIGNMENT):
        return False
    tournament = row.tournament if isinstance(row, Match) else row
    return tournament is None or tournament.opens is None or tournament.opens <= clock.now_or(now)


def is_held_back(match: Match) -> bool:
    """Return True if a match was ever withheld from anybody: it is unrated, even after everybody can see it."""
    return not is_public(match) or (match.tournament is not None and match.tournament.opens is not None)


def _sees_all(viewer: User | None) -> bool:
    return viewer is not None and viewer.is_staff


def _known(viewer: User | None) -> Q:
    condition = Q(private=False)
    if viewer is not None:
        condition |= _managed(viewer) | Q(pk__in=Guest.objects.filter(player__user=viewer).values("event"))
    return condition


def _seen(path: str, viewer: User | None, now: datetime) -> Q:
    condition = Q(**{f"{path}opens": None}) | Q(**{f"{path}opens__lte": now})
    if viewer is not None:
        guests_see_it = Q(event__audience=Audience.ENTRANTS) | Q(event__opens=None) | Q(event__opens__lte=now)
        condition |= Q(**{f"{path}event__in": Event.objects.filter(_managed(viewer)).values("pk")})
        condition |= Q(**{f"{path}event__in": Guest.objects.filter(guests_see_it, player__user=viewer).values("event")})
    return condition
