"""Following: a player follows bots, players and contests, and gets notices of their news. The public sees only how many follow."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Count, Q, QuerySet

from league.domain.core import clock
from league.domain.core.errors import Refused
from league.domain.matches import sight
from league.domain.people import players
from league.models import Block, Bot, Circuit, Event, Follow, Player, Tournament

MOST = 500  # The most that one player follows.
# By the word in the address: the column of Follow, the model, and the column with the name.
TARGETS: dict[str, tuple[str, type[Any], str]] = {
    "bot": ("bot", Bot, "slug"),
    "player": ("person", Player, "name"),
    "tournament": ("tournament", Tournament, "slug"),
    "event": ("event", Event, "slug"),
    "circuit": ("circuit", Circuit, "slug"),
}
Target = Bot | Player | Tournament | Event | Circuit


def find(kind: str, name: str, player: Player) -> Target | None:
    """Return the row with this name that the player may see; None if there is none."""
    if kind not in TARGETS:
        return None
    _column, model, key = TARGETS[kind]
    rows: QuerySet[Any] = model.objects.filter(**{key: name})
    if model is Tournament:
        rows = sight.tournaments(rows, player.user)
    elif model is Event:
        rows = sight.events(rows, player.user)
    row: Target | None = rows.first()
    return row


def column_of(target: Target) -> str:
    """Return the column of Follow for a row of this kind."""
    return next(column for column, model, _key in TARGETS.values() if isinstance(target, model))


def count_followers(target: Target, player: Player | None) -> tuple[int, bool]:
    """Return the number of followers, and True if the player is one of them. One query, using the index."""
    rows = Follow.objects.filter(**{column_of(target): target})
    counts = rows.aggregate(all=Count("pk"), own=Count("pk", filter=Q(player=player and player.pk)))
    return counts["all"], bool(counts["own"])


def may_follow(player: Player, target: Target) -> bool:
    """Return False for what is the player's own, of which they hear anyway."""
    owner = target.pk if isinstance(target, Player) else target.owner_id
    return owner != player.pk or isinstance(target, Tournament | Event | Circuit)


def follow(player: Player, target: Target, *, now: datetime | None = None) -> None:
    """Follow a bot, player, tournament, event or recurring league. Repeatable.

    Raise Refused for one's own bots and oneself, if its owner has blocked the player, and above MOST.
    """
    if not may_follow(player, target):
        raise Refused("you get the notices about your own bots anyway")
    owner = target.pk if isinstance(target, Player) else target.owner_id
    with transaction.atomic():
        players.lock(player.pk)
        if Block.objects.filter(owner=owner, blocked=player).exists():
            raise Refused("this player has blocked you, so you cannot follow them or their bots")
        rows = Follow.objects.filter(player=player)
        if rows.filter(**{column_of(target): target}).exists():
            return
        if rows.count() >= MOST:
            raise Refused("you follow {most} already; stop following some first", most=MOST)
        Follow.objects.create(player=player, created=clock.now_or(now), **{column_of(target): target})


def unfollow(player: Player, target: Target) -> None:
    """Stop following. Repeatable."""
    Follow.objects.filter(player=player, **{column_of(target): target}).delete()


def follows_of(player: Player) -> QuerySet[Follow]:
    """Select what a player follows, with the rows themselves."""
    rows = player.follows.select_related("bot", "person", "tournament", "event", "circuit")
    return rows.defer("tournament__secret", "event__secret")
