"""Keys for the REST API: shown once, stored as a hash, revocable."""

from __future__ import annotations

import hashlib
import secrets
from datetime import datetime, timedelta

from league.domain.core import clock, journal
from league.domain.core.errors import Refused
from league.models import ApiToken, Player

PREFIX = "tute_"
MOST = 20  # live keys of one player
SEEN_EVERY = timedelta(minutes=5)  # `last_used` is no finer than this: one write per key and five minutes


def _digest(key: str) -> str:
    # The key has 256 random bits, so a plain hash is enough: there is nothing to guess.
    return hashlib.sha256(key.encode()).hexdigest()


def create(player: Player, label: str, *, now: datetime | None = None) -> tuple[ApiToken, str]:
    """A new key of `player`: the row and the key itself, which is not kept anywhere."""
    now = clock.given(now)
    label = label.strip()
    if not 1 <= len(label) <= 60 or not label.isprintable():
        raise Refused(
            "a token needs a label of 1 to 60 characters that tells you later what it is for, such as: laptop"
        )
    if player.tokens.filter(revoked=None).count() >= MOST:
        raise Refused("you have {most} tokens; revoke one that you no longer use first", most=MOST)
    key = PREFIX + secrets.token_urlsafe(32)
    token = ApiToken.objects.create(
        player=player, label=label, prefix=key[len(PREFIX) :][:8], sha256=_digest(key), created=now
    )
    journal.append(
        "token.created", f"player:{player.name}", now=now, actor=player.name, label=label, prefix=token.prefix
    )
    return token, key


def authenticate(key: str, *, now: datetime | None = None) -> ApiToken | None:
    """The live token of `key` with its player and account, or None."""
    now = clock.given(now)
    token = ApiToken.objects.select_related("player__user").filter(sha256=_digest(key), revoked=None).first()
    if token is None or not token.player.user.is_active:
        return None
    if token.last_used is None or now - token.last_used >= SEEN_EVERY:
        ApiToken.objects.filter(pk=token.pk).update(last_used=now)
    return token


def revoke(token: ApiToken, *, now: datetime | None = None, actor: str = "") -> None:
    """End `token`. Doing it again changes nothing."""
    now = clock.given(now)
    if ApiToken.objects.filter(pk=token.pk, revoked=None).update(revoked=now):
        journal.append(
            "token.revoked",
            f"player:{token.player.name}",
            now=now,
            actor=actor or token.player.name,
            prefix=token.prefix,
        )
