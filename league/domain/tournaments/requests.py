"""Answers to entry requests by the owner of the bot, and withdrawals by the asking player. `league.domain.bots.consent` creates the requests."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction
from django.db.models import F, Q, QuerySet

from league.domain.bots import bots, consent
from league.domain.core import clock, transitions
from league.domain.core.errors import Refused
from league.domain.people import ownership
from league.domain.people.ownership import BotAct
from league.domain.tournaments import circuits, enrolment, events
from league.enums import RequestStatus, TournamentStatus
from league.models import Circuit, EntryRequest, Event, Player, Tournament


def requests_of(player: Player) -> QuerySet[EntryRequest]:
    """Select the requests for the player's bots, and those that the player made, newest first."""
    rows = _shown().filter(ownership.owned(player, BotAct.MANAGE, "bot__") | Q(asker=player))
    return rows.exclude(asker=F("bot__owner")).order_by("-pk")


def waiting(occasion: consent.Occasion) -> QuerySet[EntryRequest]:
    """Select the open requests for a tournament, event or circuit. One query."""
    return _shown().filter(**{consent.kind(occasion): occasion}, status=RequestStatus.ASKED).order_by("pk")


def _shown() -> QuerySet[EntryRequest]:
    """Select requests with all that lists of them show."""
    rows = EntryRequest.objects.select_related("bot__owner", "bot__team", "asker", "version")
    return rows.select_related("tournament", "event", "circuit").defer("tournament__secret", "event__secret")


def grant(request: EntryRequest, *, player: Player, now: datetime | None = None) -> EntryRequest:
    """Grant the request as the owner of the bot, which enters at once. Possible after a refusal as well. Repeatable.

    Raise Refused if entries are closed or the bot cannot enter.
    """
    now = clock.now_or(now)
    with transaction.atomic():
        occasion, row = _locked(request, player)
        if row.status == RequestStatus.GRANTED:
            return row
        if row.status not in (RequestStatus.ASKED, RequestStatus.REFUSED):
            raise _answered(row)
        if isinstance(occasion, Event):
            events.check_room(occasion)
        transitions.move(row, RequestStatus.GRANTED, now=now, actor=player.name, answered=now)
        if isinstance(occasion, Tournament):
            version = bots.version_of(row.version or row.bot, occasion.pool.game)
            enrolment.place(occasion, version, actor=player.name, now=now)
        elif isinstance(occasion, Circuit):
            circuits.admit(occasion, row.bot, actor=player.name, now=now)
        elif occasion.status != TournamentStatus.OPEN:
            raise _closed(occasion)
    return row


def refuse(request: EntryRequest, *, player: Player, now: datetime | None = None) -> EntryRequest:
    """Refuse the request as the owner of the bot; nobody can repeat it. Repeatable.

    This also withdraws the bot from an event that has not started.
    """
    return _end(request, RequestStatus.REFUSED, player, clock.now_or(now))


def withdraw(request: EntryRequest, *, player: Player, now: datetime | None = None) -> EntryRequest:
    """Withdraw a request as the asking player; this also withdraws the bot from an event that has not started. Repeatable."""
    return _end(request, RequestStatus.WITHDRAWN, player, clock.now_or(now))


def _end(request: EntryRequest, to: RequestStatus, player: Player, now: datetime) -> EntryRequest:
    with transaction.atomic():
        occasion, row = _locked(request, player, asker=to == RequestStatus.WITHDRAWN)
        if row.status == to:
            return row
        open_event = isinstance(occasion, Event) and occasion.status == TournamentStatus.OPEN
        if row.status != RequestStatus.ASKED and not (row.status == RequestStatus.GRANTED and open_event):
            raise _answered(row)
        transitions.move(row, to, now=now, actor=player.name, answered=now)
    return row


def _locked(request: EntryRequest, player: Player, *, asker: bool = False) -> tuple[consent.Occasion, EntryRequest]:
    """Lock the occasion of a request, then read the request. All code that changes either of them takes this lock."""
    target = request.occasion
    rows: QuerySet[Tournament] | QuerySet[Event] | QuerySet[Circuit] = type(target).objects.select_for_update(
        of=("self",)
    )
    related = ("pool", "owner") if isinstance(target, Tournament) else ("owner",)
    occasion = rows.select_related(*related).get(pk=target.pk)
    row = EntryRequest.objects.select_related("bot", "version__bot", "asker").get(pk=request.pk)
    may_act = player.pk == row.asker_id if asker else ownership.may(player, row.bot, BotAct.MANAGE)
    if not may_act:
        raise Refused("only {who} can do this", who=row.asker.name if asker else row.bot.owner.name)
    return occasion, row


def _answered(row: EntryRequest) -> Refused:
    if row.status == RequestStatus.GRANTED:
        return Refused(
            "the request was granted and {bot!r} has entered; withdraw the bot on the page of the tournament",
            bot=row.bot.slug,
        )
    return Refused("the request is {status} and cannot change any more", status=RequestStatus(row.status).label)


def _closed(event: Event) -> Refused:
    return Refused("the event {event!r} has started, so its entries are closed", event=event.name)
