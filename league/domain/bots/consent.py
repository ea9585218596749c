"""Consent: the rules for entering another player's bot. Only `decide` applies them, however a bot is entered.

The owner of a bot chooses who may enter it: anybody, players who ask, or nobody. By default anybody may enter it in challenges and in public leagues
(those of the house and of operators, which count for the ratings); in other events a player has to ask. The answer to a request holds for that
tournament, event or circuit, whatever the owner chooses later, and a bot that has entered stays.

The caller locks the bot (`hold`) in the transaction that enters it, so the policy cannot change in between.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from contextlib import suppress
from datetime import datetime, timedelta
from enum import Enum
from typing import TYPE_CHECKING

from django.db import transaction
from django.db.models import Q

from league.domain.bots.willing import note_leaving
from league.domain.core import clock, journal, transitions
from league.domain.core.errors import IllegalMove, Refused
from league.domain.people import ownership, players, quotas
from league.domain.people.ownership import BotAct
from league.enums import EntryPolicy, RequestStatus, TournamentStatus
from league.models import Arena, Block, Bot, BotVersion, Circuit, EntryRequest, Event, Follow, Player, Tournament
from league.models.consent import MOST_MESSAGE

if TYPE_CHECKING:
    from django.db.models import QuerySet

Occasion = Tournament | Event | Circuit
OPEN_FOR = timedelta(days=30)
MOST_AT_ONCE = 500


class EntryAnswer(Enum):
    """The answer that a bot's owner gives to a player who wants the bot to play."""

    YES = 0
    ASK = 1
    NOBODY = 2
    NOT_HERE = 3  # The owner refused this request, or took the bot out of this event.
    NOT_YOU = 4


def decide(
    bot: Bot, *, own: bool, blocked: bool, answers: Collection[str] = (), public: bool, rated: bool = True
) -> EntryAnswer:
    """Return the owner's answer to a player.

    own: the player may enter the bot anyway; blocked: the owner has blocked them; answers: statuses of the requests for this bot here; public: see
    `is_public`.
    """
    if own or bot.is_house:
        return EntryAnswer.YES
    if blocked:
        return EntryAnswer.NOT_YOU
    if RequestStatus.REFUSED in answers:
        return EntryAnswer.NOT_HERE
    if RequestStatus.GRANTED in answers:
        return EntryAnswer.YES
    if bot.entry_policy == EntryPolicy.NOBODY:
        return EntryAnswer.NOBODY
    usual = bot.entry_policy == EntryPolicy.USUAL
    return (
        EntryAnswer.YES
        if bot.entry_policy == EntryPolicy.ANYBODY or not rated or (usual and public)
        else EntryAnswer.ASK
    )


def is_willing(bot: Bot, player: Player, occasion: Occasion | None) -> bool:
    """Return True if the player may let `bot` play in `occasion` (None: an unrated match); False if its owner must agree first.

    Raise Refused if a request would be pointless. Four queries of the current rows; another player's bot is locked (`hold`).
    """
    if bot.is_house or ownership.may(player, bot, BotAct.ENTER):
        return True
    blocked = Block.objects.filter(owner=bot.owner_id, blocked=player).exists()
    answers = list(requests_for(occasion).filter(bot=bot).values_list("status", flat=True)) if occasion else []
    public = occasion is not None and is_public(Player.objects.select_related("user").get(pk=occasion.owner_id))
    current = Bot.objects.get(pk=bot.pk)
    answer = decide(current, own=False, blocked=blocked, answers=answers, public=public, rated=occasion is not None)
    if answer == EntryAnswer.NOT_YOU:
        raise Refused("the owner of {bot!r} accepts no requests from you; choose another bot", bot=bot.slug)
    if answer == EntryAnswer.NOT_HERE:
        raise Refused("the owner of {bot!r} does not want it to play here; choose another bot", bot=bot.slug)
    if answer == EntryAnswer.NOBODY:
        raise Refused("the owner of {bot!r} lets nobody else enter or challenge it; choose another bot", bot=bot.slug)
    return answer == EntryAnswer.YES


def check_shown(bot: Bot, occasion: Occasion | Arena) -> None:
    """Raise Refused if others would see a bot in class at this occasion: it enters private events only."""
    if not bot.in_class:
        return
    event = occasion.event if isinstance(occasion, Tournament) else occasion
    if not isinstance(event, Event) or not event.private:
        raise Refused(
            "only your class sees {bot!r}; show it to everybody first, in the settings of the bot", bot=bot.slug
        )


def expected_answers(bots: Iterable[Bot], player: Player, *, rated: bool = True) -> dict[int, EntryAnswer]:
    """Return how the owners of these bots would answer if the player created something new, by bot id.

    One query, and one more if some bots are in teams.
    """
    bots = list(bots)
    own = ownership.allowed_bots(player, bots, BotAct.ENTER)
    blockers = set(Block.objects.filter(blocked=player).values_list("owner_id", flat=True))
    public = is_public(player)
    return {
        bot.pk: decide(bot, own=bot.pk in own, blocked=bot.owner_id in blockers, public=public, rated=rated)
        for bot in bots
    }


def is_public(owner: Player) -> bool:
    """Return True if the occasions of this owner are public: leagues of the house or of an operator."""
    return owner.name == players.HOUSE or owner.user.is_staff


def hold(bots: Iterable[Bot], player: Player) -> None:
    """Lock the policies of these bots until the end of the transaction, except the player's own bots and house bots.

    To avoid deadlocks, all bots are locked at once, by id, and after players and tournaments.
    """
    others = {bot.pk for bot in bots if bot.owner_id != player.pk and not bot.is_house}
    if others:
        list(Bot.objects.select_for_update(no_key=True).filter(pk__in=others).order_by("pk").values_list("pk"))


def requests_for(occasion: Occasion) -> QuerySet[EntryRequest]:
    """Select all requests for a tournament, event or circuit."""
    return EntryRequest.objects.filter(**{kind(occasion): occasion})


def kind(occasion: Occasion) -> str:
    """Return the column of EntryRequest for this kind of occasion."""
    return type(occasion).__name__.lower()


def place(occasion: Occasion) -> str:
    """Return the name of the occasion in the journal."""
    return f"{kind(occasion)}:{occasion.slug}"


def names_asked(occasion: Occasion) -> str:
    """Return the names of the bots with an open request as text; empty if there are none."""
    requests = requests_for(occasion).filter(status=RequestStatus.ASKED)
    return ", ".join(requests.order_by("pk").values_list("bot__slug", flat=True))


def lapse(occasion: Occasion, *, now: datetime) -> int:
    """Expire the open requests, within the transaction that closes the entries; return their number."""
    waiting = list(requests_for(occasion).filter(status=RequestStatus.ASKED).order_by("pk"))
    for request in waiting:
        transitions.move(request, RequestStatus.EXPIRED, now=now, answered=now)
    return len(waiting)


def expire(*, now: datetime | None = None) -> int:
    """Expire requests for circuits and running ladders, which never close, after OPEN_FOR without an answer; return their number.

    The player may ask again.
    """
    now = clock.now_or(now)
    endless = Q(circuit__isnull=False) | Q(tournament__status=TournamentStatus.RUNNING)
    waiting = EntryRequest.objects.filter(endless, status=RequestStatus.ASKED, created__lte=now - OPEN_FOR)
    ended = 0
    for request in waiting.order_by("created")[:MOST_AT_ONCE]:
        with suppress(IllegalMove):  # Somebody has just answered or withdrawn it.
            transitions.move(request, RequestStatus.EXPIRED, now=now, answered=now)
            ended += 1
    return ended


def ask(occasion: Occasion, entrant: Bot | BotVersion, player: Player, message: str, *, now: datetime) -> EntryRequest:
    """Return the open request for a bot or version; create it if there is none. Lock first the occasion, then the player, then the bot (`hold`)."""
    bot = entrant if isinstance(entrant, Bot) else entrant.bot
    existing = requests_for(occasion).filter(bot=bot, status=RequestStatus.ASKED).first()
    if existing is not None:
        return existing
    columns = {
        "message": _checked(message),
        "version": entrant if isinstance(entrant, BotVersion) else None,
        kind(occasion): occasion,
    }
    quotas.ask(player, quotas.REQUESTS, now=now)
    request = EntryRequest.objects.create(bot=bot, asker=player, created=now, **columns)
    subject = transitions.subject(request)
    journal.append("request.asked", subject, now=now, actor=player.name, bot=bot.slug, to=place(occasion))
    return request


def _checked(message: str) -> str:
    """Return the message as plain text on one line."""
    text = " ".join(message.split())
    if len(text) > MOST_MESSAGE:
        raise Refused(
            "the message has {length} characters; shorten it to {most} at most", length=len(text), most=MOST_MESSAGE
        )
    if any(not character.isprintable() for character in text):
        raise Refused("the message contains a character that cannot be printed; remove it")
    return text


def take_out(occasion: Occasion, bot: Bot, player: Player, *, now: datetime) -> None:
    """Record that a bot was withdrawn, in the transaction that does so.

    If its owner did it, nobody else enters the bot again. If the owner of the occasion did it, only they let its player in again. Nothing is recorded
    if they are the same.
    """
    is_own = ownership.may(player, bot, BotAct.ENTER)
    is_host = player.pk == occasion.owner_id
    if bot.owner_id == occasion.owner_id or is_own == is_host:
        return
    to = RequestStatus.REFUSED if is_own else RequestStatus.REMOVED
    requests = requests_for(occasion).filter(bot=bot)
    granted = requests.filter(status=RequestStatus.GRANTED).first()
    if granted is None and to == RequestStatus.REFUSED:
        granted = requests.filter(status=RequestStatus.ASKED).first()
    if granted is not None:
        transitions.move(granted, to, now=now, actor=player.name, answered=now)
    elif not requests.filter(status=to).exists():
        columns = {kind(occasion): occasion, "asker_id": occasion.owner_id, "status": to}
        EntryRequest.objects.create(bot=bot, created=now, answered=now, **columns)
        journal.append("bot.taken_out", f"bot:{bot.slug}", now=now, actor=player.name, of=place(occasion))


def note_entry(occasion: Occasion, bot: Bot, *, actor: str, now: datetime) -> None:
    """Add a line to the history of a bot in a team that has entered, because its members want to know who entered it."""
    if bot.team_id is not None:
        journal.append("bot.entered", f"bot:{bot.slug}", now=now, actor=actor, to=place(occasion))


def is_welcome(occasion: Occasion, player: Player) -> bool:
    """Return False if the owner of the occasion has removed a bot of this player. One query."""
    own = ownership.bots_of_people([player.pk])
    return not requests_for(occasion).filter(bot__in=own, status=RequestStatus.REMOVED).exists()


def check_welcome(occasion: Occasion, bot: Bot) -> None:
    """Raise Refused if the owner of the occasion has removed a bot of the same people, who could otherwise just enter it again."""
    if requests_for(occasion).filter(bot__in=ownership.related_bots(bot), status=RequestStatus.REMOVED).exists():
        raise Refused(
            "the owner of {tournament!r} has taken your bot out, so only they can let you in again",
            tournament=occasion.name,
        )


def welcome(occasion: Occasion, bot: Bot) -> None:
    """Allow the owner of this bot to enter again, because the owner of the occasion enters the bot or asks for it."""
    requests_for(occasion).filter(bot__in=ownership.related_bots(bot), status=RequestStatus.REMOVED).delete()


def set_policy(bot: Bot, to: str, *, actor: str, now: datetime | None = None) -> None:
    """Set who may enter a bot from now on. Entered bots stay, and open requests still wait for an answer. Repeatable."""
    if to not in EntryPolicy.values:
        raise Refused(
            "choose who may enter a bot from {allowed}, not {to!r}", allowed=", ".join(EntryPolicy.values), to=to
        )
    now = clock.now_or(now)
    with transaction.atomic():
        if to in (EntryPolicy.ASK, EntryPolicy.NOBODY):
            note_leaving(bot, now=now)
        if Bot.objects.filter(pk=bot.pk).exclude(entry_policy=to).update(entry_policy=to):
            journal.append("bot.entry_policy", f"bot:{bot.slug}", now=now, actor=actor, was=bot.entry_policy, to=to)
    bot.entry_policy = to


def let_on_ladders(bot: Bot, *, on: bool, actor: str, now: datetime | None = None) -> None:
    """Set whether the league draws a bot for the standing ladders of its games, from the next draw on. Repeatable.

    Tables that are drawn are played. A bot that leaves is drawn again after a day at the earliest (`willing`).
    """
    now = clock.now_or(now)
    with transaction.atomic():
        if not on:
            note_leaving(bot, now=now)
        if Bot.objects.filter(pk=bot.pk).exclude(on_ladders=on).update(on_ladders=on):
            journal.append("bot.on_ladders", f"bot:{bot.slug}", now=now, actor=actor, to=on)
    bot.on_ladders = on


def offer_as_boss(bot: Bot, *, on: bool, actor: str, now: datetime | None = None) -> None:
    """Set whether the owner offers a bot as a boss, from the next season on (`league.domain.ladders.bosses`). Repeatable."""
    now = clock.now_or(now)
    with transaction.atomic():
        if Bot.objects.filter(pk=bot.pk).exclude(offered_as_boss=on).update(offered_as_boss=on):
            journal.append("bot.offered_as_boss", f"bot:{bot.slug}", now=now, actor=actor, to=on)
    bot.offered_as_boss = on


def block(owner: Player, name: str, *, now: datetime | None = None) -> Block:
    """Block a player from entering, challenging or asking for any of the owner's bots; their open requests are refused. Repeatable."""
    now = clock.now_or(now)
    blocked = Player.objects.filter(name=name).first()
    if blocked is None:
        raise Refused("there is no player {name!r}", name=name)
    if blocked.pk == owner.pk:
        raise Refused("you cannot block yourself; name another player")
    with transaction.atomic():
        # A player who is making a request holds the lock of one of these bots.
        list(Bot.objects.select_for_update(no_key=True).filter(owner=owner).order_by("pk").values_list("pk"))
        row, fresh = Block.objects.get_or_create(owner=owner, blocked=blocked, defaults={"created": now})
        if fresh:
            journal.append("player.blocked", f"player:{owner.name}", now=now, actor=owner.name, blocked=name)
        Follow.objects.filter(Q(person=owner) | Q(bot__owner=owner), player=blocked).delete()
        requests = EntryRequest.objects.filter(bot__owner=owner, asker=blocked, status=RequestStatus.ASKED)
        for request in requests.order_by("pk"):
            with suppress(IllegalMove):  # It has just been withdrawn, or has expired.
                transitions.move(request, RequestStatus.REFUSED, now=now, actor=owner.name, answered=now)
    return row


def unblock(owner: Player, name: str, *, now: datetime | None = None) -> None:
    """End a block. Repeatable."""
    with transaction.atomic():
        if Block.objects.filter(owner=owner, blocked__name=name).delete()[0]:
            journal.append(
                "player.unblocked", f"player:{owner.name}", now=clock.now_or(now), actor=owner.name, blocked=name
            )
