"""The schedulers, as they report themselves. A scheduler is healthy if it has reconciled the queue recently."""

from __future__ import annotations

from datetime import datetime, timedelta

from league.domain.core import clock
from league.domain.core.loops import Loops
from league.models import Scheduler
from league.service import version

FORGOTTEN = timedelta(days=7)


def register(name: str, *, now: datetime | None = None) -> None:
    """Record that a scheduler has started."""
    now = clock.now_or(now)
    Scheduler.objects.filter(seen__lt=now - FORGOTTEN).delete()
    fresh = {"started": now, "seen": now, "errors": {}, "trouble": "", "broker": "", "commit": version.commit() or ""}
    Scheduler.objects.update_or_create(name=name, defaults=fresh)


def note(name: str, loops: Loops, *, reconciled: datetime) -> None:
    """Record the state of a scheduler's loops, and when it last reconciled the queue."""
    state = {"errors": dict(loops.errors), "trouble": loops.trouble, "broker": loops.broker}
    Scheduler.objects.filter(name=name).update(seen=reconciled, **state)


def last_round() -> datetime | None:
    """Return when a scheduler last reconciled the queue; None if there is none."""
    return Scheduler.objects.order_by("-seen").values_list("seen", flat=True).first()
