"""The schedulers, as they report themselves: a scheduler is well when it has put the queue right of late."""

from __future__ import annotations

from datetime import datetime, timedelta

from league.domain.core import clock
from league.domain.core.loops import Loops
from league.models import Scheduler
from league.service import version

FORGOTTEN = timedelta(days=7)


def register(name: str, *, now: datetime | None = None) -> None:
    """Note that a scheduler has started."""
    now = clock.now_or(now)
    Scheduler.objects.filter(seen__lt=now - FORGOTTEN).delete()
    fresh = {"started": now, "seen": now, "errors": {}, "trouble": "", "broker": "", "commit": version.commit() or ""}
    Scheduler.objects.update_or_create(name=name, defaults=fresh)


def note(name: str, loops: Loops, *, done: datetime) -> None:
    """Tell of its loops; it came round last when it was `done`."""
    told = {"errors": dict(loops.errors), "trouble": loops.trouble, "broker": loops.broker}
    Scheduler.objects.filter(name=name).update(seen=done, **told)


def last_round() -> datetime | None:
    """When a scheduler put the queue right last; None where there is none."""
    return Scheduler.objects.order_by("-seen").values_list("seen", flat=True).first()
