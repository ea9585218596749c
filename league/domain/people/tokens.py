"""Keys for the REST API: shown once, stored as a hash, revocable, for a scope and for a time."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.db.models import Q, QuerySet

from league.domain.core import clock, journal
from league.domain.core.errors import Refused
from league.domain.core.prepared import Prepared
from league.enums import TokenScope
from league.models import ApiToken, LeagueEvent, Player

PREFIX = "tute_"
MOST = 20  # live keys of one player
MOST_DAYS = 3650  # of a key that expires
SEEN_EVERY = timedelta(minutes=5)  # `last_used` is no finer than this: one write per key and five minutes


class Viewer(NamedTuple):
    """An account that reads, without its row."""

    pk: int
    is_staff: bool


def _digest(key: str) -> str:
    # The key has 256 random bits, so a plain hash is enough: there is nothing to guess.
    return hashlib.sha256(key.encode()).hexdigest()


def live(player: Player, *, now: datetime | None = None) -> QuerySet[ApiToken]:
    """The keys of `player` that are neither revoked nor expired."""
    return player.tokens.filter(Q(expires=None) | Q(expires__gt=clock.now_or(now)), revoked=None)


def create(
    player: Player,
    label: str,
    *,
    scope: str = TokenScope.MANAGE,
    days: int | None = None,
    actor: str = "",
    now: datetime | None = None,
) -> tuple[ApiToken, str]:
    """A new key of `player`, for so many days or for ever: the row and the key itself, which is not kept anywhere.

    actor: who makes it, where that is not `player`, who is told so (`made_by_others`).
    """
    now = clock.now_or(now)
    label = label.strip()
    if not 1 <= len(label) <= 60 or not label.isprintable():
        raise Refused(
            "a token needs a label of 1 to 60 characters that tells you later what it is for, such as: laptop"
        )
    if scope not in TokenScope:
        raise Refused("there is no scope {scope!r}; choose one of {there}", scope=scope, there=", ".join(TokenScope))
    if days is not None and not 1 <= days <= MOST_DAYS:
        raise Refused("a token is valid for 1 to {most} days, or for ever", most=MOST_DAYS)
    if live(player, now=now).count() >= MOST:
        raise Refused("you have {most} tokens; revoke one that you no longer use first", most=MOST)
    key = PREFIX + secrets.token_urlsafe(32)
    token = ApiToken.objects.create(
        player=player,
        label=label,
        prefix=key[len(PREFIX) :][:8],
        sha256=_digest(key),
        created=now,
        scope=scope,
        expires=now + timedelta(days=days) if days else None,
    )
    facts = {"label": label, "prefix": token.prefix, "scope": str(token.scope)}
    facts |= {"expires": token.expires.isoformat()} if token.expires else {}
    journal.append("token.created", f"player:{player.name}", now=now, actor=actor or player.name, **facts)
    return token, key


def made_by_others(player: Player, *, now: datetime | None = None) -> list[str]:
    """The beginnings of the live keys that somebody else has made for `player`. Two queries."""
    made = LeagueEvent.objects.filter(subject=f"player:{player.name}", kind="token.created").exclude(actor=player.name)
    begin = {facts["prefix"] for facts in made.values_list("data", flat=True)}
    return sorted(begin & set(live(player, now=now).values_list("prefix", flat=True)))


def authenticate(key: str, *, now: datetime | None = None) -> ApiToken | None:
    """The live token of `key` with its player and account, or None."""
    now = clock.now_or(now)
    token = ApiToken.objects.select_related("player__user").filter(sha256=_digest(key), revoked=None).first()
    if token is None or not token.player.user.is_active or (token.expires and token.expires <= now):
        return None
    if token.last_used is None or now - token.last_used >= SEEN_EVERY:
        ApiToken.objects.filter(pk=token.pk).update(last_used=now)
    return token


def find_reader(key: str, *, now: datetime | None = None) -> Viewer | None:
    """The account of a live token that was used a moment ago, so that there is nothing to write. One query, which is planned already.

    Every scope may read. None tells nothing: `authenticate` knows.
    """
    now = clock.now_or(now)
    found = _READER.rows((), (_digest(key), now, now - SEEN_EVERY))
    return next((Viewer(int(pk), is_staff in (True, 1, "t")) for pk, is_staff in found), None)


def _reader(_shape: object, values: Sequence[Any]) -> QuerySet[Any, Any]:
    key, now, since = values
    rows = ApiToken.objects.filter(sha256=key, revoked=None, player__user__is_active=True, last_used__gt=since)
    rows = rows.filter(Q(expires=None) | Q(expires__gt=now))
    return rows.values_list("player__user", "player__user__is_staff")


_READER = Prepared(_reader)


def revoke(token: ApiToken, *, now: datetime | None = None, actor: str = "") -> None:
    """End `token`. Doing it again changes nothing."""
    now = clock.now_or(now)
    if ApiToken.objects.filter(pk=token.pk, revoked=None).update(revoked=now):
        journal.append(
            "token.revoked",
            f"player:{token.player.name}",
            now=now,
            actor=actor or token.player.name,
            prefix=token.prefix,
        )
