"""Idle bots: after a while without a match that counts, tables show them greyed out. Their ratings stay, since boards do not lose value with age."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import F, Max, OuterRef, Q, Subquery
from django.db.models.functions import Coalesce

from league.domain.core import clock
from league.enums import MatchStatus
from league.models import Party, Pool, Rating

AFTER = timedelta(days=30)  # Time without a match that counts in the table.


def mark(*, now: datetime | None = None) -> int:
    """Mark the rows of versions without a match for AFTER; return their number. A version that plays again is unmarked at once.

    Rows of an earlier release do not say when their version last played; this function fills that in. It reads all rows once a day.
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
    # Counting a match takes the same lock, so none of the pool's rows is written in between.
    with transaction.atomic():
        Pool.objects.select_for_update(no_key=True).get(pk=pool_id)
        rows = Rating.objects.filter(pool=pool_id)
        rows.filter(played=None).update(played=Coalesce(Subquery(last.values("last")), F("updated")))
        return rows.filter(idle=False, played__lt=now - AFTER).update(idle=True)
