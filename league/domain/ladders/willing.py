"""Condition for bots that may be drawn for the standing ladders."""

from __future__ import annotations

from django.db.models import Q

from league.enums import BotState, EntryPolicy


def willing(prefix: str = "bot__") -> Q:
    """Return the condition that the bot at `prefix` may be drawn: not paused or banned, and with an owner who allows ladders."""
    policy = Q(**{f"{prefix}is_house": True}) | Q(
        **{f"{prefix}entry_policy__in": [EntryPolicy.USUAL, EntryPolicy.ANYBODY]}
    )
    free = {"on_ladders": True, "state": BotState.ACTIVE, "stopped": None, "owner_banned": False, "held_until": None}
    return policy & Q(**{f"{prefix}{name}": value for name, value in free.items()})
