"""Replays that nobody sees before a moment: of a match, of a tournament, of all tournaments of an event. Results are shown as ever.

The hands follow from the secret of the tournament, and that from the secret of its event. So a secret is not shown either while anything
below it is held back; `secret_after` keeps until when, so that no list has to look at its matches.
"""

from __future__ import annotations

from datetime import datetime

from django.db import transaction
from django.db.models import Max

from league.domain.core import clock, journal, moves
from league.domain.core.errors import Refused
from league.models import Event, Match, Tournament

Row = Match | Tournament | Event


def in_force(match: Match, *, now: datetime | None = None) -> datetime | None:
    """Until when the replays of a match are held back; None where they are not. Needs the match's tournament."""
    now = clock.given(now)
    moments = [match.embargo, match.tournament.embargo if match.tournament else None]
    return max((moment for moment in moments if moment and moment > now), default=None)


def hides_secret(row: Tournament | Event, *, now: datetime | None = None) -> bool:
    """Whether the secret must not be shown yet, since hands follow from it."""
    return row.secret_after is not None and row.secret_after > clock.given(now)


def change(row: Row, until: datetime | None, *, why: str, actor: str, now: datetime | None = None) -> bool:
    """Hold back replays until then, or with None no longer. Whether that changes something. Refused for a moment that has passed.

    What an event is given goes for all its tournaments, also for those of its later stages.
    """
    now = clock.given(now)
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
        word = "embargo.set" if until else "embargo.lifted"
        told = {"until": until.isoformat()} if until else {}
        journal.append(word, subject(row), now=now, actor=actor, why=why, **told)
    row.embargo = until
    return True


def subject(row: Row) -> str:
    """The name of a row in the journal."""
    return f"event:{row.slug}" if isinstance(row, Event) else moves.subject(row)


def _lock_above(row: Row) -> tuple[Event | None, Tournament | None]:
    tournament = row.tournament if isinstance(row, Match) else row if isinstance(row, Tournament) else None
    event_id = row.pk if isinstance(row, Event) else tournament.event_id if tournament else None
    event = Event.objects.select_for_update().get(pk=event_id) if event_id else None
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
