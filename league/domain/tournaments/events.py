"""Events of several stages: created from one document, and continued when a stage ends."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from django.db import transaction

from league.domain.bots import bots, consent
from league.domain.core import clock, journal, names, search_words
from league.domain.core.errors import Refused, TooMany, shown
from league.domain.matches import embargoes, sight
from league.domain.people import ownership, quotas
from league.domain.people.ownership import BotAct
from league.domain.ratings import pools
from league.domain.tournaments import (
    booking,
    enrolment,
    forecast,
    formats,
    releases,
    rule,
    shares,
    tournaments,
    waiting,
)
from league.enums import BotState, Entrance, RequestStatus, Seeding, TournamentStatus
from league.models import Bot, BotVersion, Entry, EntryRequest, Event, Player, Tournament
from league.pure.calendar import event_plan as pure
from league.pure.pairing.movements import snake
from league.pure.portable import ELO_DIGITS, comparable


def create(
    owner: Player,
    document: Any,
    entrants: Sequence[BotVersion | Bot],
    *,
    message: str = "",
    secret: bytes | None = None,
    terms: releases.ReleaseTerms = releases.OPEN,
    wait: bool = False,
    entrance: str = Entrance.OWNER,
    entries_from: datetime | None = None,
    per_player: int = 1,
    description: str = "",
    now: datetime | None = None,
) -> Event:
    """Create an event with these entrants and start its first stage. Raise Refused with the wrong place in the document and the allowed values.

    The event starts at once, unless one of these keeps it open until its owner starts it: owners of bots want to be asked (they get a request with
    `message`); the event is private (`terms`), open to people with its link; or it shall `wait` for entries, which `entrance` allows from
    `entries_from` on. An event that is `due` at some time starts then.
    """
    now = clock.now_or(now)
    plan = _read(document)
    game = pools.load(plan.game, plan.players, dict(plan.options))
    for stage in plan.stages:
        formats.check_game(stage.format, game, mixed=plan.mixed)
    terms = releases.check(terms, now=now)
    secret = secret or secrets.token_bytes(32)
    name = names.checked(plan.name)
    with transaction.atomic():
        quotas.ask(owner, quotas.TOURNAMENTS, now=now)
        wait = wait or terms.private or terms.due is not None
        most = forecast.room(plan, owner)
        if not wait or len(entrants) > most:
            _check_boards(owner, plan, len(entrants))
        elif not most:
            _check_boards(owner, plan, forecast.fewest(plan))
        if not terms.private:
            tournaments.take_name(
                owner, name, now=now
            )  # The name of a private event need not be unique, because nobody else sees it.
        event = Event.objects.create(
            slug=tournaments.secret_slug() if terms.private else tournaments.free_slug(name, Event),
            name=name,
            owner=owner,
            counts=consent.is_public(owner),
            document=document,
            secret=secret,
            secret_sha256=hashlib.sha256(secret).hexdigest(),
            status=TournamentStatus.OPEN,
            audience=terms.audience,
            private=terms.private,
            invitation=releases.new_link() if terms.private else "",
            release=terms.release,
            pace_s=terms.pace_s,
            due=terms.due,
            entrance=entrance,
            entries_from=entries_from,
            per_player=shares.checked(per_player),
            description=description,
            created=now,
        )
        if not terms.private:
            search_words.put(event, name, event.slug)
        event.shown_from, event.opens = releases.moments(event)
        event.save(update_fields=["shown_from", "opens"])
        journal.append("event.created", f"event:{event.slug}", now=now, actor=owner.name)
        line = [bots.version_of(entrant, plan.game) for entrant in entrants]
        if not _ask(event, entrants, owner, message, wait=wait, now=now):
            _begin(event, plan, line, actor=owner.name, now=now)
    return event


def _check_boards(owner: Player, plan: pure.EventPlan, entrants: int) -> int:
    """Return the most boards of all stages. Raise Refused if the stages cannot be played, or exceed the owner's limit of boards."""
    boards = sum(stage.boards[1] for stage in forecast.forecast_stages(plan, entrants))
    booking.check_boards(owner, boards)
    return boards


def _ask(
    event: Event, entrants: Sequence[BotVersion | Bot], owner: Player, message: str, *, wait: bool, now: datetime
) -> bool:
    """Create requests to the owners who want to be asked; return False if there are none and the event need not wait.

    If it returns True, the requests, granted ones included, are the list of entrants.
    """
    bots_named = [entrant if isinstance(entrant, Bot) else entrant.bot for entrant in entrants]
    consent.hold(bots_named, owner)
    for bot in bots_named:
        consent.check_shown(bot, event)
    willing = {bot.pk: consent.is_willing(bot, owner, event) for bot in bots_named}
    releases.add(event, (bot.owner_id for bot in bots_named), now=now)
    if all(willing.values()) and not wait:
        return False
    if len(willing) < len(bots_named):
        raise Refused("an event that does not start at once takes one version of each bot; name every bot once")
    for entrant, bot in zip(entrants, bots_named, strict=True):
        if not willing[bot.pk]:
            consent.ask(event, entrant, owner, message, now=now)
        else:
            version = entrant if isinstance(entrant, BotVersion) else None
            sure = {"asker": owner, "status": RequestStatus.GRANTED, "created": now, "answered": now}
            EntryRequest.objects.create(event=event, bot=bot, version=version, **sure)
    return True


def start(event: Event, *, actor: str, now: datetime | None = None) -> None:
    """Start an open event with the bots that may enter; open requests expire. Repeatable.

    A bot that cannot play now is left out, and the journal says why, so that nobody can block an event by
    retiring a bot, or by uploading a version that the event does not take.
    """
    now = clock.now_or(now)
    with transaction.atomic():
        row = Event.objects.select_for_update(of=("self",)).select_related("owner").get(pk=event.pk)
        if row.status == TournamentStatus.OPEN:
            plan = _read(row.document)
            agreed = (
                consent.requests_for(row).filter(status=RequestStatus.GRANTED).select_related("bot", "version__bot")
            )
            line = _able(row, plan, agreed.order_by("pk"), now=now)
            _check_boards(row.owner, plan, len(line))
            consent.lapse(row, now=now)
            _begin(row, plan, line, actor=actor, now=now)
        elif row.status != TournamentStatus.RUNNING:
            raise _not_open(row)
    event.refresh_from_db()


def _able(event: Event, plan: pure.EventPlan, agreed: Iterable[EntryRequest], *, now: datetime) -> list[BotVersion]:
    """Return the versions that the bots of these requests send, if they may play."""
    line = []
    for request in agreed:
        try:
            version = bots.version_of(request.version or request.bot, plan.game)
            consent.check_shown(version.bot, event)
            enrolment.check_version(version, plan.game, sealed=plan.sealed)
        except Refused as error:
            journal.append("event.left_out", f"event:{event.slug}", now=now, bot=request.bot.slug, why=str(error))
        else:
            line.append(version)
    return line


def enter(event: Event, bot: Bot, player: Player, *, now: datetime | None = None) -> None:
    """Enter the player's own bot in an open event, with the version that it sends. Repeatable.

    Into a private event they must have been invited; into another one if it is open to everybody, or as its owner, who may also let in again a bot
    that they took out.
    """
    now = clock.now_or(now)
    with transaction.atomic():
        row = Event.objects.select_for_update(of=("self",)).select_related("owner").get(pk=event.pk)
        entries = consent.requests_for(row)
        is_let_in = sight.manages(row, player.user) and entries.filter(bot=bot, status=RequestStatus.REMOVED).exists()
        if not is_let_in:
            _check_own(row, bot, player)
        _check_open(row, now)
        _check_door(row, player, now)
        plan = _read(row.document)
        consent.check_shown(bot, row)
        enrolment.check_version(bots.version_of(bot, plan.game), plan.game, sealed=plan.sealed)
        if entries.filter(bot=bot, status=RequestStatus.GRANTED).exists():
            return
        shares.check(row, player, bot, entries.filter(status=RequestStatus.GRANTED), "bot", now=now)
        check_room(row)
        # If the owner of the event had asked for the bot, its owner agrees by entering it.
        entries.filter(bot=bot).delete()
        if is_let_in:
            consent.welcome(row, bot)
        asker = player.pk if is_let_in else bot.owner_id
        sure = {"asker_id": asker, "status": RequestStatus.GRANTED, "created": now, "answered": now}
        EntryRequest.objects.create(event=row, bot=bot, **sure)
        releases.add(row, [bot.owner_id], now=now)
        journal.append("event.entered", f"event:{row.slug}", now=now, actor=player.name, bot=bot.slug)
        consent.note_entry(row, bot, actor=player.name, now=now)


def check_room(event: Event) -> None:
    """Raise Refused if an event takes no more bots, so that all entered bots can also play."""
    most = forecast.room(_read(event.document), event.owner)
    if consent.requests_for(event).filter(status=RequestStatus.GRANTED).count() >= most:
        raise Refused("{tournament!r} is full; it takes {most} bots", tournament=event.name, most=most)


def room(event: Event) -> int:
    """Return the most bots that an open event takes. One query."""
    return forecast.room(_read(event.document), event.owner)


def why_not_yet(event: Event, entries: int) -> str:
    """Return why an open event could not start now with this number of entries; "" if it could. Four queries."""
    try:
        plan = _read(event.document)
        need = _check_boards(event.owner, plan, entries)
        quotas.check_free(event.owner, quotas.BOARDS, need)
    except Refused as error:
        return shown(error)
    return ""


def leave(event: Event, bot: Bot, player: Player, *, now: datetime | None = None) -> None:
    """Withdraw one's own bot from an open event, or any bot as the owner of the event, without whom it cannot enter again. Repeatable."""
    now = clock.now_or(now)
    with transaction.atomic():
        row = Event.objects.select_for_update(of=("self",)).select_related("owner").get(pk=event.pk)
        if not sight.manages(row, player.user):
            _check_own(row, bot, player)
        _check_open(row, now)
        entries = consent.requests_for(row).filter(bot=bot, status=RequestStatus.GRANTED)
        if entries.exists():
            if ownership.may(player, bot, BotAct.ENTER):
                entries.delete()  # Only the lines in the journal remain, and `shares` limits their number.
            else:
                consent.take_out(row, bot, player, now=now)
            journal.append("event.withdrawn", f"event:{row.slug}", now=now, actor=player.name, bot=bot.slug)
        if not row.private:
            _forget_guest(row, bot.owner_id)


def _forget_guest(event: Event, owner: int) -> None:
    """Remove a player without a bot in a public event from its guests, who may see results that are hidden from others."""
    live = (RequestStatus.GRANTED, RequestStatus.ASKED)
    if not consent.requests_for(event).filter(bot__owner=owner, status__in=live).exists():
        event.guests.filter(player=owner).exclude(player=event.owner_id).delete()


def _check_own(event: Event, bot: Bot, player: Player) -> None:
    if not ownership.may(player, bot, BotAct.ENTER):
        raise Refused("{bot!r} is not yours; enter your own bots", bot=bot.slug)
    if event.owner_id == player.pk:
        return
    if event.private and not event.guests.filter(player=player).exists():
        raise Refused("Only the owner can enter bots in {event!r}. Ask for the invitation link.", event=event.name)


def _check_door(event: Event, player: Player, now: datetime) -> None:
    if event.owner_id != player.pk and not event.private and event.entrance != Entrance.ANYBODY:
        raise Refused("Only the owner can enter bots in {event!r}.", event=event.name)
    if event.owner_id != player.pk and event.entries_from is not None and now < event.entries_from:
        raise Refused("Entries for {event!r} open at {at}.", event=event.name, at=event.entries_from.isoformat())


def _check_open(event: Event, now: datetime) -> None:
    if event.status != TournamentStatus.OPEN:
        raise Refused("{event!r} has started, so its entries are fixed", event=event.name)
    if event.due is not None and event.due <= now:
        raise Refused("entries for {event!r} closed at {at}", event=event.name, at=event.due.isoformat())


def cancel(event: Event, *, actor: str, now: datetime | None = None) -> None:
    """Cancel an event that has not started. Repeatable. To end a running event, cancel the tournament of its current stage."""
    now = clock.now_or(now)
    with transaction.atomic():
        row = Event.objects.select_for_update(of=("self",)).select_related("owner").get(pk=event.pk)
        if row.status == TournamentStatus.OPEN:
            consent.lapse(row, now=now)
            _end(row, TournamentStatus.CANCELLED, now, actor=actor)
        elif row.status != TournamentStatus.CANCELLED:
            raise _not_open(row)
    event.refresh_from_db()


def _not_open(event: Event) -> Refused:
    return Refused(
        "the event {event!r} is {status}; only an open event can be started or cancelled. To end a running one, cancel its tournaments",
        event=event.name,
        status=TournamentStatus(event.status).label,
    )


def _begin(event: Event, plan: pure.EventPlan, line: Sequence[BotVersion], *, actor: str, now: datetime) -> None:
    """Open the first stage with these entries, in the transaction that created or locked the event."""
    Event.objects.filter(pk=event.pk).update(status=TournamentStatus.RUNNING)
    event.status = TournamentStatus.RUNNING
    journal.append("event.started", f"event:{event.slug}", now=now, actor=actor)
    rule.note_start(event, line)
    _open(event, plan, 1, _sort_by_rating(plan, line), now=now)


def _read(document: Any) -> pure.EventPlan:
    try:
        return pure.read_plan(document)
    except pure.BadEvent as error:
        raise Refused.from_error(error) from error


def _sort_by_rating(plan: pure.EventPlan, line: Sequence[BotVersion]) -> list[BotVersion]:
    """Sort by seed: rated versions by Elo, then the others in the given order."""
    pool = pools.pool(plan.game, plan.players, dict(plan.options), mixed=plan.mixed)
    elo = dict(pool.ratings.values_list("version_id", "elo"))
    return sorted(line, key=lambda version: -comparable(elo.get(version.pk, float("-inf")), ELO_DIGITS))


def _open(event: Event, plan: pure.EventPlan, number: int, line: Sequence[BotVersion], *, now: datetime) -> None:
    """Create and start the tournaments of a stage; `line` has the entries by seed."""
    stage = plan.stages[number - 1]
    by_id = {version.pk: version for version in line}
    for group, members in enumerate(snake(list(by_id), stage.groups), 1):
        names = [event.name, f"stage {number}", *([f"group {group}"] if stage.groups > 1 else [])]
        tournament = tournaments.create(
            event.owner,
            ", ".join(names)[-80:],
            plan.game,
            dict(plan.options),
            stage.boards,
            [by_id[pk] for pk in members],
            plan.players,
            format=stage.format,
            parameters=stage.parameters,
            seeding=Seeding.ENTRY,
            mixed=plan.mixed,
            sealed=plan.sealed,
            secret=hmac.digest(bytes(event.secret), f"stage {number} group {group}".encode(), "sha256"),
            now=now,
            slug=tournaments.secret_slug() if event.private else "",
            event=event,
            stage=number,
            group=group,
        )
        tournaments.start(tournament, actor=event.owner.name, now=now)


def advance(event: Event, *, now: datetime | None = None) -> bool:
    """Open the next stage if the current one is finished, or finish the event; return True if something changed. Repeatable."""
    now = clock.now_or(now)
    with transaction.atomic():
        row = Event.objects.select_for_update().select_related("owner").get(pk=event.pk)
        if row.status != TournamentStatus.RUNNING:
            return False
        plan = _read(row.document)
        number = max(stage or 0 for stage in row.tournaments.values_list("stage", flat=True))
        present = list(row.tournaments.filter(stage=number).order_by("group"))
        if any(tournament.status == TournamentStatus.CANCELLED for tournament in present):
            return _end(row, TournamentStatus.CANCELLED, now)
        if any(tournament.status != TournamentStatus.FINISHED for tournament in present):
            return False
        if number == len(plan.stages):
            return _end(row, TournamentStatus.FINISHED, now)
        orders = [_order(tournament) for tournament in present]
        ids = pure.advancing_entries(
            [[version.pk for version in order] for order in orders], plan.stages[number - 1].advance or 0
        )
        versions = {version.pk: version for order in orders for version in order}
        _open(row, plan, number + 1, [versions[pk] for pk in ids], now=now)
    return True


def _order(tournament: Tournament) -> list[BotVersion]:
    """Return the versions of a finished tournament from first to last; shared places are ordered by seed.

    Withdrawn and disqualified versions, and those of retired or stopped bots or banned players, come last. They advance only if there are too few
    others, so that the event can go on in any case.
    """
    line = list(tournament.entries.select_related("version__bot").order_by("place", "seed"))

    def has_left(entry: Entry) -> bool:
        return (
            entry.withdrawn is not None
            or entry.disqualified is not None
            or entry.version.bot.state == BotState.RETIRED
            or enrolment.is_shut_out(entry.version.bot)
        )

    return [entry.version for entry in sorted(line, key=has_left)]


def _end(event: Event, status: str, now: datetime, *, actor: str = "") -> bool:
    Event.objects.filter(pk=event.pk).update(status=status, finished=now)
    releases.follow_end(event)
    journal.append(f"event.{status}", f"event:{event.slug}", now=now, actor=actor)
    return True


def start_due(*, now: datetime) -> int:
    """Start the open events that are due; return the number of changed ones.

    One whose owner has too many boards queued starts as soon as enough of them are played; its entries stay closed. Any other that cannot start stays
    open, without a time. The journal says why, once.
    """
    changed = 0
    open_events = Event.objects.filter(status=TournamentStatus.OPEN, due__lte=now).select_related("owner")
    for event in open_events.order_by("due", "pk"):
        if _waits_for_room(event, now):
            continue
        try:
            start(event, actor="", now=now)
        except TooMany as error:
            if waiting.why_not_started(event, since=event.due):
                continue
            journal.append("event.not_started", f"event:{event.slug}", now=now, why=str(error))
        except Refused as error:
            with transaction.atomic():
                # Not if its owner has set another time or cancelled it.
                waits = Event.objects.filter(pk=event.pk, status=TournamentStatus.OPEN, due=event.due)
                if waits.update(due=None, missed=event.due):
                    journal.append("event.not_started", f"event:{event.slug}", now=now, why=str(error))
        changed += 1
    return changed


def _waits_for_room(event: Event, now: datetime) -> bool:
    """Return True if an event that could not start before still finds no room for the boards of its first stage.

    This spares the scheduler from creating the whole stage in vain at each of its runs.
    """
    if not waiting.why_not_started(event, since=event.due):
        return False
    entries = consent.requests_for(event).filter(status=RequestStatus.GRANTED).count()
    try:
        plan = _read(event.document)
        _check_boards(event.owner, plan, entries)
        first = forecast.forecast_stages(plan, entries)[0]
        quotas.check_free(event.owner, quotas.BOARDS, first.boards[1], now=now)
    except TooMany:
        return True
    except Refused:
        pass  # `start` refuses it and says why.
    return False


def advance_all(*, now: datetime) -> int:
    """Advance every running event; return the number of changed ones.

    One that cannot go on is cancelled with a reason and does not stop the others.
    """
    changed = 0
    for event in Event.objects.filter(status=TournamentStatus.RUNNING):
        try:
            changed += advance(event, now=now)
        except Refused as error:
            with transaction.atomic():
                _end(event, TournamentStatus.CANCELLED, now)
                journal.append("event.refused", f"event:{event.slug}", now=now, why=str(error))
            changed += 1
    return changed


def published_secret(event: Event, *, is_visible: bool) -> str | None:
    """Return the secret in hexadecimal once the event is finished and no replay is withheld; only to viewers of its results, else None."""
    hidden = not is_visible or event.finished is None or embargoes.hides_secret(event)
    return None if hidden else bytes(event.secret).hex()
