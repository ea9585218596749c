"""Keys of volunteers: an operator creates one for a player. It is an API key that may do nothing but volunteer work."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Count, F, Q, QuerySet

from league.domain.core.errors import Forbidden
from league.domain.people import tokens
from league.enums import TokenScope
from league.models import ApiToken, Player, Volunteer


def create(player: Player, label: str, *, actor: str, now: datetime | None = None) -> tuple[Volunteer, str]:
    """Create a key of `player`. Return its row and the key, which is stored nowhere. Raise Refused."""
    with transaction.atomic():
        token, key = tokens.create(
            player, label, scope=TokenScope.VOLUNTEER, scopes=(TokenScope.VOLUNTEER,), actor=actor, now=now
        )
        return Volunteer.objects.create(token=token), key


def of_token(token: ApiToken | None) -> Volunteer:
    """Return the volunteer with this key. Raise Forbidden if it is not a key of a volunteer."""
    row = Volunteer.objects.select_related("token__player").filter(token=token).first() if token else None
    if row is None:
        raise Forbidden("only the key of a volunteer may do this; ask an operator of this league for one")
    return row


def end(volunteer: Volunteer, *, actor: str, now: datetime | None = None) -> None:
    """Revoke a key and remove its row. Workers repeat its unconfirmed results; the journal says why a key was shut out."""
    with transaction.atomic():
        tokens.revoke(volunteer.token, now=now, actor=actor)
        volunteer.delete()


def listed() -> QuerySet[Any]:
    """Select the keys for the page of operators: shut out first, then the newest. `held`: results that wait for confirmation."""
    rows = Volunteer.objects.select_related("token__player").filter(Q(token__revoked=None) | Q(shut_out__isnull=False))
    return rows.annotate(held=Count("tasks__reported")).order_by(F("shut_out").desc(nulls_last=True), "-token")


def shut_out() -> QuerySet[Volunteer]:
    """Select the keys that were shut out, until an operator removes them."""
    return Volunteer.objects.filter(shut_out__isnull=False)
