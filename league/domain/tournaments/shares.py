"""Shares: how many bots, and how many times, a player may enter in somebody else's contest, so that nobody can fill it or flood its journal.

The owner of a contest has no such limit. `booking.room` limits the number of all its bots.
"""

from __future__ import annotations

from datetime import datetime

from django.conf import settings

from league.domain.bots import consent
from league.domain.core import journal
from league.domain.core.errors import Refused, TooMany
from league.models import BotVersion, Player, Tournament

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


def check_left(ladder: Tournament, version: BotVersion, player: Player) -> None:
    """Check that a player has not used up a ladder's places by withdrawing versions other than this one. Raise Refused."""
    rows = ladder.entries.filter(version__bot__owner=player, withdrawn__isnull=False).exclude(version=version)
    if player.pk != ladder.owner_id and rows.count() >= MOST_LEFT:
        raise Refused(
            "You have withdrawn {count} versions from {tournament!r}, which keeps a place for each. Let one of them return.",
            count=MOST_LEFT,
            tournament=ladder.name,
        )


def check(contest: consent.Occasion, player: Player, present: int, *, now: datetime) -> None:
    """Check that a player with `present` bots in a contest may enter one more; the caller has locked the contest. Raise Refused or TooMany."""
    if player.pk == contest.owner_id:
        return
    consent.check_welcome(contest, player)
    if present >= contest.per_player:
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
