"""Shares: what a player may take of a contest of somebody else, so that nobody can fill it alone or wear it out.

The owner of a contest has no share: they enter the bots they want. `booking.room` says how many bots a contest takes in all.
"""

from __future__ import annotations

from datetime import datetime

from django.conf import settings

from league.domain.bots import consent
from league.domain.core import journal
from league.domain.core.errors import Refused, TooMany
from league.models import Player

ENTRIES = {
    "tournament": "tournament.entered",
    "event": "event.entered",
    "circuit": "circuit.joined",
}  # Lines of the journal.
MOST_A_DAY = 10  # Entries of one player in one contest: who leaves may come back, but not in a loop.


def checked(per_player: int) -> int:
    """Return a number of bots of each player if a contest may take it. Raise Refused otherwise."""
    if type(per_player) is not int or not 1 <= per_player <= settings.MAX_ENTRIES:
        raise Refused("a player may enter 1 to {most} bots, not {count!r}", most=settings.MAX_ENTRIES, count=per_player)
    return per_player


def check(contest: consent.Occasion, player: Player, present: int, *, now: datetime) -> None:
    """Check that a player with `present` bots in a contest may enter one more, with the contest locked. Raise Refused or TooMany."""
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
