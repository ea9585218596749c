"""Consent to the standing ladders, asked once: when the league draws a table. A table that is drawn is played, and its result counts.

So no owner can read the queue and refuse an opponent. A bot that its owner takes off the ladders, by whatever switch, is not drawn again before
AWAY has passed; so nobody waits for the right opponent either. What the league itself withholds is never played.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db.models import Q

from league.enums import BotState, EntryPolicy
from league.models import Bot

AWAY = timedelta(days=1)  # The shortest absence of a bot whose owner takes it off the ladders.


def willing(prefix: str = "bot__") -> Q:
    """Return the condition that the bot at `prefix` may be drawn: not paused or banned, and with an owner who allows ladders."""
    policy = Q(**{f"{prefix}is_house": True}) | Q(
        **{f"{prefix}entry_policy__in": [EntryPolicy.USUAL, EntryPolicy.ANYBODY]}
    )
    free = {
        "on_ladders": True,
        "in_class": False,
        "state": BotState.ACTIVE,
        "stopped": None,
        "owner_banned": False,
        "held_until": None,
        "away_until": None,
    }
    return policy & Q(**{f"{prefix}{name}": value for name, value in free.items()})


def withheld(prefix: str) -> Q:
    """Return the condition that the league itself has paused or stopped the bot at `prefix`, or banned its owner."""
    return (
        ~Q(**{f"{prefix}paused_for": ""})
        | Q(**{f"{prefix}stopped__isnull": False})
        | Q(**{f"{prefix}owner_banned": True})
    )


def note_leaving(bot: Bot, *, now: datetime) -> None:
    """Note that the owner takes the bot off the ladders, if it is on them. Call this before the change, in its transaction."""
    Bot.objects.filter(willing(""), pk=bot.pk).update(away_until=now + AWAY)


def end_absences(*, now: datetime) -> int:
    """End the absences that have lasted long enough; return the number of bots."""
    return Bot.objects.filter(away_until__lte=now).update(away_until=None)
