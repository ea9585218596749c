"""Bans: nobody is signed in as a banned player, and their bots are held back. What was played stays.

Accounts are closed by Django's `is_active`, which every way in asks: sessions, keys, links, the admin. Sessions and keys end for good, so that
none of them works again when the ban is over.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.contrib.auth.models import User
from django.db import transaction

from league.domain.core import clock, hints, journal
from league.domain.core.errors import Refused
from league.domain.people import players, sessions, tokens
from league.enums import MatchKind, MatchStatus
from league.models import Bot, Match, Player

LEAGUE = "league"  # ends the bans whose day has come


@dataclass(frozen=True)
class Ended:
    """What a ban ended and holds back, in numbers."""

    sessions: int
    keys: int
    bots: int


def ban(
    player: Player, *, until: datetime | None = None, why: str, actor: str, now: datetime | None = None
) -> Ended | None:
    """Shut a player out until then, or for good. A ban in force gets the new end and reason; None where it has them already.

    Raises Refused for the house, for operators, whose role is taken first, and for an end that has passed.
    """
    now = clock.now_or(now)
    with transaction.atomic():
        players.lock(player.pk)
        row = Player.objects.select_related("user").get(pk=player.pk)
        _check(row, until, now)
        if row.banned and (row.banned_until, row.banned_for) == (until, why):
            return None
        Player.objects.filter(pk=row.pk).update(banned=row.banned or now, banned_until=until, banned_for=why)
        User.objects.filter(pk=row.user_id).update(is_active=False)
        found = Ended(
            sessions=sessions.end(row.user_id, now=now),
            keys=_end_keys(row, actor, now),
            bots=Bot.objects.filter(owner=row).update(owner_banned=True),
        )
        # Texts are no bots, so nothing else holds them back; one that is being tried has its seconds
        Match.work.filter(kind=MatchKind.TRY, owner=row, status=MatchStatus.QUEUED).delete()
        told = {"until": until.isoformat()} if until else {}
        journal.append("player.banned", f"player:{row.name}", now=now, actor=actor, why=why, **told)
    player.refresh_from_db()
    return found


def _check(player: Player, until: datetime | None, now: datetime) -> None:
    if player.name == players.HOUSE:
        raise Refused("the house is nobody who could be banned; pause its bots one by one")
    if player.user.is_staff or player.user.is_superuser:
        raise Refused(
            "{name} is an operator; take the role first: manage.py permit {name} staff --take --why ...",
            name=player.name,
        )
    if until is not None and until <= now:
        raise Refused("the end of a ban lies ahead, and {until} does not", until=until.isoformat())


def _end_keys(player: Player, actor: str, now: datetime) -> int:
    keys = list(tokens.live(player, now=now))
    for key in keys:
        tokens.revoke(key, now=now, actor=actor)
    return len(keys)


def lift(player: Player, *, why: str, actor: str, now: datetime | None = None) -> bool:
    """Let a banned player sign in again, and their bots play. Whether there was a ban."""
    now = clock.now_or(now)
    with transaction.atomic():
        players.lock(player.pk)
        ended = Player.objects.filter(pk=player.pk, banned__isnull=False)
        if not ended.update(banned=None, banned_until=None, banned_for=""):
            return False
        # What began while the ban was being made was of no use until now, and stays so
        _end_keys(player, actor, now)
        sessions.end(player.user_id, now=now)
        User.objects.filter(pk=player.user_id).update(is_active=True)
        Bot.objects.filter(owner=player).update(owner_banned=False)
        journal.append("player.unbanned", f"player:{player.name}", now=now, actor=actor, why=why)
        hints.matches_wait()
    player.refresh_from_db()
    return True


def end_over(*, now: datetime | None = None) -> int:
    """End the bans whose end has come; their number."""
    now = clock.now_or(now)
    over = Player.objects.filter(banned_until__lte=now).order_by("pk")
    return sum(lift(player, why="its end has come", actor=LEAGUE, now=now) for player in over)


def reason(name: str, password: str) -> Refused | None:
    """What who knows the password of a banned account is told at the door; None for everybody else. One query, and the hashing of a password."""
    player = Player.objects.select_related("user").filter(user__username=name, banned__isnull=False).first()
    if player is None or not player.user.check_password(password):
        return None
    if player.banned_until is None:
        return Refused(
            "The operators have banned this account for good: {why}. Its results stay. If you think that they are wrong, write to them",
            why=player.banned_for,
        )
    return Refused(
        "The operators have banned this account until {until} UTC: {why}. Its results stay. If you think that they are wrong, write to them",
        why=player.banned_for,
        until=f"{player.banned_until:%Y-%m-%d %H:%M}",
    )
