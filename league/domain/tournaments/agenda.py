"""The calendar: when events start, and when seasons of recurring leagues are due.

Everything is limited: to the days from PAST to AHEAD, and to LOOKED leagues and events. The league's own count apart, so that nobody can crowd
them out.
"""

from __future__ import annotations

import secrets
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Count, Max, Q, QuerySet
from django.db.models.functions import Coalesce
from django.utils.crypto import constant_time_compare

from league.domain.bots import consent
from league.domain.core import clock, journal
from league.domain.matches import sight
from league.domain.people import players
from league.domain.tournaments import circuits
from league.enums import RequestStatus, TournamentStatus
from league.models import Arena, Circuit, EntryRequest, Event, Guest, LeagueEvent, Player, Season

PAST, AHEAD = timedelta(days=7), timedelta(days=56)
LOOKED = 60  # The most events, and the most circuits besides the league's own.
MOST_DATES = 14  # The most dates of one circuit.
MOST_LINES = 40  # The most lines of the page, besides the league's own.
LINK_BYTES = 18
# Journal lines about a change that a calendar shows.
CHANGES = ("renamed", "described", "shown_to", "cancelled", "active", "not_started")


@dataclass(frozen=True)
class Appointment:
    """A date of the calendar: the start of an event, a season of a circuit, or an arena for people."""

    contest: Event | Circuit | Arena
    start: datetime
    cancelled: bool = False

    @property
    def is_circuit(self) -> bool:
        """Return True for a season of a recurring league."""
        return isinstance(self.contest, Circuit)

    @property
    def is_arena(self) -> bool:
        """Return True for an arena."""
        return isinstance(self.contest, Arena)

    @property
    def place(self) -> str:
        """Return the name of the contest in the journal."""
        return f"arena:{self.contest.slug}" if isinstance(self.contest, Arena) else consent.place(self.contest)

    @property
    def is_by_league(self) -> bool:
        """Return True if the league itself organises it."""
        return isinstance(self.contest, Arena) or self.contest.owner.name == players.HOUSE

    @property
    def game(self) -> str:
        """Return the key of the game."""
        if isinstance(self.contest, Arena):
            return self.contest.pool.game
        return self.contest.game if isinstance(self.contest, Circuit) else str(self.contest.document["game"])

    @property
    def key(self) -> str:
        """Return a text that identifies the date for good. A circuit never changes its hours; an event keeps its key when it moves."""
        place = self.place.replace(":", "-")
        return f"{place}-{self.start:%Y%m%dT%H%M}" if self.is_circuit else place


def public(*, game: str = "", now: datetime) -> list[Appointment]:
    """Return the dates of everything that everybody may see, of all games or one, soonest first. Five queries."""
    events, rows = Event.objects.filter(private=False), Circuit.objects.select_related("owner")
    if game:
        events, rows = events.filter(document__game=game), rows.filter(game=game)
    by_league = Q(owner__name=players.HOUSE)
    leagues = [*rows.filter(by_league).order_by("-pk")[:LOOKED], *rows.exclude(by_league).order_by("-pk")[:LOOKED]]
    hours = Arena.objects.filter(pool__game=game) if game else Arena.objects.all()
    return _dates(events, leagues, hours, now)


def own(player: Player, *, now: datetime) -> list[Appointment]:
    """Return the dates of what the player organises, has entered, or has joined with a bot or by an invitation. Four queries."""
    granted = EntryRequest.objects.filter(bot__owner=player, status=RequestStatus.GRANTED, event__isnull=False)
    invited = Guest.objects.filter(player=player)
    events = Event.objects.filter(
        Q(owner=player) | Q(pk__in=granted.values("event")) | Q(pk__in=invited.values("event"))
    )
    rows = Circuit.objects.filter(Q(owner=player) | Q(bots__owner=player)).distinct().order_by("-pk")[:LOOKED]
    hours = Arena.objects.filter(Q(entries__player=player) | Q(entries__bot__owner=player)).distinct()
    return _dates(sight.events(events, player.user), rows, hours, now)


def _dates(
    events: QuerySet[Event], rows: Iterable[Circuit], hours: QuerySet[Arena], now: datetime
) -> list[Appointment]:
    since, until = now - PAST, now + AHEAD
    ahead = (
        events.filter(Q(due__gt=since, due__lte=until) | Q(due=None, missed__gt=since, missed__lte=until))
        .select_related("owner")
        .defer("secret")
        .order_by(Coalesce("due", "missed"), "pk")[:LOOKED]
    )
    dates = [
        Appointment(row, start, row.due is None or row.status == TournamentStatus.CANCELLED)
        for row in ahead
        if (start := row.due or row.missed)
    ]
    ahead_hours = hours.filter(start__gt=since, start__lte=until).select_related("pool").order_by("start", "pk")
    dates += [Appointment(row, row.start) for row in ahead_hours[:LOOKED]]
    leagues = list(rows)
    unplayed = Season.objects.filter(circuit__in=leagues, due__gt=since).exclude(reason="")
    skipped = set(unplayed.values_list("circuit", "due"))
    for circuit in leagues:
        moments = circuits.calendar(circuit).moments(max(since, circuit.created), until)
        dates += [
            Appointment(circuit, due, (circuit.pk, due) in skipped or (not circuit.active and due > now))
            for due in moments[:MOST_DATES]
        ]
    return sorted(dates, key=lambda date: (date.start, date.key))


def coming(dates: Sequence[Appointment], *, now: datetime) -> tuple[list[Appointment], list[Appointment]]:
    """Return the next date of each open contest, in the next seven days and later; at most MOST_LINES besides the league's own. No query."""
    first: dict[str, Appointment] = {}
    for date in dates:
        is_open = not isinstance(date.contest, Event) or date.contest.status == TournamentStatus.OPEN
        ends = date.contest.ends if isinstance(date.contest, Arena) else date.start
        if is_open and not date.cancelled and ends > now:
            first.setdefault(date.place, date)
    others = [date for date in first.values() if not date.is_by_league][:MOST_LINES]
    lines = [date for date in first.values() if date.is_by_league or date in others]
    week = [date for date in lines if date.start <= now + timedelta(days=7)]
    return week, lines[len(week) :]


def changes(dates: Collection[Appointment]) -> dict[str, tuple[int, datetime]]:
    """Return the number of changes of each contest, and the time of the last one, by its name in the journal. One query."""
    contests = {date.place: date.contest for date in dates}
    kinds = ["season.passed", *(f"{kind}.{word}" for kind in ("event", "circuit") for word in CHANGES)]
    rows = LeagueEvent.objects.filter(subject__in=list(contests), kind__in=kinds).order_by().values("subject")
    counted = {row["subject"]: (row["count"], row["last"]) for row in rows.annotate(count=Count("pk"), last=Max("at"))}
    return {place: counted.get(place, (0, row.created)) for place, row in contests.items()}


def renew_link(player: Player, *, remove: bool = False, now: datetime | None = None) -> str:
    """Give the player's own calendar another address, or none (`remove`), and return its secret part. The old address stops working."""
    link = "" if remove else secrets.token_urlsafe(LINK_BYTES)
    with transaction.atomic():
        players.lock(player.pk)
        Player.objects.filter(pk=player.pk).update(calendar_link=link)
        kind = "player.calendar_removed" if remove else "player.calendar_linked"
        journal.append(kind, f"player:{player.name}", now=clock.now_or(now), actor=player.name)
    player.calendar_link = link
    return link


def player_of_link(name: str, link: str) -> Player | None:
    """Return the player whose own calendar has this address; None if it is invalid or the account is closed. One query."""
    player = Player.objects.select_related("user").filter(name=name, user__is_active=True).first()
    if player is None or not player.calendar_link or not constant_time_compare(player.calendar_link, link):
        return None
    return player
