"""Reconciling: the scheduler repairs lost leases, missing matches, ends of tournaments and ratings.

It may run at any time, any number of times, in any process.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import datetime

from django.conf import settings

from league.domain.audits import sampling
from league.domain.bots import bots, consent, totals, willing
from league.domain.core import clock
from league.domain.jobs.handlers import puzzles, registry
from league.domain.judgements import summing
from league.domain.ladders import drawing, places
from league.domain.matches import fairness, health, holds, leases, validation, workers
from league.domain.people import bans
from league.domain.ratings import daily, ratings, refits
from league.domain.tables import guests, holding
from league.domain.tournaments import circuits, events, progress
from league.domain.upkeep import cases
from league.enums import JobState, MatchStatus, TournamentStatus
from league.models import Job, Match, Pool, Tournament
from league.service import changes

BY = "scheduler"


@dataclass
class Reconciled:
    """The numbers of repairs in one run."""

    expired: int = 0  # Matches taken back from silent workers.
    unjudged: int = 0  # Analyses and consultations taken back from silent workers.
    summed: int = 0  # Analyses added to the totals of their bots.
    played: int = 0  # Matches added to the totals of their bots.
    unheld: int = 0  # Tables of people taken back from silent workers.
    abandoned: int = 0  # Tables whose player was away, or that no worker claimed.
    removed: int = 0  # Old tables of guests.
    inserted: int = 0  # Matches missing from a schedule.
    cancelled: int = 0  # Matches of cancelled tournaments.
    finished: int = 0  # Tournaments finished.
    opened: int = 0  # Events that started, advanced or ended, and seasons that were due.
    stored: int = 0  # Daily leaderboards stored.
    suspected: int = 0  # New cases: results of two owners that their ratings do not explain.
    refreshed: int = 0  # Pools whose ratings lacked results.
    drawn: int = 0  # Audits drawn.
    tested: int = 0  # Tests queued for paused bots.
    validated: int = 0  # Versions whose void validation is repeated.
    released: int = 0  # Paused bots whose queued matches may be played again.
    unbanned: int = 0  # Players whose ban has ended.
    unanswered: int = 0  # Entry requests that have expired.
    lifted: int = 0  # Queued matches with a new position, because they could not be played at the old one.
    paired: int = 0  # Matches of standing ladders queued.
    explained: int = 0  # Queued matches with a new reason for waiting.

    def counts(self) -> dict[str, int]:
        """Return the numbers by name."""
        return asdict(self)

    def __str__(self) -> str:
        return ", ".join(f"{name} {count}" for name, count in self.counts().items())


def _leases(result: Reconciled, now: datetime) -> None:
    result.expired = leases.expire(now=now)
    result.unjudged = sum(handler.expire(now=now) for handler in registry.idle_handlers())
    result.unheld, result.abandoned = holding.expire(now=now), holding.abandon(now=now)
    result.removed = guests.remove(now=now)


def _tournaments(result: Reconciled, now: datetime) -> None:
    for tournament in Tournament.objects.filter(status=TournamentStatus.RUNNING).select_related("pool"):
        result.inserted += progress.schedule(tournament, now=now)
        result.finished += progress.advance(tournament, now=now)


def _stages(result: Reconciled, now: datetime) -> None:
    result.opened = events.start_due(now=now) + events.advance_all(now=now) + circuits.open_due(now=now)


def _cancelled(result: Reconciled, now: datetime) -> None:
    live = [MatchStatus.QUEUED, MatchStatus.LEASED, MatchStatus.RUNNING]
    orphaned = Tournament.objects.filter(status=TournamentStatus.CANCELLED, matches__status__in=live).distinct()
    for tournament in orphaned:
        result.cancelled += progress.cancel_matches(tournament, actor=BY, why="its tournament was cancelled", now=now)


def _days(result: Reconciled, now: datetime) -> None:
    result.stored = daily.keep(now=now)
    if result.stored:
        result.suspected = cases.look(Pool.objects.filter(days__taken=now).order_by("pk"), now=now)


def _ratings(result: Reconciled, now: datetime) -> None:
    for pool in ratings.stale_pools():
        result.refreshed += refits.advance(pool, now=now)


def _audits(result: Reconciled, now: datetime) -> None:
    result.drawn = sampling.draw(now=now)


def _bots(result: Reconciled, now: datetime) -> None:
    result.tested = health.retest(now=now)
    result.validated = validation.repeat_void(now=now)
    result.released = bots.release_held(now=now)
    result.unbanned = bans.end_over(now=now)
    result.unanswered = consent.expire(now=now)


def _ladders(result: Reconciled, now: datetime) -> None:
    result.paired = play_ladders(now=now)


def has_work() -> bool:
    """Return True if a match is queued or running, or a worker holds a job: then a lease may expire, or a hint may have been lost."""
    live = [MatchStatus.QUEUED, MatchStatus.LEASED, MatchStatus.RUNNING]
    return Match.work.filter(status__in=live).exists() or Job.objects.filter(state=JobState.LEASED).exists()


def play_ladders(*, now: datetime | None = None) -> int:
    """Continue the standing ladders: enter new bots, cancel tables of withheld bots, draw the next tables. Return the number of drawn tables."""
    now = clock.now_or(now)
    willing.end_absences(now=now)
    drawing.tidy(now=now)
    if not settings.LADDERS:
        return 0
    places.enter(now=now)
    return drawing.draw(now=now)


def _queue(result: Reconciled, now: datetime) -> None:
    result.lifted = fairness.catch_up(now=now)
    result.explained = workers.explain(now=now)


def _judgements(result: Reconciled, now: datetime) -> None:
    result.summed = summing.count_new(now=now)
    puzzles.tidy()


def _played(result: Reconciled, now: datetime) -> None:
    result.played = totals.count_new(now=now)


def _marks(result: Reconciled, now: datetime) -> None:
    changes.fold()


# The order: expired leases, and old tables of guests; matches missing from schedules, and finished tournaments; due stages and seasons;
# matches of cancelled tournaments;
# daily leaderboards; pools with uncounted results; audits; due tests of paused bots, void validations, expired pauses, bans and requests;
# positions and waiting reasons of queued matches; ladder tables if there is room; totals of judgements and of matches; rows of change counters.
STEPS: tuple[Callable[[Reconciled, datetime], None], ...] = (
    _leases,
    _tournaments,
    _stages,
    _cancelled,
    _days,
    _ratings,
    _audits,
    _bots,
    _queue,
    _ladders,
    _judgements,
    _played,
    _marks,
)


def reconcile(*, now: datetime | None = None) -> Reconciled:
    """Run all STEPS in order, each in its own transactions; return what they repaired."""
    now = clock.now_or(now)
    result = Reconciled()
    for step in STEPS:
        step(result, now)
    return result


def count_waiting(*, now: datetime | None = None, most: int) -> int:
    """Count the matches that could be claimed now, up to `most`."""
    now = clock.now_or(now)
    due = holds.playable_matches(Match.line.filter(status=MatchStatus.QUEUED)).exclude(not_before__gt=now)
    return len(due.values_list("pk")[:most])
