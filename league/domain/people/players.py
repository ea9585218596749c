"""Players: people with an account."""

from __future__ import annotations

import re
from datetime import datetime

from django.contrib.auth import get_user_model
from django.contrib.auth.models import User
from django.db import transaction

from league.domain.core import clock, journal, names, search_words
from league.domain.core.errors import Refused
from league.models import Player

HOUSE = "house"  # The owner of the house bots.
CLOSED = "gone-"  # The names of closed accounts begin with this (league.domain.bots.closing).
RESERVED = frozenset({HOUSE, "admin", "league", "new", "api", "me"})
NAME = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?")


def check_name(name: str, *, reserved: bool = False) -> None:
    """Raise Refused if a new player cannot have this name. `reserved`: names of the league itself are allowed. Two queries."""
    if not NAME.fullmatch(name):
        raise Refused(
            "An account name has 1 to 40 small letters (a to z), digits and hyphens, such as ana-1, so “{name}” cannot be used.",
            name=name,
        )
    if not reserved and (
        name.startswith(CLOSED) or any(names.alike(name, reserved_name) for reserved_name in RESERVED)
    ):
        raise Refused("the name {name!r} is reserved; choose another", name=name)
    if get_user_model().objects.filter(username=name).exists() or Player.objects.filter(name=name).exists():
        raise Refused("the name {name!r} is taken; choose another", name=name)


def create(
    name: str,
    *,
    password: str | None = None,
    email: str = "",
    staff: bool = False,
    reserved: bool = False,
    now: datetime | None = None,
) -> Player:
    """Create a player with an account. Without a password nobody can log in until one is set. `staff`: may look at everything.

    Raise Refused if the name is taken, reserved, or not 1 to 40 of a-z, 0-9 and inner hyphens.
    """
    now = clock.now_or(now)
    users = get_user_model()
    with transaction.atomic():
        check_name(name, reserved=reserved)
        names.take(names.PLAYER, name, holder=f"player:{name}")
        if users.objects.filter(username=name).exists():  # Somebody signed up in the meantime.
            raise Refused("the name {name!r} is taken; choose another", name=name)
        user = users.objects.create_user(name, email=email, password=password, is_staff=staff)
        player = Player.objects.create(user=user, name=name, created=now)
        search_words.put(player, name)
        journal.append("player.created", f"player:{name}", now=now, actor=name)
    return player


def lock(*player_ids: int) -> None:
    """Lock players until the end of the transaction, so that only one process at a time adds to a player's queue and quotas.

    All are locked at once, by id, so that two transactions cannot deadlock.
    """
    list(Player.objects.select_for_update(no_key=True).filter(pk__in=player_ids).order_by("pk").values_list("pk"))


def refuse_banned(player: Player) -> None:
    """Raise Refused if an account is banned. The caller has locked it, because the request may have begun before the ban. One query."""
    if Player.objects.filter(pk=player.pk, banned__isnull=False).exists():
        raise Refused("This account is banned, so it cannot do this.")


def player_of_user(user: User, *, now: datetime | None = None) -> Player:
    """Return the player of a logged-in account. Create the player if an operator created the account by hand."""
    player: Player | None = getattr(user, "player", None)  # The relation raises an AttributeError if there is none.
    if player is not None:
        return player
    name = re.sub(r"[^a-z0-9]+", "-", user.get_username().lower()).strip("-")[:40].strip("-") or f"player-{user.pk}"
    if not names.is_free(names.PLAYER, name):
        name = f"{name[:30]}-{user.pk}"
    names.take(names.PLAYER, name, holder=f"player:{name}")
    player, _ = Player.objects.get_or_create(user=user, defaults={"name": name, "created": clock.now_or(now)})
    search_words.put(player, player.name)
    return player
