"""What a claim has to know of all others: how many workers there are, what they hold, how much waits, which bots sit at too many tables.

To look costs as much as there are workers. A few look themselves, each time. Many would spend their database on looking, so for them the
scheduler looks, once a second (`keep`), and a claim reads one row. Where that row is old, because no scheduler runs, they look themselves.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Count, Q, QuerySet, Sum

from league.domain.core import clock
from league.domain.matches import holds, turns, workers
from league.enums import MatchStatus
from league.models import Match, Outlook, Party

FEW = 16  # workers that look themselves
FRESH = timedelta(seconds=5)  # for so long a look holds
EVERY_S = 1.0  # between two looks of the scheduler
RECENT = 100  # parties of matches, the latest, that a pace is measured on
SLOW = 1.5  # times the pace of all
BATCH = 32  # most matches of one claim; they are a second of work together (`leases.SHORT_S`), so nobody waits longer for a worker by them
FLOOD = 8  # matches for each worker, besides one for each that is idle, from which on claims take several


@dataclass(frozen=True)
class Seen:
    """The others, as one worker saw them, or the scheduler for all."""

    crew: int  # workers that are alive and may play
    idle: int  # of these, how many hold nothing
    waiting: int  # matches that could be claimed, counted as far as it matters
    slow: int  # matches of the slow lane that are held
    slow_waits: bool  # whether one of the lane waits
    greedy: tuple[int, ...] = ()  # bots that delay others, by id

    @property
    def is_lane_full(self) -> bool:
        """Whether slow matches are held by half of the workers, where there is more than one."""
        return self.crew > 1 and self.slow >= self.crew // 2

    @property
    def is_short_of_workers(self) -> bool:
        """Whether more waits than workers are idle, so that nobody else could play it now."""
        return self.waiting > self.idle

    @property
    def is_flooded(self) -> bool:
        """Whether so much waits that nobody is left without work by claims of several matches."""
        return self.waiting > self.idle + self.crew * FLOOD

    @property
    def share(self) -> int:
        """Most matches of one claim: not more than would be left for each worker, besides one for each that is idle."""
        return max(1, min(BATCH, (self.waiting - self.idle) // max(1, self.crew)))


def of(worker: str, *, now: datetime, counts: bool = True) -> Seen:
    """The others as `worker` has to see them for a claim. One query where there are many, else seven, and one for each bot at many tables.

    counts: whether it matters how much waits; it does not to who takes one match and no other after it.
    """
    kept = Outlook.objects.filter(at__gte=now - FRESH).first()
    if kept is None:
        return _look(worker, now, counts=counts)
    return Seen(kept.crew, kept.idle, kept.waiting, kept.slow, kept.slow_waits, tuple(kept.greedy))


def keep(*, now: datetime | None = None) -> None:
    """Look for all, where there are many workers. Called by the scheduler; by hand it does no harm."""
    now = clock.now_or(now)
    with transaction.atomic():
        if workers.count_able(now=now) <= FEW:
            Outlook.objects.all().delete()
            return
        Outlook.objects.update_or_create(pk=1, defaults={"at": now, **asdict(_look("", now))})


def count_idle(*, now: datetime) -> int:
    """How many workers that may play hold no match. Two queries."""
    return max(0, workers.count_able(now=now) - _held(now).values("worker").distinct().count())


def _held(now: datetime) -> QuerySet[Match]:
    return Match.work.filter(status__in=turns.HELD, lease_until__gte=now)


def _look(worker: str, now: datetime, *, counts: bool = True) -> Seen:
    crew = workers.count_able(now=now)
    held = _held(now).aggregate(
        workers=Count("worker", distinct=True), slow=Count("pk", filter=Q(slow=True) & ~Q(worker=worker))
    )
    idle = max(0, crew - held["workers"])
    queued = Match.line.filter(status=MatchStatus.QUEUED)
    # Of many it does not matter whether those that were just paused are among them
    ready = holds.ready_matches(queued, now=now) if counts and crew <= FEW else queued.filter(held_back=False)
    waiting = len(ready.values_list("pk")[: idle + max(1, crew) * BATCH + 1]) if counts else 0
    slow_waits = queued.filter(slow=True).exists()
    return Seen(crew, idle, waiting, held["slow"], slow_waits, tuple(_greedy(worker, crew, now)))


def _greedy(worker: str, crew: int, now: datetime) -> list[int]:
    """Ids of the bots that play in as many matches of others as half of the workers, where there is more than one, and may be slow.

    Not slow is who takes about as long for a decision as all bots of late: whoever sits at the table of a slow one. Two queries,
    and one for each bot that plays so much.
    """
    if crew < 2:
        return []
    held = Party.objects.filter(match__status__in=turns.HELD, match__lease_until__gte=now).exclude(match__worker=worker)
    busy = (
        held.values("version__bot_id")
        .annotate(matches=Count("match", distinct=True))
        .filter(matches__gte=(crew + 1) // 2)
    )
    bots = list(busy.values_list("version__bot_id", flat=True))
    if not bots:
        return []
    usual = _pace(Party.objects.all()) or 0.0
    paces = {bot: _pace(Party.objects.filter(version__bot=bot)) for bot in bots}
    return [bot for bot, pace in paces.items() if pace is None or pace > SLOW * usual]


def _pace(parties: QuerySet[Party]) -> float | None:
    """Seconds a decision at the last tables of these; None where nothing was measured."""
    recent = parties.filter(decisions__gt=0).order_by("-match_id")[:RECENT]
    spent = recent.aggregate(wall=Sum("wall_s"), decisions=Sum("decisions"))
    return spent["wall"] / spent["decisions"] if spent["decisions"] else None
