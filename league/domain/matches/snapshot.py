"""A snapshot of the queue for a claim: the number of workers, what they hold, how much is queued, which bots play at too many tables.

To look costs as much as there are workers. A few look themselves, each time. Many would spend their database on looking, so for them the
scheduler looks once a second (`update`), and a claim reads one row. If that row is old, because no scheduler runs, they look themselves.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Count, Q, QuerySet, Sum

from league.domain.core import clock
from league.domain.matches import holds, workers
from league.enums import MatchStatus
from league.models import Match, Outlook, Party

FEW = 16  # workers that look themselves
FRESH = timedelta(seconds=5)  # age up to which a stored snapshot holds
EVERY_S = 1.0  # seconds between two checks by the scheduler
RECENT = 100  # parties, the latest, on which the time of a decision is measured
SLOW = 1.5  # times the usual time of a decision
BATCH = 32  # most matches of one claim; together they take a second (`leases.SHORT_S`), so nobody waits longer for a worker because of them
FLOOD = 8  # queued matches for each worker, besides one for each idle one, from which on claims take several


@dataclass(frozen=True)
class QueueSnapshot:
    """The queue and the other workers, as one worker saw them, or the scheduler for all."""

    crew: int  # workers that are alive and may play
    idle: int  # The workers among them that hold no match
    waiting: int  # matches that could be claimed, counted as far as it matters
    slow: int  # slow matches that are held
    slow_waits: bool  # a slow match is queued
    greedy: tuple[int, ...] = ()  # ids of bots that delay others

    @property
    def is_lane_full(self) -> bool:
        """Return True if half of the workers hold slow matches, and there is more than one worker."""
        return self.crew > 1 and self.slow >= self.crew // 2

    @property
    def is_short_of_workers(self) -> bool:
        """Return True if more matches are queued than workers idle, so that nobody else could play the next one now."""
        return self.waiting > self.idle

    @property
    def is_flooded(self) -> bool:
        """Return True if so much is queued that claims of several matches leave nobody without work."""
        return self.waiting > self.idle + self.crew * FLOOD

    @property
    def share(self) -> int:
        """The most matches of one claim: no more than remain for each worker besides one for each idle one."""
        return max(1, min(BATCH, (self.waiting - self.idle) // max(1, self.crew)))


def queue_snapshot(worker: str, *, now: datetime, counts: bool = True) -> QueueSnapshot:
    """Return what `worker` has to know for a claim. One query if there are many workers, else seven, and one for each bot at many tables.

    counts: count what is queued; a worker that takes one match and no other after it need not know.
    """
    stored = Outlook.objects.filter(at__gte=now - FRESH).first()
    if stored is None:
        return _look(worker, now, counts=counts)
    return QueueSnapshot(stored.crew, stored.idle, stored.waiting, stored.slow, stored.slow_waits, tuple(stored.greedy))


def update(*, now: datetime | None = None) -> None:
    """Store a snapshot for all if there are many workers. Called by the scheduler; by hand it does no harm."""
    now = clock.now_or(now)
    with transaction.atomic():
        if workers.count_able(now=now) <= FEW:
            Outlook.objects.all().delete()
            return
        Outlook.objects.update_or_create(pk=1, defaults={"at": now, **asdict(_look("", now))})


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
    # Of many it does not matter whether those that were just paused are among them
    ready = holds.ready_matches(queued, now=now) if counts and crew <= FEW else queued.filter(held_back=False)
    waiting = len(ready.values_list("pk")[: idle + max(1, crew) * BATCH + 1]) if counts else 0
    slow_waits = queued.filter(slow=True).exists()
    return QueueSnapshot(crew, idle, waiting, totals["slow"], slow_waits, tuple(_greedy(worker, crew, now)))


def _greedy(worker: str, crew: int, now: datetime) -> list[int]:
    """Return the ids of bots that play in as many matches of other workers as half of the workers, where there are several, and may be slow.

    A bot is not slow if it takes about as long for a decision as all bots of late: it may only sit at the table of a slow one. Two queries, and
    one for each bot that plays so much.
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
    """Return the seconds of a decision at the last tables of these parties; None if nothing was measured."""
    recent = parties.filter(decisions__gt=0).order_by("-match_id")[:RECENT]
    spent = recent.aggregate(wall=Sum("wall_s"), decisions=Sum("decisions"))
    return spent["wall"] / spent["decisions"] if spent["decisions"] else None
