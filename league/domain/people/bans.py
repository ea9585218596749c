"""Bans: a banned player cannot sign in. Their bots enter nothing more, and play only what has begun in tournaments. Results stay.

So nobody waits for a banned player, and nobody gains or loses points by a ban: opponents get the matches that were drawn.

A ban sets Django's `is_active` to False, which sessions, keys, links and the admin all check. It ends sessions and keys for good: they do not work
again when the ban ends.
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

LEAGUE = "league"  # The actor that ends bans when their time is up.


@dataclass(frozen=True)
class BanEffects:
    """The numbers of sessions and keys that a ban ended, and of bots that it stopped."""

    sessions: int
    keys: int
    bots: int


def ban(
    player: Player, *, until: datetime | None = None, why: str, actor: str, now: datetime | None = None
) -> BanEffects | None:
    """Ban a player until `until`, or permanently. A ban in force gets the new end and reason; return None if it has these already.

    Raise Refused for the house, for an operator (whose role must be revoked first), and for an end in the past.
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
        ended = BanEffects(
            sessions=sessions.end(row.user_id, now=now),
            keys=_end_keys(row, actor, now),
            bots=Bot.objects.filter(owner=row).update(owner_banned=True),
        )
        # No other code stops tries, which belong to no bot. A running one may finish within seconds.
        Match.work.filter(kind=MatchKind.TRY, owner=row, status=MatchStatus.QUEUED).delete()
        details = {"until": until.isoformat()} if until else {}
        journal.append("player.banned", f"player:{row.name}", now=now, actor=actor, why=why, **details)
    player.refresh_from_db()
    return ended


def _check(player: Player, until: datetime | None, now: datetime) -> None:
    if player.name == players.HOUSE:
        raise Refused("the house cannot be banned; pause its bots one by one")
    if player.user.is_staff or player.user.is_superuser:
        raise Refused(
            "{name} is an operator; take the role first: manage.py permit {name} staff --take --why ...",
            name=player.name,
        )
    if until is not None and until <= now:
        raise Refused("a ban must end in the future; {until} has passed", until=until.isoformat())


def _end_keys(player: Player, actor: str, now: datetime) -> int:
    keys = list(tokens.live(player, now=now))
    for key in keys:
        tokens.revoke(key, now=now, actor=actor)
    return len(keys)


def lift(player: Player, *, why: str, actor: str, now: datetime | None = None) -> bool:
    """End a ban, so that the player can sign in and their bots play again; return False if there was none."""
    now = clock.now_or(now)
    with transaction.atomic():
        players.lock(player.pk)
        ended = Player.objects.filter(pk=player.pk, banned__isnull=False)
        if not ended.update(banned=None, banned_until=None, banned_for=""):
            return False
        # Sessions and keys created while the ban was being written never worked, and end as well.
        _end_keys(player, actor, now)
        sessions.end(player.user_id, now=now)
        User.objects.filter(pk=player.user_id).update(is_active=True)
        Bot.objects.filter(owner=player).update(owner_banned=False)
        journal.append("player.unbanned", f"player:{player.name}", now=now, actor=actor, why=why)
        hints.matches_wait()
    player.refresh_from_db()
    return True


def end_over(*, now: datetime | None = None) -> int:
    """End the bans whose time is up; return their number."""
    now = clock.now_or(now)
    expired = Player.objects.filter(banned_until__lte=now).order_by("pk")
    return sum(lift(player, why="its time is up", actor=LEAGUE, now=now) for player in expired)


def reason(name: str, password: str) -> Refused | None:
    """Return the message to a banned player if the password is right, else None. One query, and the hashing of a password."""
    player = Player.objects.select_related("user").filter(user__username=name, banned__isnull=False).first()
    return refusal(player) if player is not None and player.user.check_password(password) else None


def refusal(player: Player) -> Refused:
    """Return the message to a banned player who has shown who they are."""
    if player.banned_until is None:
        return Refused(
            "The operators have banned this account permanently: {why}. Its results stay. If you think that this is a mistake, write to them",
            why=player.banned_for,
        )
    return Refused(
        "The operators have banned this account until {until} UTC: {why}. Its results stay. If you think that this is a mistake, write to them",
        why=player.banned_for,
        until=f"{player.banned_until:%Y-%m-%d %H:%M}",
    )
