"""A password that was set, by whomever and on whichever way: it ends what it let in, and is no secret from its owner."""

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

SET = "player.password_set"
OPERATOR = "operator"  # whoever has the machine


def set_password(player: Player, password: str, *, actor: str, now: datetime | None = None) -> None:
    """Give an account another password. Who is not its owner does it in the owner's sight."""
    with transaction.atomic():
        player.user.set_password(password)
        sign(player.user, actor, now=now)
        player.user.save(update_fields=["password"])


def sign(user: User, actor: str, *, now: datetime | None = None) -> None:
    """Say who sets the password that `user` is about to be saved with. Of whom nobody says it, an operator did."""
    user._password_set = (actor, now)  # type: ignore[attr-defined]


@receiver(post_save, sender=get_user_model(), dispatch_uid="league.password_set")
def _end_what_it_let_in(instance: User, created: bool, **kwargs: Any) -> None:
    """End the sessions and keys of an account whose password was set, and note it.

    Django sets passwords in many places: its commands, its forms. Each saves the account, and holds the new password until then; where
    a hash is only made anew at a login, it does not.
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
        journal.append(SET, f"player:{player.name}", now=now, actor=actor, keys=len(keys), sessions=ended)


def set_by_another(player: Player) -> LeagueEvent | None:
    """When the password of `player` was set last, if that was somebody else; None once the owner has set it. One query."""
    last = LeagueEvent.objects.filter(subject=f"player:{player.name}", kind=SET).order_by("-id").first()
    return last if last is not None and last.actor != player.name else None
