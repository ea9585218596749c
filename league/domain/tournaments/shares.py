"""Shares: how many bots, and how many times, a player may enter in somebody else's contest, so that nobody can fill it or flood its journal.

The owner of a contest has no such limit. `booking.room` limits the number of all its bots.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.conf import settings
from django.db.models import QuerySet

from league.domain.bots import consent
from league.domain.core import journal
from league.domain.core.errors import Refused, TooMany
from league.domain.people import ownership, players
from league.models import Bot, BotVersion, Player, Tournament

ENTRIES = {
    "tournament": "tournament.entered",
    "event": "event.entered",
    "circuit": "circuit.joined",
}  # Kinds of journal lines.
MOST_A_DAY = 10  # Entries of one player in one contest in a day: a player may leave and come back, but not endlessly.

MOST_LEFT = (
    16  # Versions that a player may withdraw from a running ladder, which keeps the place of each for its return.
)


def checked(per_player: int) -> int:
    """Return the allowed number of bots of each player if it is valid. Raise Refused otherwise."""
    if type(per_player) is not int or not 1 <= per_player <= settings.MAX_ENTRIES:
        raise Refused("a player may enter 1 to {most} bots, not {count!r}", most=settings.MAX_ENTRIES, count=per_player)
    return per_player


def check_left(ladder: Tournament, version: BotVersion, player: Player, *, now: datetime) -> None:
    """Check that its people have not used up a ladder's places by withdrawing versions other than this one. Raise Refused."""
    related = ownership.related_bots(version.bot, now=now)
    rows = ladder.entries.filter(version__bot__in=related, withdrawn__isnull=False).exclude(version=version)
    if player.pk != ladder.owner_id and rows.count() >= MOST_LEFT:
        raise Refused(
            "You have withdrawn {count} versions from {tournament!r}, which keeps a place for each. Let one of them return.",
            count=MOST_LEFT,
            tournament=ladder.name,
        )


def check(
    contest: consent.Occasion, player: Player, bot: Bot, entered: QuerySet[Any], path: str, *, now: datetime
) -> None:
    """Check that a player may enter a bot in a contest; the caller has locked the contest. Raise Refused or TooMany.

    entered: its entries, with their bots at `path`. All bots that belong to the same people count together.
    """
    if player.pk == contest.owner_id:
        return
    consent.check_welcome(contest, bot)
    players.lock(player.pk, *ownership.people_of([bot], now=now)[bot.pk])
    related = ownership.related_bots(bot, now=now)
    if entered.filter(**{f"{path}__in": related}).count() >= contest.per_player:
        raise Refused(
            "You have entered as many bots in {tournament!r} as a player may ({most}). Withdraw one first.",
            tournament=contest.name,
            most=contest.per_player,
        )
    kinds = [ENTRIES[consent.kind(contest)]]
    again = journal.again_at(consent.place(contest), kinds, player.name, MOST_A_DAY, now=now)
    if again is not None:
        raise TooMany(
            "you have entered bots in {tournament!r} {count} times in the last day; enter again tomorrow",
            retry_after=max(1, int((again - now).total_seconds())),
            tournament=contest.name,
            count=MOST_A_DAY,
        )
