"""Links by which somebody who has lost the password sets another. Each is valid for an hour and once, and not after the next login."""

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
    """The two words of a link, account and proof. Who it is made by stands in the journal; the proof nowhere.

    Raises Refused for an account that is closed: no password would let it in.
    """
    if not player.user.is_active:
        raise Refused("the account of {name} is closed; open it first", name=player.name)
    journal.append("player.link_made", f"player:{player.name}", now=clock.now_or(now), actor=actor)
    return urlsafe_base64_encode(force_bytes(player.user.pk)), default_token_generator.make_token(player.user)


def by_mail(name: str) -> Player | None:
    """The player of a name whose account is open and has a mail address to which something may be sent."""
    found = Player.objects.select_related("user").filter(name=name.strip().lower()[:40]).first()
    if found is None or not found.user.is_active or not found.user.email:
        return None
    return found if subscriptions.may_be_written_to(found) else None


def keep_address(player: Player, address: str, *, now: datetime | None = None) -> None:
    """Keep the mail address of an account, "" for none; links that were made before are void. It is shown to nobody, and not confirmed.

    Raises Refused for what is no address.
    """
    try:
        if address:
            validate_email(address)
    except ValidationError:
        raise Refused("{address!r} is no mail address", address=address[:60]) from None
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
