"""Embargoes: the replays of a match, a tournament or all tournaments of an event are hidden until a set time. Results are shown as usual.

The hands can be computed from the secret of the tournament, and this secret from that of its event. So a secret stays hidden until no embargo on
its tournaments or matches is in force. `secret_after` stores this time, so that no list has to query the matches.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Max

from league.domain.core import clock, journal, transitions
from league.domain.core.errors import Refused
from league.models import Event, LeagueEvent, Match, Player, Tournament

Row = Match | Tournament | Event
SET, LIFTED = "embargo.set", "embargo.lifted"  # The kinds of the journal's lines.
MOST_BY_OWNER = timedelta(days=365)


def in_force(match: Match, *, now: datetime | None = None) -> datetime | None:
    """Return the time until which the replays of a match are hidden, or None if they are not. `match` must have been read with its tournament."""
    now = clock.now_or(now)
    moments = [match.embargo, match.tournament.embargo if match.tournament else None]
    return max((moment for moment in moments if moment and moment > now), default=None)


def hides_secret(row: Tournament | Event, *, now: datetime | None = None) -> bool:
    """Return True if the secret must stay hidden, because somebody could compute hands under embargo from it."""
    return row.secret_after is not None and row.secret_after > clock.now_or(now)


def change(row: Row, until: datetime | None, *, why: str, actor: str, now: datetime | None = None) -> bool:
    """Hide replays until a time; None ends the embargo. Return True if that changes the row. Raise Refused for a time in the past.

    The embargo of an event holds for all its tournaments, including those of later stages.
    """
    now = clock.now_or(now)
    if until is not None and until <= now:
        raise Refused(
            "replays can only be hidden until a time in the future; {until} has passed", until=until.isoformat()
        )
    with transaction.atomic():
        # Locked in the order event, tournament, match, as everywhere
        event, tournament = _lock_above(row)
        was = type(row)._base_manager.values_list("embargo", flat=True).get(pk=row.pk)
        if was == until:
            return False
        type(row)._base_manager.filter(pk=row.pk).update(embargo=until)
        if isinstance(row, Event):
            row.tournaments.update(embargo=until)
        elif isinstance(row, Match):  # A voided match and its replacement have the same hands
            same = Match.objects.filter(secret=row.secret, table=row.table, first_board=row.first_board)
            same.update(embargo=until)
        _follow(event, tournament)
        word = SET if until else LIFTED
        data = {"until": until.isoformat()} if until else {}
        journal.append(word, subject(row), now=now, actor=actor, why=why, **data)
    row.embargo = until
    return True


def change_own(row: Tournament | Event, until: datetime | None, *, owner: Player, now: datetime | None = None) -> bool:
    """Set the embargo as the owner of a tournament or event, who need not give a reason. Return True if that changes the row.

    Raise Refused if an operator has set a longer embargo, if `row` has finished and the embargo would grow, if the time is more than MOST_BY_OWNER
    ahead, and for a stage of an event, since the event sets the embargo of all its stages.
    """
    now = clock.now_or(now)
    if until is not None and until > now + MOST_BY_OWNER:
        raise Refused(
            "an owner can hide replays for {days} days at most; choose an earlier time", days=MOST_BY_OWNER.days
        )
    with transaction.atomic():
        _lock_above(row)
        stored = type(row).objects.only("embargo", "finished").get(pk=row.pk)
        if isinstance(row, Tournament) and row.event is not None:
            raise Refused(
                "this is a stage of the event {event!r}; set there when its replays are shown",
                event=row.event.name,
            )
        if stored.finished and until is not None and (stored.embargo is None or until > stored.embargo):
            raise Refused("the finished matches are visible, or hidden already; you can only choose an earlier time")
        least = _least_by_operators(row, owner)
        if least is not None and least > now and (until is None or until < least):
            raise Refused(
                "an operator has hidden these replays until {until} UTC; only operators can show them earlier",
                until=f"{least:%Y-%m-%d %H:%M}",
            )
        return change(row, until, why="by its owner", actor=owner.name, now=now)


def _least_by_operators(row: Tournament | Event, owner: Player) -> datetime | None:
    """Return the latest end of the embargoes that other people than the owner set, or None.

    An embargo on the event overrides earlier ones on its stages.
    """
    top = subject(row)
    names = [top, *(subject(stage) for stage in row.tournaments.only("slug"))] if isinstance(row, Event) else [top]
    entries = LeagueEvent.objects.filter(subject__in=names, kind__in=(SET, LIFTED)).exclude(actor=owner.name)
    last: dict[str, datetime | None] = {}
    for name, kind, data in entries.order_by("id").values_list("subject", "kind", "data"):
        if name == top:
            last.clear()
        last[name] = datetime.fromisoformat(data["until"]) if kind == SET else None
    return max((moment for moment in last.values() if moment), default=None)


def subject(row: Row) -> str:
    """Return the name of a row in the journal."""
    return f"event:{row.slug}" if isinstance(row, Event) else transitions.subject(row)


def _lock_above(row: Row) -> tuple[Event | None, Tournament | None]:
    tournament = row.tournament if isinstance(row, Match) else row if isinstance(row, Tournament) else None
    event_id = row.pk if isinstance(row, Event) else tournament.event_id if tournament else None
    event = Event.objects.select_for_update().get(pk=event_id) if event_id else None
    if isinstance(row, Event):
        list(row.tournaments.select_for_update().order_by("pk").values_list("pk"))
    if tournament is not None:
        tournament = Tournament.objects.select_for_update(of=("self",)).get(pk=tournament.pk)
    return event, tournament


def _follow(event: Event | None, tournament: Tournament | None) -> None:
    """Update the stored end of the time in which the secrets are hidden."""
    below = [tournament] if tournament else list(event.tournaments.order_by("pk")) if event else []
    for stage in below:
        stage.refresh_from_db(fields=["embargo"])
        latest = stage.matches.aggregate(latest=Max("embargo"))["latest"]
        Tournament.objects.filter(pk=stage.pk).update(secret_after=_later(stage.embargo, latest))
    if event is not None:
        event.refresh_from_db(fields=["embargo"])
        latest = event.tournaments.aggregate(latest=Max("secret_after"))["latest"]
        Event.objects.filter(pk=event.pk).update(secret_after=_later(event.embargo, latest))


def _later(*moments: datetime | None) -> datetime | None:
    return max((moment for moment in moments if moment), default=None)
