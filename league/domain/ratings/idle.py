"""Idle bots: after a while without a match that counts, tables show them greyed out. Their ratings stay, since boards do not lose value with age."""

from __future__ import annotations

from datetime import datetime, timedelta

from league.domain.core import clock
from league.models import Rating

AFTER = timedelta(days=30)  # Time without a match that counts in the table.


def mark(*, now: datetime | None = None) -> int:
    """Mark the rows of versions without a match for AFTER; return their number. A version that plays again is unmarked at once."""
    return Rating.objects.filter(idle=False, played__lt=clock.now_or(now) - AFTER).update(idle=True)
