"""Handing a bot on: its owner offers it to another player, who accepts it within their limits.

Ratings, results and entries stay with the bot. The former owner goes on counting as one of its owners for a time
(`league.domain.people.ownership`), so that nobody gains by passing a bot around.
"""

from __future__ import annotations

from datetime import datetime

from django.db import transaction
from django.db.models import QuerySet, Sum

from league.domain.bots import teams
from league.domain.core import clock, journal
from league.domain.core.errors import Forbidden, Refused, TooMany
from league.domain.people import ownership, players, quotas
from league.domain.people.ownership import BotAct
from league.enums import BotState, VersionStatus
from league.models import Block, Bot, BotOffer, Package, Player

MOST_A_DAY = 5  # Offers of one bot in a day.


def offer(bot: Bot, name: str, *, player: Player, now: datetime | None = None) -> BotOffer:
    """Offer a bot to another player, as its owner; a new offer replaces the one before. Raise Refused or TooMany."""
    now = clock.now_or(now)
    with transaction.atomic():
        row = _lock(bot)
        if not ownership.may(player, row, BotAct.MOVE):
            raise Forbidden("only the owner of {bot!r} can hand it on", bot=bot.slug)
        _check_movable(row)
        receiver = Player.objects.filter(name=name).exclude(name__startswith=players.CLOSED).first()
        if receiver is None or receiver.name == players.HOUSE or receiver.pk == player.pk:
            raise Refused("there is no other player {name!r}", name=name)
        if Block.objects.filter(owner=receiver, blocked=player).exists():
            raise Refused("{name} accepts no requests from you", name=name)
        again = journal.again_at(f"bot:{bot.slug}", ["bot.offered"], player.name, MOST_A_DAY, now=now)
        if again is not None:
            raise TooMany(
                "You can offer the bot again tomorrow.", retry_after=max(1, int((again - now).total_seconds()))
            )
        BotOffer.objects.filter(bot=row).delete()
        new = BotOffer.objects.create(bot=row, receiver=receiver, created=now)
        journal.append("bot.offered", f"bot:{bot.slug}", now=now, actor=player.name, to=receiver.name)
    return new


def offers(player: Player) -> QuerySet[BotOffer]:
    """Select the offers to a player, oldest first. No query."""
    return player.offers.select_related("bot__owner", "bot__team").order_by("created", "bot")


def end(bot: Bot, *, player: Player, now: datetime | None = None) -> None:
    """Withdraw an offer as the owner, or decline it as the receiver. Repeatable."""
    with transaction.atomic():
        row = _lock(bot)
        here = BotOffer.objects.filter(bot=row).first()
        if here is None:
            return
        is_owner = ownership.may(player, row, BotAct.MOVE)
        if not is_owner and here.receiver_id != player.pk:
            raise Forbidden("only the owner of {bot!r} can hand it on", bot=bot.slug)
        here.delete()
        word = "bot.offer_withdrawn" if is_owner else "bot.offer_declined"
        journal.append(word, f"bot:{bot.slug}", now=clock.now_or(now), actor=player.name)


def accept(bot: Bot, *, player: Player, now: datetime | None = None) -> None:
    """Take over a bot that its owner has offered to the player. Raise Refused or TooMany.

    The bot stays in its team only if the player is in that team, too.
    """
    now = clock.now_or(now)
    with transaction.atomic():
        teams.lock_people([bot], player)  # Players are locked before bots.
        row = _lock(bot)
        here = BotOffer.objects.filter(bot=row, receiver=player).first()
        if here is None:
            raise Refused("nobody offers you {bot!r}; the owner may have withdrawn the offer", bot=bot.slug)
        _check_movable(row)
        quotas.ask(player, quotas.BOTS, now=now)
        packages = Package.objects.filter(versions__bot=row).distinct()
        quotas.ask(player, quotas.BYTES, packages.aggregate(n=Sum("size"))["n"] or 0, now=now)
        teams.check_apart([row], [player.pk], now)
        former = row.owner
        here.delete()
        stays = row.team is not None and row.team.members.filter(player=player, since__isnull=False).exists()
        former_team = None if stays else row.team
        Bot.objects.filter(pk=row.pk).update(owner=player)
        row.owner = player
        ownership.count_former(row, former.pk, now=now)
        teams.set_team(row, row.team if stays else None, now, former=former_team, actor=player.name)
        journal.append(ownership.HANDED_ON, f"bot:{bot.slug}", now=now, actor=player.name, was=former.name)
    bot.refresh_from_db()


def _lock(bot: Bot) -> Bot:
    return Bot.objects.select_for_update(of=("self",)).select_related("owner", "team").get(pk=bot.pk)


def _check_movable(bot: Bot) -> None:
    """Raise Refused for a bot that an operator has stopped, and for one that is retired or being validated."""
    if bot.is_house:
        raise Refused("house bots stay with the house")
    if bot.stopped is not None or bot.owner_banned:
        raise Refused("an operator has paused the bot {bot!r}, so it stays with its owner", bot=bot.slug)
    if bot.state == BotState.RETIRED:
        raise Refused("{bot!r} is retired, so it stays as it is", bot=bot.slug)
    if bot.versions.filter(status=VersionStatus.VALIDATING).exists():
        raise Refused("a version of {bot!r} is being validated; wait until that is done", bot=bot.slug)
