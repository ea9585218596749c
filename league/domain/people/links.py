"""Links to set a new password. Each works once, for an hour, and not after the next login."""

from __future__ import annotations

from datetime import datetime

from django.contrib.auth import get_user_model
from django.contrib.auth.tokens import default_token_generator
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import transaction
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode

from league.domain.core import clock, journal
from league.domain.core.errors import Refused
from league.domain.people import players, subscriptions
from league.models import Player


def make(player: Player, *, actor: str, now: datetime | None = None) -> tuple[str, str]:
    """Return the two parts of a new link: account and proof. The journal records who requested it; the proof is not stored.

    Raise Refused for a closed account, because a new password would not open it.
    """
    if not player.user.is_active:
        raise Refused("the account of {name} is closed; open it first", name=player.name)
    journal.append("player.link_made", f"player:{player.name}", now=clock.now_or(now), actor=actor)
    return urlsafe_base64_encode(force_bytes(player.user.pk)), default_token_generator.make_token(player.user)


def find_recipient(name: str) -> Player | None:
    """Return the player with this name if the account is open and its address may receive mail."""
    player = Player.objects.select_related("user").filter(name=name.strip().lower()[:40]).first()
    if player is None or not player.user.is_active or not player.user.email:
        return None
    return player if subscriptions.may_be_written_to(player) else None


def note_unsent(player: Player) -> None:
    """Record for operators that the mail server did not take a letter with a link."""
    journal.append("mail.failed", f"player:{player.name}", now=clock.present())


def keep_address(player: Player, address: str, *, now: datetime | None = None) -> None:
    """Set the mail address of an account ("" removes it); earlier links become void.

    Only the player sees the address; it still has to be confirmed. Raise Refused if it is not an address.
    """
    try:
        if address:
            validate_email(address)
    except ValidationError:
        raise Refused("{address!r} is not a mail address", address=address[:60]) from None
    with transaction.atomic():
        players.lock(player.pk)
        get_user_model().objects.filter(pk=player.user_id).update(email=address[:254])
        subscriptions.take_address(player, address[:254])
        journal.append(
            "player.mail_kept" if address else "player.mail_removed",
            f"player:{player.name}",
            now=clock.now_or(now),
            actor=player.name,
        )
