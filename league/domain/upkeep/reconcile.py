"""Reconciling: the scheduler repairs lost leases, missing matches, ends of tournaments and ratings.

It may run at any time, any number of times, in any process.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from functools import partial
from types import SimpleNamespace

from django.conf import settings
from django.db.models import Q, QuerySet

from league.domain.arenas import playing
from league.domain.audits import sampling
from league.domain.bots import bots, builds, consent, fetches, sources, totals, willing
from league.domain.classes import measuring
from league.domain.core import clock
from league.domain.jobs.handlers import puzzles, registry
from league.domain.judgements import summing
from league.domain.ladders import drawing, places
from league.domain.matches import fairness, health, holds, leases, validation, workers
from league.domain.notices import spreading
from league.domain.people import bans
from league.domain.ratings import daily, ratings, refits
from league.domain.remote import drawing as remote
from league.domain.studies import parts
from league.domain.tables import guests, holding
from league.domain.tournaments import circuits, events, progress
from league.domain.tunings import steps
from league.domain.upkeep import cases
from league.domain.volunteers import checks
from league.enums import JobState, MatchStatus, TournamentStatus
from league.models import Job, Match, Pool, Tournament
from league.service import changes

BY = "scheduler"
LIVE = [MatchStatus.QUEUED, MatchStatus.LEASED, MatchStatus.RUNNING]


def _running() -> QuerySet[Tournament]:
    return Tournament.objects.filter(status=TournamentStatus.RUNNING).select_related("pool")


def _take_back_jobs(*, now: datetime) -> int:
    return sum(handler.expire(now=now) for handler in registry.idle_handlers())


def _insert(*, now: datetime) -> int:
    return sum(progress.schedule(tournament, now=now) for tournament in _running())


def _finish(*, now: datetime) -> int:
    return sum(progress.advance(tournament, now=now) for tournament in _running())


def _open(*, now: datetime) -> int:
    return events.start_due(now=now) + events.advance_all(now=now) + circuits.open_due(now=now)


def _cancel(*, now: datetime) -> int:
    orphaned = Tournament.objects.filter(status=TournamentStatus.CANCELLED, matches__status__in=LIVE).distinct()
    why = "its tournament was cancelled"
    return sum(progress.cancel_matches(tournament, actor=BY, why=why, now=now) for tournament in orphaned)


def _suspect(*, now: datetime) -> int:
    return cases.look(Pool.objects.filter(days__taken=now).order_by("pk"), now=now)


def _refresh(*, now: datetime) -> int:
    return sum(refits.advance(pool, now=now) for pool in ratings.stale_pools())


def play_ladders(*, now: datetime | None = None) -> int:
    """Continue the standing ladders: enter new bots, cancel tables of withheld bots, draw the next tables. Return the number of drawn tables."""
    now = clock.now_or(now)
    willing.end_absences(now=now)
    drawing.tidy(now=now)
    if not settings.LADDERS:
        return 0
    places.enter(now=now)
    return drawing.draw(now=now)


def _sum(*, now: datetime) -> int:
    puzzles.tidy()
    changes.fold()
    return summing.count_new(now=now)


# Each step in its own transactions, in this order, under the name of the number that it returns.
STEPS: tuple[tuple[str, Callable[..., int]], ...] = (
    ("expired", leases.expire),  # Matches taken back from silent workers.
    ("unjudged", _take_back_jobs),  # Analyses and consultations taken back from silent workers.
    ("unheld", holding.expire),  # Tables of people taken back from silent workers.
    ("abandoned", holding.abandon),  # Tables whose player was away, or that no worker claimed.
    ("arenas", playing.run),  # Tables of arenas counted or drawn.
    ("removed", guests.remove),  # Old tables of guests.
    ("inserted", _insert),  # Matches missing from a schedule.
    ("finished", _finish),  # Tournaments finished.
    ("opened", _open),  # Events that started, advanced or ended, and seasons that were due.
    ("measured", measuring.advance),  # Measurements of versions handed in that went on or ended.
    ("cancelled", _cancel),  # Matches of cancelled tournaments.
    ("stored", daily.keep),  # Daily leaderboards stored.
    ("suspected", _suspect),  # New cases: results of two owners that their ratings do not explain.
    ("refreshed", _refresh),  # Pools whose ratings lacked results.
    ("drawn", sampling.draw),  # Audits drawn.
    ("tested", health.retest),  # Tests queued for paused bots.
    ("rebuilt", builds.rebuild),  # Builds queued for versions compiled for a Python that no worker has any more.
    ("built", builds.settle),  # Versions that are source whose build has ended.
    ("fetched", fetches.settle),  # Uploads from Git repositories, and fetches that failed.
    ("tuned", steps.settle),  # Tunings that went on or ended.
    ("studied", parts.settle),  # Studies that went on or ended.
    ("validated", validation.repeat_void),  # Versions whose void validation is repeated.
    ("released", bots.release_held),  # Paused bots whose queued matches may be played again.
    ("published", sources.publish_due),  # Sources of versions published on their date.
    ("unbanned", bans.end_over),  # Players whose ban has ended.
    ("unanswered", consent.expire),  # Entry requests that have expired.
    ("lifted", fairness.catch_up),  # Queued matches with a new position: they could not be played at the old one.
    ("explained", workers.explain),  # Queued matches with a new reason for waiting.
    ("paired", play_ladders),  # Matches of standing ladders queued.
    ("connected", remote.play),  # Matches of remote bots queued.
    ("confirmed", checks.settle),  # Volunteers' results that count now.
    ("summed", _sum),  # Analyses added to the totals of their bots.
    # A match added to the totals of its bots. The others have a loop of their own, since reading their logs takes seconds.
    ("played", partial(totals.count_new, most=1)),
    ("noticed", spreading.run),  # Notices stored.
)


class Reconciled(SimpleNamespace):
    """The numbers of repairs in one run, by the names of STEPS."""

    def counts(self) -> dict[str, int]:
        """Return the numbers by name."""
        return dict(vars(self))

    def __str__(self) -> str:
        return ", ".join(f"{name} {count}" for name, count in self.counts().items())


def reconcile(*, now: datetime | None = None) -> Reconciled:
    """Run all STEPS in order; return what they repaired."""
    now = clock.now_or(now)
    return Reconciled(**{name: step(now=now) for name, step in STEPS})


def has_work() -> bool:
    """Return True if a match is queued or running, or a worker holds a job: then a lease may expire, or a hint may have been lost."""
    jobs = Job.objects.filter(Q(state=JobState.LEASED) | Q(kind__in=[builds.JOB, fetches.JOB, steps.JOB, parts.JOB]))
    return Match.work.filter(status__in=LIVE).exists() or jobs.exists()


def count_waiting(*, now: datetime | None = None, most: int) -> int:
    """Count the matches that could be claimed now, up to `most`."""
    now = clock.now_or(now)
    due = holds.playable_matches(Match.line.filter(status=MatchStatus.QUEUED)).exclude(not_before__gt=now)
    return len(due.values_list("pk")[:most])
