"""Bots that have not played for long fade in the tables; their ratings stay, since boards do not age."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import F, Max, OuterRef, Q, Subquery
from django.db.models.functions import Coalesce

from league.domain.core import clock
from league.enums import MatchStatus
from league.models import Party, Pool, Rating

AFTER = timedelta(days=30)  # without a match that counts in the table


def mark(*, now: datetime | None = None) -> int:
    """Mark the rows of all tables whose version has not played since AFTER; how many there were. Whoever plays is not idle any more at once.

    Rows of an earlier release do not say when their version played: they learn it here first. One look at all rows, once a day.
    """
    now = clock.now_or(now)
    due = Q(idle=False) & (Q(played__lt=now - AFTER) | Q(played=None))
    pools = set(Rating.objects.filter(due).values_list("pool_id", flat=True).distinct())
    return sum(_mark(pool, now) for pool in sorted(pools))


def _mark(pool_id: int, now: datetime) -> int:
    last = (
        Party.objects.filter(version=OuterRef("version"), match__pool=pool_id, match__status=MatchStatus.FINISHED)
        .filter(match__rated=True, match__counted__isnull=False)
        .order_by()
        .values("version")
        .annotate(last=Max("match__finished"))
    )
    # The pool is locked as by who counts a match, so none of its rows is written in between
    with transaction.atomic():
        Pool.objects.select_for_update(no_key=True).get(pk=pool_id)
        rows = Rating.objects.filter(pool=pool_id)
        rows.filter(played=None).update(played=Coalesce(Subquery(last.values("last")), F("updated")))
        return rows.filter(idle=False, played__lt=now - AFTER).update(idle=True)
