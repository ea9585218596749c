"""Requests for bots are answered by the owner of the bot, or taken back by who asked. `league.domain.bots.consent` makes them."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction
from django.db.models import F, Q, QuerySet

from league.domain.bots import bots, consent
from league.domain.core import clock, transitions
from league.domain.core.errors import Refused
from league.domain.tournaments import circuits, enrolment
from league.enums import RequestStatus, TournamentStatus
from league.models import Circuit, EntryRequest, Event, Player, Tournament


def requests_of(player: Player) -> QuerySet[EntryRequest]:
    """Those for the player's bots and those that they have made, the newest first."""
    mine = EntryRequest.objects.filter(Q(bot__owner=player) | Q(asker=player))
    rows = mine.exclude(asker=F("bot__owner")).select_related("bot__owner", "asker", "version__bot")
    rows = rows.select_related("tournament", "event", "circuit")
    return rows.defer("tournament__secret", "event__secret").order_by("-pk")


def waiting(occasion: consent.Occasion) -> QuerySet[EntryRequest]:
    """The open requests for a tournament, event or circuit. One query."""
    rows = consent.requests_for(occasion).filter(status=RequestStatus.ASKED)
    return rows.select_related("bot__owner", "version__bot").order_by("pk")


def grant(request: EntryRequest, *, by: Player, now: datetime | None = None) -> EntryRequest:
    """The owner of the bot lets it enter, which it does in this moment; also after they had refused. Doing it again changes nothing.

    Refused where entries are closed, or where the bot cannot enter.
    """
    now = clock.now_or(now)
    with transaction.atomic():
        occasion, row = _locked(request, by)
        if row.status == RequestStatus.GRANTED:
            return row
        if row.status not in (RequestStatus.ASKED, RequestStatus.REFUSED):
            raise _answered(row)
        transitions.move(row, RequestStatus.GRANTED, now=now, actor=by.name, answered=now)
        if isinstance(occasion, Tournament):
            version = bots.version_of(row.version or row.bot, occasion.pool.game)
            enrolment.place(occasion, version, actor=by.name, now=now)
        elif isinstance(occasion, Circuit):
            circuits.admit(occasion, row.bot, actor=by.name, now=now)
        elif occasion.status != TournamentStatus.OPEN:
            raise _closed(occasion)
    return row


def refuse(request: EntryRequest, *, by: Player, now: datetime | None = None) -> EntryRequest:
    """The owner of the bot does not let it enter, and nobody can ask again for the same. Doing it again changes nothing.

    Out of an event that has not begun its owner takes a bot so, too.
    """
    return _end(request, RequestStatus.REFUSED, by, clock.now_or(now))


def withdraw(request: EntryRequest, *, by: Player, now: datetime | None = None) -> EntryRequest:
    """Who has asked does not want it any more; out of an event that has not begun its owner takes a bot so. Again changes nothing."""
    return _end(request, RequestStatus.WITHDRAWN, by, clock.now_or(now))


def _end(request: EntryRequest, to: RequestStatus, by: Player, now: datetime) -> EntryRequest:
    with transaction.atomic():
        occasion, row = _locked(request, by, asker=to == RequestStatus.WITHDRAWN)
        if row.status == to:
            return row
        open_event = isinstance(occasion, Event) and occasion.status == TournamentStatus.OPEN
        if row.status != RequestStatus.ASKED and not (row.status == RequestStatus.GRANTED and open_event):
            raise _answered(row)
        transitions.move(row, to, now=now, actor=by.name, answered=now)
    return row


def _locked(request: EntryRequest, by: Player, *, asker: bool = False) -> tuple[consent.Occasion, EntryRequest]:
    """What a request is for, locked, and the request as it is then. Whoever changes either holds that lock."""
    what = request.occasion
    rows: QuerySet[Tournament] | QuerySet[Event] | QuerySet[Circuit] = type(what).objects.select_for_update(
        of=("self",)
    )
    related = ("pool", "owner") if isinstance(what, Tournament) else ("owner",)
    occasion = rows.select_related(*related).get(pk=what.pk)
    row = EntryRequest.objects.select_related("bot", "version__bot", "asker").get(pk=request.pk)
    if by.pk != (row.asker_id if asker else row.bot.owner_id):
        raise Refused("only {who} can do this", who=row.asker.name if asker else row.bot.owner.name)
    return occasion, row


def _answered(row: EntryRequest) -> Refused:
    if row.status == RequestStatus.GRANTED:
        return Refused("the request was granted, and {bot!r} is entered; withdraw it there", bot=row.bot.slug)
    return Refused("the request is {status}; nothing can be changed any more", status=RequestStatus(row.status).label)


def _closed(event: Event) -> Refused:
    return Refused("the event {event!r} has begun, or is over; nobody enters any more", event=event.name)
