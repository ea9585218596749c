"""New passwords. Setting one, in whatever way, ends the sessions and keys of the account and informs its owner."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models.signals import post_save
from django.dispatch import receiver

from league.domain.core import clock, journal
from league.domain.people import sessions, tokens
from league.models import LeagueEvent, Player

SET = "player.password_set"  # The kind of the journal's line.
OPERATOR = "operator"  # The actor's name for somebody at the machine.


def set_password(player: Player, password: str, *, actor: str, now: datetime | None = None) -> None:
    """Set the password of an account. If `actor` is not the owner, the owner is informed."""
    with transaction.atomic():
        player.user.set_password(password)
        sign(player.user, actor, now=now)
        player.user.save(update_fields=["password"])


def sign(user: User, actor: str, *, now: datetime | None = None) -> None:
    """Record who sets the password that `user` is about to be saved with. Without this call, an operator counts as the actor."""
    user._password_set = (actor, now)  # type: ignore[attr-defined]


@receiver(post_save, sender=get_user_model(), dispatch_uid="league.password_set")
def _end_what_it_let_in(instance: User, created: bool, **kwargs: Any) -> None:
    """End the sessions and keys of an account whose password was set, and add a line to the journal.

    Django sets passwords in many places, such as commands and forms. Each saves the account with the new password in `_password`, which is empty if
    a login only upgrades the hash.
    """
    if created or getattr(instance, "_password", None) is None:
        return
    actor, now = vars(instance).pop("_password_set", (OPERATOR, None))
    player = Player.objects.filter(user=instance).first()
    if player is None:
        return
    now = clock.now_or(now)
    with transaction.atomic():
        keys = list(player.tokens.filter(revoked=None))
        for key in keys:
            tokens.revoke(key, now=now, actor=actor)
        ended = sessions.end(instance.pk, now=now)
        # Whoever lost the password may have lost the account: only its owner's own change keeps the passkeys.
        passkeys = 0 if actor == player.name else player.passkeys.all().delete()[0]
        facts = {"keys": len(keys), "sessions": ended} | ({"passkeys": passkeys} if passkeys else {})
        journal.append(SET, f"player:{player.name}", now=now, actor=actor, **facts)


def set_by_another(player: Player) -> LeagueEvent | None:
    """Return the event that set the password last, if its actor was not the owner. One query."""
    last = LeagueEvent.objects.filter(subject=f"player:{player.name}", kind=SET).order_by("-id").first()
    return last if last is not None and last.actor != player.name else None
