"""Keys of volunteers: an operator creates one for a player. It is an API key that may do nothing but volunteer work."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction
from django.db.models import Count, Q, QuerySet

from league.domain.core.errors import Forbidden
from league.domain.people import tokens
from league.enums import TokenScope
from league.models import ApiToken, Player, Volunteer

MOST_LISTED = 200


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


def listed() -> QuerySet[Volunteer]:
    """Select the keys for the page of operators: shut out first, then the newest. `open`, `held`: their unreported and unconfirmed tasks."""
    rows = Volunteer.objects.select_related("token__player").filter(Q(token__revoked=None) | Q(shut_out__isnull=False))
    counts = {"open": Count("tasks", filter=Q(tasks__reported=None)), "held": Count("tasks__reported")}
    return rows.annotate(**counts).order_by("-shut_out", "-token")[:MOST_LISTED]
