"""The reason why the standing ladder of a game has no match running now."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.conf import settings
from django.db.models import Count, Min, Q

from league.domain.bots.willing import willing
from league.domain.core import clock
from league.domain.ladders import drawing
from league.domain.matches import workers
from league.domain.ratings import pools
from league.models import Rung


@dataclass(frozen=True)
class Idle:
    """A reason: "off", "few" (bots), "worker" (none runs), "busy" (other matches come first) or "rest" (all bots rest until `until`).

    `bots`: number that may be drawn, house bots included; `need`: number that a table needs; `away`: number of entered bots that may not be drawn,
    because they are paused or their owners do not want ladders.
    """

    why: str
    bots: int = 0
    need: int = 0
    away: int = 0
    until: datetime | None = None


def why_idle(game: str, *, now: datetime | None = None) -> Idle | None:
    """Return why the ladder of a game draws no table now; None if it does. Four queries at most."""
    now = clock.now_or(now)
    if not settings.LADDERS:
        return Idle("off")
    rungs = Rung.objects.filter(game=game)
    free = willing()
    counted = rungs.aggregate(all=Count("pk"), free=Count("pk", filter=free), due=Min("due", filter=free))
    need = len(pools.load(game).sides)
    away = counted["all"] - counted["free"]
    if counted["free"] < need:
        return Idle("few", counted["free"], need, away)
    if not workers.count_able(now=now):
        return Idle("worker", counted["free"], need, away)
    if counted["due"] > now and not rungs.filter(Q(due__lte=now) & free).exists():
        return Idle("rest", counted["free"], need, away, counted["due"])
    return None if drawing.room(now=now) else Idle("busy", counted["free"], need, away)
