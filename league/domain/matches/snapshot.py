"""A snapshot of the queue for a claim: the number of workers, their matches, the number of queued matches, and bots that play at too many tables.

The cost of a snapshot grows with the number of workers. If there are few, each takes its own snapshot for each claim. If there are many, the
scheduler stores a snapshot once a second (`update`), and a claim reads one row; if that row is old, because no scheduler runs, each worker takes
its own.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Count, Q, QuerySet, Sum

from league.domain.core import clock
from league.domain.matches import holds, workers
from league.enums import MatchStatus
from league.models import Match, Party, StoredSnapshot

FEW = 16  # The most workers that take their own snapshots
FRESH = timedelta(seconds=5)  # Age up to which a stored snapshot is used
EVERY_S = 1.0  # Seconds between two snapshots of the scheduler
RECENT = 100  # The number of latest parties from which the time of a decision is measured
SLOW = 1.5  # A bot that takes this many times the usual time of a decision is slow
# The most matches of one claim. Together they take about a second (`leases.SHORT_S`), so they delay nobody for long
BATCH = 32
# From this number of queued matches for each worker on, besides one for each idle worker, claims take several
FLOOD = 8


@dataclass(frozen=True)
class QueueSnapshot:
    """The state of the queue and of the other workers, as one worker or the scheduler has read it."""

    crew: int  # Number of workers that are alive and may play
    idle: int  # Number of those that hold no match
    waiting: int  # Number of matches that could be claimed, counted only as far as it matters
    slow: int  # Number of slow matches that are running
    slow_waits: bool  # True if a slow match is queued
    greedy: tuple[int, ...] = ()  # Ids of bots that delay others

    @property
    def is_lane_full(self) -> bool:
        """Return True if half of the workers hold slow matches, and there is more than one worker."""
        return self.crew > 1 and self.slow >= self.crew // 2

    @property
    def is_short_of_workers(self) -> bool:
        """Return True if more matches are queued than workers are idle, so nobody else could start the next one now."""
        return self.waiting > self.idle

    @property
    def is_flooded(self) -> bool:
        """Return True if the queue is so full that claims of several matches leave no worker without work."""
        return self.waiting > self.idle + self.crew * FLOOD

    @property
    def share(self) -> int:
        """Return how many matches one claim takes at most: an equal share for each worker, after one match is set aside for each idle worker."""
        return max(1, min(BATCH, (self.waiting - self.idle) // max(1, self.crew)))


def queue_snapshot(worker: str, *, now: datetime, counts: bool = True) -> QueueSnapshot:
    """Return the snapshot for a claim of `worker`. One query if there are many workers, else seven, and one for each bot at many tables.

    counts: count the queued matches; a worker that takes only one match does not need that.
    """
    stored = StoredSnapshot.objects.filter(at__gte=now - FRESH).first()
    if stored is None:
        return _look(worker, now, counts=counts)
    return QueueSnapshot(stored.crew, stored.idle, stored.waiting, stored.slow, stored.slow_waits, tuple(stored.greedy))


def update(*, now: datetime | None = None) -> None:
    """Store a snapshot for all workers if there are many. The scheduler calls it; calling it by hand does no harm."""
    now = clock.now_or(now)
    with transaction.atomic():
        if workers.count_able(now=now) <= FEW:
            StoredSnapshot.objects.all().delete()
            return
        StoredSnapshot.objects.update_or_create(pk=1, defaults={"at": now, **asdict(_look("", now))})


def count_idle(*, now: datetime) -> int:
    """Return the number of workers that may play and hold no match. Two queries."""
    return max(0, workers.count_able(now=now) - _held_matches(now).values("worker").distinct().count())


def _held_matches(now: datetime) -> QuerySet[Match]:
    return Match.work.filter(status__in=Match.HELD, lease_until__gte=now)


def _look(worker: str, now: datetime, *, counts: bool = True) -> QueueSnapshot:
    crew = workers.count_able(now=now)
    totals = _held_matches(now).aggregate(
        workers=Count("worker", distinct=True), slow=Count("pk", filter=Q(slow=True) & ~Q(worker=worker))
    )
    idle = max(0, crew - totals["workers"])
    queued = Match.line.filter(status=MatchStatus.QUEUED)
    # With many workers it hardly matters if matches on hold since a second ago are counted
    ready = holds.ready_matches(queued, now=now) if counts and crew <= FEW else queued.filter(held_back=False)
    waiting = len(ready.values_list("pk")[: idle + max(1, crew) * BATCH + 1]) if counts else 0
    slow_waits = queued.filter(slow=True).exists()
    return QueueSnapshot(crew, idle, waiting, totals["slow"], slow_waits, tuple(_greedy(worker, crew, now)))


def _greedy(worker: str, crew: int, now: datetime) -> list[int]:
    """Return the ids of slow bots that play at least half as many matches as there are workers, not counting this worker's matches.

    A bot is not slow if its recent decisions took about as long as those of all bots; it may just sit at the table of a slow one. Two queries, and
    one for each of these bots.
    """
    if crew < 2:
        return []
    seats = Party.objects.filter(match__status__in=Match.HELD, match__lease_until__gte=now)
    busy = (
        seats.exclude(match__worker=worker)
        .values("version__bot_id")
        .annotate(matches=Count("match", distinct=True))
        .filter(matches__gte=(crew + 1) // 2)
    )
    bots = list(busy.values_list("version__bot_id", flat=True))
    if not bots:
        return []
    usual_s = _decision_s(Party.objects.all()) or 0.0
    times = {bot: _decision_s(Party.objects.filter(version__bot=bot)) for bot in bots}
    return [bot for bot, seconds in times.items() if seconds is None or seconds > SLOW * usual_s]


def _decision_s(parties: QuerySet[Party]) -> float | None:
    """Return the mean seconds of a decision at the latest tables of these parties; None if nothing was measured."""
    recent = parties.filter(decisions__gt=0).order_by("-match_id")[:RECENT]
    spent = recent.aggregate(wall=Sum("wall_s"), decisions=Sum("decisions"))
    return spent["wall"] / spent["decisions"] if spent["decisions"] else None
