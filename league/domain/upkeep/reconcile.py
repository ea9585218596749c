"""Puts right what was lost: leases, matches, ends of tournaments, ratings. It may run at any time, any number of times, on any machine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import datetime

from django.conf import settings

from league.domain.audits import sampling
from league.domain.bots import bots, consent, totals
from league.domain.core import clock
from league.domain.jobs.handlers import puzzles, registry
from league.domain.judgements import summing
from league.domain.ladders import drawing, places
from league.domain.matches import health, holds, leases, turns, validation, workers
from league.domain.people import bans
from league.domain.ratings import daily, ratings, refits
from league.domain.tables import holding
from league.domain.tournaments import circuits, events, progress
from league.enums import MatchStatus, TournamentStatus
from league.models import Match, Tournament
from league.service import changes

BY = "scheduler"


@dataclass
class Reconciled:
    """What one run had to put right."""

    expired: int = 0  # matches taken back from workers that went silent
    unjudged: int = 0  # judgements and consultations taken back from them
    summed: int = 0  # judgements counted on the pages of their bots
    played: int = 0  # matches counted there
    unheld: int = 0  # tables of people taken back from them
    abandoned: int = 0  # tables whose player was away, or that no worker took
    inserted: int = 0  # matches that a schedule lacked
    cancelled: int = 0  # matches of tournaments that were cancelled
    finished: int = 0  # tournaments
    opened: int = 0  # events whose next stage began or that ended, seasons that were due
    kept: int = 0  # leaderboards, as they stood at the end of a day
    refreshed: int = 0  # pools whose ratings lacked results
    drawn: int = 0  # audits
    tested: int = 0  # paused bots that are tried again
    validated: int = 0  # versions whose validation had become void
    released: int = 0  # paused bots whose matches are played from now on
    unbanned: int = 0  # players whose ban is over
    unanswered: int = 0  # requests for bots that have waited too long
    lifted: int = 0  # queued matches brought forward in the line, since they could not be played before
    paired: int = 0  # matches of standing ladders
    explained: int = 0  # queued matches whose reason for waiting changed

    def counts(self) -> dict[str, int]:
        """The numbers by name."""
        return asdict(self)

    def __str__(self) -> str:
        return ", ".join(f"{name} {count}" for name, count in self.counts().items())


def _leases(found: Reconciled, now: datetime) -> None:
    found.expired = leases.expire(now=now)
    found.unjudged = sum(handler.expire(now=now) for handler in registry.idle_handlers())
    found.unheld, found.abandoned = holding.expire(now=now), holding.abandon(now=now)


def _tournaments(found: Reconciled, now: datetime) -> None:
    for tournament in Tournament.objects.filter(status=TournamentStatus.RUNNING).select_related("pool"):
        found.inserted += progress.schedule(tournament, now=now)
        found.finished += progress.advance(tournament, now=now)


def _stages(found: Reconciled, now: datetime) -> None:
    found.opened = events.start_due(now=now) + events.advance_all(now=now) + circuits.open_due(now=now)


def _cancelled(found: Reconciled, now: datetime) -> None:
    live = [MatchStatus.QUEUED, MatchStatus.LEASED, MatchStatus.RUNNING]
    orphaned = Tournament.objects.filter(status=TournamentStatus.CANCELLED, matches__status__in=live).distinct()
    for tournament in orphaned:
        found.cancelled += progress.cancel_matches(tournament, actor=BY, why="its tournament was cancelled", now=now)


def _days(found: Reconciled, now: datetime) -> None:
    found.kept = daily.keep(now=now)


def _ratings(found: Reconciled, now: datetime) -> None:
    for pool in ratings.stale_pools():
        found.refreshed += refits.advance(pool, now=now)


def _audits(found: Reconciled, now: datetime) -> None:
    found.drawn = sampling.draw(now=now)


def _bots(found: Reconciled, now: datetime) -> None:
    found.tested = health.retest(now=now)
    found.validated = validation.repeat_void(now=now)
    found.released = bots.release_held(now=now)
    found.unbanned = bans.end_over(now=now)
    found.unanswered = consent.expire(now=now)


def _ladders(found: Reconciled, now: datetime) -> None:
    found.paired = play_ladders(now=now)


def play_ladders(*, now: datetime | None = None) -> int:
    """Let the standing ladders go on: who is new enters, who has left is taken out of the queue, the next tables are drawn; how many these are."""
    now = clock.now_or(now)
    drawing.tidy(now=now)
    if not settings.LADDERS:
        return 0
    places.enter(now=now)
    return drawing.draw(now=now)


def _queue(found: Reconciled, now: datetime) -> None:
    found.lifted = turns.lift(now=now)
    found.explained = workers.explain(now=now)


def _judgements(found: Reconciled, now: datetime) -> None:
    found.summed = summing.count_new()
    puzzles.tidy()


def _played(found: Reconciled, now: datetime) -> None:
    found.played = totals.count_new(now=now)


def _marks(found: Reconciled, now: datetime) -> None:
    changes.fold()


# Leases that ran out; matches missing from schedules and tournaments that are over; stages and seasons that are due; matches of cancelled
# tournaments; tables of yesterday; pools with results that were not counted; audits of what has finished; paused bots whose test is due,
# validations that became void, pauses, bans and requests that are over; places in the line of what may be played again, and the reasons why
# queued matches wait; tables of ladders, where there is room; sums of what was judged, and of what was played; rows that count changes of
# what is shown.
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
    """One pass over everything that can be unfinished: the STEPS, one after the other. No transaction holds two of them."""
    now = clock.now_or(now)
    found = Reconciled()
    for step in STEPS:
        step(found, now)
    return found


def count_waiting(*, now: datetime | None = None, most: int) -> int:
    """How many matches could be claimed now, counted up to `most`."""
    now = clock.now_or(now)
    due = holds.playable_matches(Match.line.filter(status=MatchStatus.QUEUED)).exclude(not_before__gt=now)
    return len(due.values_list("pk")[:most])
