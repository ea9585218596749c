"""Keys of the REST API: shown once, stored as a hash, with a scope and an optional end; revocable."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Sequence
from datetime import datetime, timedelta

from django.db.models import Q, QuerySet

from league.domain.core import clock, journal
from league.domain.core.errors import Refused
from league.enums import OWN_SCOPES, TokenScope
from league.models import ApiToken, LeagueEvent, Player

PREFIX = "tute_"
MOST = 20  # The most live keys of one player.
MOST_DAYS = 3650  # The longest life of a key that expires.
UNSEEN = timedelta(seconds=10)
SEEN_EVERY = timedelta(minutes=5)  # `last_used` is written at most this often.


def _digest(key: str) -> str:
    # A plain hash is enough: a key has 256 random bits, so it cannot be guessed.
    return hashlib.sha256(key.encode()).hexdigest()


def _checked(label: str) -> str:
    """Return the label without spaces at its ends. Raise Refused."""
    label = label.strip()
    if not 1 <= len(label) <= 60 or not label.isprintable():
        raise Refused("a token needs a label of 1 to 60 characters that says what it is for, such as: laptop")
    return label


def live(player: Player, *, now: datetime | None = None) -> QuerySet[ApiToken]:
    """Select the keys of `player` that are neither revoked nor expired."""
    return player.tokens.filter(Q(expires=None) | Q(expires__gt=clock.now_or(now)), revoked=None)


def create(
    player: Player,
    label: str,
    *,
    scope: str = TokenScope.MANAGE,
    scopes: Sequence[TokenScope] = OWN_SCOPES,
    days: int | None = None,
    actor: str = "",
    now: datetime | None = None,
) -> tuple[ApiToken, str]:
    """Create a key of `player` that expires after `days` (None: never). Return the row and the key, which is stored nowhere.

    scopes: those to choose from. actor: the name of the person who creates the key. If that is not `player`, the player is informed
    (`made_by_others`).
    """
    now = clock.now_or(now)
    label = _checked(label)
    if scope not in scopes:
        raise Refused("there is no scope {scope!r}; choose one of {scopes}", scope=scope, scopes=", ".join(scopes))
    if days is not None and not 1 <= days <= MOST_DAYS:
        raise Refused("a token is valid for 1 to {most} days, or forever", most=MOST_DAYS)
    if live(player, now=now).count() >= MOST:
        raise Refused("you have {most} tokens, which is the limit; revoke one that you no longer use", most=MOST)
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


def revoke_unseen(player: Player, label: str, scope: str) -> None:
    """Revoke keys with the same properties, created within UNSEEN and never used: their form was sent again before the page with the key arrived."""
    now = clock.present()
    unseen = live(player, now=now).filter(label=_checked(label), scope=scope, last_used=None, created__gt=now - UNSEEN)
    for token in unseen:
        revoke(token, now=now)


def made_by_others(player: Player) -> list[str]:
    """Return the prefixes of the live keys that somebody else created for `player`. Two queries."""
    created = LeagueEvent.objects.filter(subject=f"player:{player.name}", kind="token.created").exclude(
        actor=player.name
    )
    prefixes = {facts["prefix"] for facts in created.values_list("data", flat=True)}
    return sorted(prefixes & set(live(player).values_list("prefix", flat=True)))


def authenticate(key: str, *, now: datetime | None = None) -> ApiToken | None:
    """Return the live token of `key` with its player and account, or None."""
    now = clock.now_or(now)
    token = ApiToken.objects.select_related("player__user").filter(sha256=_digest(key), revoked=None).first()
    if token is None or not token.player.user.is_active or (token.expires and token.expires <= now):
        return None
    if token.last_used is None or now - token.last_used >= SEEN_EVERY:
        ApiToken.objects.filter(pk=token.pk).update(last_used=now)
    return token


def revoke(token: ApiToken, *, now: datetime | None = None, actor: str = "") -> None:
    """Revoke a key. Repeatable."""
    now = clock.now_or(now)
    if ApiToken.objects.filter(pk=token.pk, revoked=None).update(revoked=now):
        journal.append(
            "token.revoked",
            f"player:{token.player.name}",
            now=now,
            actor=actor or token.player.name,
            prefix=token.prefix,
        )
