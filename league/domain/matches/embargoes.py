"""Replays that nobody sees before a moment: of a match, of a tournament, of all tournaments of an event. Results are shown as ever.

The hands follow from the secret of the tournament, and that from the secret of its event. So a secret is not shown either while anything
below it is held back; `secret_after` keeps until when, so that no list has to look at its matches.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Max

from league.domain.core import clock, journal, transitions
from league.domain.core.errors import Refused
from league.models import Event, LeagueEvent, Match, Player, Tournament

Row = Match | Tournament | Event
SET, LIFTED = "embargo.set", "embargo.lifted"  # in the journal
MOST_BY_OWNER = timedelta(days=365)


def in_force(match: Match, *, now: datetime | None = None) -> datetime | None:
    """Until when the replays of a match are held back; None where they are not. Needs the match's tournament."""
    now = clock.now_or(now)
    moments = [match.embargo, match.tournament.embargo if match.tournament else None]
    return max((moment for moment in moments if moment and moment > now), default=None)


def hides_secret(row: Tournament | Event, *, now: datetime | None = None) -> bool:
    """Whether the secret must not be shown yet, since hands follow from it."""
    return row.secret_after is not None and row.secret_after > clock.now_or(now)


def change(row: Row, until: datetime | None, *, why: str, actor: str, now: datetime | None = None) -> bool:
    """Hold back replays until then, or with None no longer. Whether that changes something. Refused for a moment that has passed.

    What an event is given goes for all its tournaments, also for those of its later stages.
    """
    now = clock.now_or(now)
    if until is not None and until <= now:
        raise Refused(
            "replays are held back until a moment that lies ahead, and {until} does not", until=until.isoformat()
        )
    with transaction.atomic():
        # From the top down, as everybody locks them
        event, tournament = _lock_above(row)
        was = type(row)._base_manager.values_list("embargo", flat=True).get(pk=row.pk)
        if was == until:
            return False
        type(row)._base_manager.filter(pk=row.pk).update(embargo=until)
        if isinstance(row, Event):
            row.tournaments.update(embargo=until)
        elif isinstance(row, Match):  # what was struck out, and what is played in its place, are the same hands
            same = Match.objects.filter(secret=row.secret, table=row.table, first_board=row.first_board)
            same.update(embargo=until)
        _follow(event, tournament)
        word = SET if until else LIFTED
        told = {"until": until.isoformat()} if until else {}
        journal.append(word, subject(row), now=now, actor=actor, why=why, **told)
    row.embargo = until
    return True


def change_own(row: Tournament | Event, until: datetime | None, *, by: Player, now: datetime | None = None) -> bool:
    """The same by the owner of a tournament or event, who need not say why. Whether that changes something.

    Refused for what an operator holds back longer, for what is over, which can only be shown earlier, for a moment that is too far, and for a
    stage of an event, which goes with the others.
    """
    now = clock.now_or(now)
    if until is not None and until > now + MOST_BY_OWNER:
        raise Refused(
            "an owner holds replays back for {days} days at most; name an earlier moment", days=MOST_BY_OWNER.days
        )
    with transaction.atomic():
        _lock_above(row)
        there = type(row).objects.only("embargo", "finished").get(pk=row.pk)
        if isinstance(row, Tournament) and row.event is not None:
            raise Refused(
                "this is a stage of the event {event!r}: its replays are held back with those of the others; say it there",
                event=row.event.name,
            )
        if there.finished and until is not None and (there.embargo is None or until > there.embargo):
            raise Refused("what is over has been shown, or is held back already; it can only be shown earlier")
        least = _least_by_operators(row, by)
        if least is not None and least > now and (until is None or until < least):
            raise Refused(
                "an operator holds these replays back until {until} UTC; only operators show them earlier",
                until=f"{least:%Y-%m-%d %H:%M}",
            )
        return change(row, until, why="by its owner", actor=by.name, now=now)


def _least_by_operators(row: Tournament | Event, owner: Player) -> datetime | None:
    """Until when others than the owner hold replays back, by their last word about each; one about an event goes for its stages."""
    top = subject(row)
    names = [top, *(subject(one) for one in row.tournaments.only("slug"))] if isinstance(row, Event) else [top]
    said = LeagueEvent.objects.filter(subject__in=names, kind__in=(SET, LIFTED)).exclude(actor=owner.name)
    last: dict[str, datetime | None] = {}
    for name, kind, data in said.order_by("id").values_list("subject", "kind", "data"):
        if name == top:
            last.clear()
        last[name] = datetime.fromisoformat(data["until"]) if kind == SET else None
    return max((moment for moment in last.values() if moment), default=None)


def subject(row: Row) -> str:
    """The name of a row in the journal."""
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
    """Write anew until when the secrets are not shown."""
    below = [tournament] if tournament else list(event.tournaments.order_by("pk")) if event else []
    for one in below:
        one.refresh_from_db(fields=["embargo"])
        latest = one.matches.aggregate(latest=Max("embargo"))["latest"]
        Tournament.objects.filter(pk=one.pk).update(secret_after=_later(one.embargo, latest))
    if event is not None:
        event.refresh_from_db(fields=["embargo"])
        latest = event.tournaments.aggregate(latest=Max("secret_after"))["latest"]
        Event.objects.filter(pk=event.pk).update(secret_after=_later(event.embargo, latest))


def _later(*moments: datetime | None) -> datetime | None:
    return max((moment for moment in moments if moment), default=None)
