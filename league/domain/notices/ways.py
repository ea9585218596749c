"""The ways by which a player wants notices: by kind, never, on the site, in the digest or by mail at once."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime

from django.db import transaction

from league.domain.core import clock, journal
from league.domain.core.errors import Refused
from league.domain.notices.kinds import DEFAULTS
from league.domain.people import players, subscriptions
from league.enums import NoticeKind, NoticeWay
from league.models import Notice, NoticeChoice, Player, Subscription


def chosen(of_players: Collection[int], kinds: Collection[NoticeKind]) -> dict[tuple[int, NoticeKind], NoticeWay]:
    """Return the way for each of these players and kinds. One query."""
    rows = NoticeChoice.objects.filter(player__in=of_players, kind__in=kinds)
    stored = {(player, kind): NoticeWay(way) for player, kind, way in rows.values_list("player", "kind", "way")}
    return {(player, kind): stored.get((player, kind), DEFAULTS[kind]) for player in of_players for kind in kinds}


def ways_of(player: Player) -> dict[NoticeKind, NoticeWay]:
    """Return the player's way for each kind. One query."""
    return {kind: way for (_player, kind), way in chosen([player.pk], list(NoticeKind)).items()}


def choose(player: Player, choices: Mapping[str, str], *, actor: str = "", now: datetime | None = None) -> None:
    """Set the ways of some kinds. Letters that are due of a kind that has another way now are not sent. Raise Refused for unknown words."""
    now = clock.now_or(now)
    if not (choices.keys() <= set(NoticeKind.values) and set(choices.values()) <= set(NoticeWay.values)):
        raise Refused("this choice does not exist; choose one from the list")
    with transaction.atomic():
        players.lock(player.pk)
        for kind, way in choices.items():
            NoticeChoice.objects.update_or_create(player=player, kind=kind, defaults={"way": way})
        no_letters = [kind for kind, way in choices.items() if way != NoticeWay.ONCE]
        Notice.objects.filter(player=player, kind__in=no_letters, due__isnull=False).update(due=None)
        journal.append(
            "player.notices_chosen", f"player:{player.name}", now=now, actor=actor or player.name, ways=dict(choices)
        )


def stop(word: str, *, now: datetime | None = None) -> Subscription | None:
    """End what the link in a letter names: the digest, or letters of one kind, which stay on the site. Return None if it is invalid. Repeatable."""
    row = subscriptions.to_stop(word)
    if row is None:
        return None
    kind = subscriptions.kind_in(word)
    if not kind:
        return subscriptions.stop(word, now=now)
    if ways_of(row.player)[NoticeKind(kind)] == NoticeWay.ONCE:
        choose(row.player, {kind: NoticeWay.SITE}, actor="link", now=now)
    return row
