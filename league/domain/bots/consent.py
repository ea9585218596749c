"""Consent: whether somebody may let another's bot play. `decide` alone says so, for every way by which a bot gets into anything.

The owner of a bot says who may enter it: anybody, who has asked, nobody; as usual means anybody for unrated matches and for public leagues
(those of the league itself and of its operators), and who has asked for what else is rated. An answer to a request holds for that tournament,
event or circuit whatever the owner says later, and what has entered stays.

Who decides holds the row of the bot (`hold`) to the end of the transaction that enters it: a change of the policy comes before that or after it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from contextlib import suppress
from datetime import datetime, timedelta
from enum import Enum
from typing import TYPE_CHECKING

from django.db import transaction
from django.db.models import Q

from league.domain.core import clock, journal, transitions
from league.domain.core.errors import IllegalMove, Refused
from league.domain.people import players, quotas
from league.enums import EntryPolicy, RequestStatus, TournamentStatus
from league.models import Block, Bot, BotVersion, Circuit, EntryRequest, Event, Player, Tournament
from league.models.consent import MOST_MESSAGE

if TYPE_CHECKING:
    from django.db.models import QuerySet

Occasion = Tournament | Event | Circuit  # what bots enter
OPEN_FOR = timedelta(days=30)
MOST_AT_ONCE = 500


class Word(Enum):
    """What the owner of a bot says to somebody who wants it to play."""

    YES = 0
    ASK = 1
    NOBODY = 2
    NOT_HERE = 3  # they were asked, or took it out of this
    NOT_YOU = 4


def decide(
    bot: Bot, by: Player, *, blocked: bool, answers: Collection[str] = (), public: bool, rated: bool = True
) -> Word:
    """The one decision. blocked: by the owner of the bot; answers: the statuses of the requests for this bot in this; public: see `is_public`."""
    if bot.owner_id == by.pk or bot.is_house:
        return Word.YES
    if blocked:
        return Word.NOT_YOU
    if RequestStatus.REFUSED in answers:
        return Word.NOT_HERE
    if RequestStatus.GRANTED in answers:
        return Word.YES
    if bot.entry_policy == EntryPolicy.NOBODY:
        return Word.NOBODY
    usual = bot.entry_policy == EntryPolicy.USUAL
    return Word.YES if bot.entry_policy == EntryPolicy.ANYBODY or not rated or (usual and public) else Word.ASK


def is_willing(bot: Bot, by: Player, occasion: Occasion | None) -> bool:
    """Whether `by` may let `bot` play in `occasion`, None: in an unrated match; False: its owner is to be asked. Refused where asking is of no use.

    As the tables are now: for another's bot, which is to be held (`hold`), four queries.
    """
    if bot.owner_id == by.pk or bot.is_house:
        return True
    blocked = Block.objects.filter(owner=bot.owner_id, blocked=by).exists()
    answers = list(requests_for(occasion).filter(bot=bot).values_list("status", flat=True)) if occasion else []
    public = occasion is not None and is_public(Player.objects.select_related("user").get(pk=occasion.owner_id))
    now = Bot.objects.get(pk=bot.pk)
    word = decide(now, by, blocked=blocked, answers=answers, public=public, rated=occasion is not None)
    if word == Word.NOT_YOU:
        raise Refused("the owner of {bot!r} takes no requests of yours; choose another bot", bot=bot.slug)
    if word == Word.NOT_HERE:
        raise Refused("the owner of {bot!r} does not want it in this; choose another bot", bot=bot.slug)
    if word == Word.NOBODY:
        raise Refused("the owner of {bot!r} lets nobody else enter or challenge it; choose another bot", bot=bot.slug)
    return word == Word.YES


def outlook(bots: Iterable[Bot], by: Player, *, rated: bool = True) -> dict[int, Word]:
    """What the owners of these bots would say if `by` made something new, by the ids of the bots. One query."""
    blockers = set(Block.objects.filter(blocked=by).values_list("owner_id", flat=True))
    public = is_public(by)
    return {bot.pk: decide(bot, by, blocked=bot.owner_id in blockers, public=public, rated=rated) for bot in bots}


def is_public(owner: Player) -> bool:
    """Whether what this player runs is a public league: that of the house, or of an operator."""
    return owner.name == players.HOUSE or owner.user.is_staff


def hold(bots: Iterable[Bot], by: Player) -> None:
    """Keep the policies of these bots as they are to the end of the transaction. Own bots and those of the house need it not.

    Everybody who holds several holds them at once, by their ids, and after any player and tournament.
    """
    others = {bot.pk for bot in bots if bot.owner_id != by.pk and not bot.is_house}
    if others:
        list(Bot.objects.select_for_update(no_key=True).filter(pk__in=others).order_by("pk").values_list("pk"))


def requests_for(occasion: Occasion) -> QuerySet[EntryRequest]:
    """All requests for a tournament, event or circuit."""
    return EntryRequest.objects.filter(**{kind(occasion): occasion})


def kind(occasion: Occasion) -> str:
    """The column of a request that names it."""
    return type(occasion).__name__.lower()


def place(occasion: Occasion) -> str:
    """Its name in the journal."""
    return f"{kind(occasion)}:{occasion.slug}"


def names_asked(occasion: Occasion) -> str:
    """The bots for which a request is open, as text; empty: none."""
    asked = requests_for(occasion).filter(status=RequestStatus.ASKED)
    return ", ".join(asked.order_by("pk").values_list("bot__slug", flat=True))


def lapse(occasion: Occasion, *, now: datetime) -> int:
    """Nobody enters any more: the requests that are open expire. Their number. In the transaction that closes the entries."""
    waiting = list(requests_for(occasion).filter(status=RequestStatus.ASKED).order_by("pk"))
    for one in waiting:
        transitions.move(one, RequestStatus.EXPIRED, now=now, answered=now)
    return len(waiting)


def expire(*, now: datetime | None = None) -> int:
    """End the requests for what has no end of its own, recurring leagues and running ladders, that nobody has answered for OPEN_FOR; their number.

    Who has asked may ask again.
    """
    now = clock.now_or(now)
    endless = Q(circuit__isnull=False) | Q(tournament__status=TournamentStatus.RUNNING)
    waiting = EntryRequest.objects.filter(endless, status=RequestStatus.ASKED, created__lte=now - OPEN_FOR)
    ended = 0
    for one in waiting.order_by("created")[:MOST_AT_ONCE]:
        with suppress(IllegalMove):  # it was answered or taken back in this moment
            transitions.move(one, RequestStatus.EXPIRED, now=now, answered=now)
            ended += 1
    return ended


def ask(occasion: Occasion, entrant: Bot | BotVersion, by: Player, message: str, *, now: datetime) -> EntryRequest:
    """The open request of `by` for a bot, or one version of it; made where there is none. With the occasion locked, then `by`, then the bot held."""
    bot = entrant if isinstance(entrant, Bot) else entrant.bot
    there = requests_for(occasion).filter(bot=bot, status=RequestStatus.ASKED).first()
    if there is not None:
        return there
    told = {
        "message": _checked(message),
        "version": entrant if isinstance(entrant, BotVersion) else None,
        kind(occasion): occasion,
    }
    quotas.ask(by, quotas.REQUESTS, now=now)
    made = EntryRequest.objects.create(bot=bot, asker=by, created=now, **told)
    journal.append("request.asked", transitions.subject(made), now=now, actor=by.name, bot=bot.slug, to=place(occasion))
    return made


def _checked(message: str) -> str:
    """Plain text on one line."""
    text = " ".join(message.split())
    if len(text) > MOST_MESSAGE:
        raise Refused(
            "the message has {length} characters; it may have {most} at most", length=len(text), most=MOST_MESSAGE
        )
    if any(not character.isprintable() for character in text):
        raise Refused("the message contains a character that cannot be printed; remove it")
    return text


def take_out(occasion: Occasion, bot: Bot, by: Player, *, now: datetime) -> None:
    """The owner of `bot` has taken it out, so that nobody else enters it again. In the transaction that does so.

    Nothing is noted where `by` is somebody else, or the occasion is their own.
    """
    if by.pk != bot.owner_id or by.pk == occasion.owner_id:
        return
    standing = requests_for(occasion).filter(bot=bot)
    granted = standing.filter(status__in=[RequestStatus.ASKED, RequestStatus.GRANTED]).first()
    if granted is not None:
        transitions.move(granted, RequestStatus.REFUSED, now=now, actor=by.name, answered=now)
    elif not standing.filter(status=RequestStatus.REFUSED).exists():
        what = {kind(occasion): occasion, "asker_id": occasion.owner_id, "status": RequestStatus.REFUSED}
        EntryRequest.objects.create(bot=bot, created=now, answered=now, **what)
        journal.append("bot.taken_out", f"bot:{bot.slug}", now=now, actor=by.name, of=place(occasion))


def set_policy(bot: Bot, to: str, *, actor: str, now: datetime | None = None) -> None:
    """Say who may enter a bot from now on. What has entered stays, and open requests wait for their answer. Doing it again changes nothing."""
    if to not in EntryPolicy.values:
        raise Refused(
            "who may enter a bot is one of {allowed}, not {to!r}", allowed=", ".join(EntryPolicy.values), to=to
        )
    with transaction.atomic():
        if Bot.objects.filter(pk=bot.pk).exclude(entry_policy=to).update(entry_policy=to):
            journal.append(
                "bot.entry_policy", f"bot:{bot.slug}", now=clock.now_or(now), actor=actor, was=bot.entry_policy, to=to
            )
    bot.entry_policy = to


def let_on_ladders(bot: Bot, *, on: bool, actor: str, now: datetime | None = None) -> None:
    """Let a bot play on the standing ladders of its games, or not any more; its results stay. Doing it again changes nothing."""
    with transaction.atomic():
        if Bot.objects.filter(pk=bot.pk).exclude(on_ladders=on).update(on_ladders=on):
            journal.append("bot.on_ladders", f"bot:{bot.slug}", now=clock.now_or(now), actor=actor, to=on)
    bot.on_ladders = on


def block(owner: Player, name: str, *, now: datetime | None = None) -> Block:
    """Let a player enter, challenge and ask for none of the owner's bots any more; what they have asked is refused. Again changes nothing."""
    now = clock.now_or(now)
    blocked = Player.objects.filter(name=name).first()
    if blocked is None:
        raise Refused("there is no player {name!r}", name=name)
    if blocked.pk == owner.pk:
        raise Refused("you cannot block yourself; name another player")
    with transaction.atomic():
        # Who asks at this moment holds one of them
        list(Bot.objects.select_for_update(no_key=True).filter(owner=owner).order_by("pk").values_list("pk"))
        row, fresh = Block.objects.get_or_create(owner=owner, blocked=blocked, defaults={"created": now})
        if fresh:
            journal.append("player.blocked", f"player:{owner.name}", now=now, actor=owner.name, blocked=name)
        asked = EntryRequest.objects.filter(bot__owner=owner, asker=blocked, status=RequestStatus.ASKED)
        for one in asked.order_by("pk"):
            with suppress(IllegalMove):  # it was withdrawn, or has expired, in this moment
                transitions.move(one, RequestStatus.REFUSED, now=now, actor=owner.name, answered=now)
    return row


def unblock(owner: Player, name: str, *, now: datetime | None = None) -> None:
    """Take that back. Doing it again changes nothing."""
    with transaction.atomic():
        if Block.objects.filter(owner=owner, blocked__name=name).delete()[0]:
            journal.append(
                "player.unblocked", f"player:{owner.name}", now=clock.now_or(now), actor=owner.name, blocked=name
            )
