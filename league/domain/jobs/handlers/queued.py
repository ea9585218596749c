"""Work that waits in the fair queue of matches (league.domain.matches.leases): matches, validations, tries and audits."""

from __future__ import annotations

import logging
import time
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Any, Generic

from django.db import transaction

from engine.runner.faults import party_of
from league.domain.core import transitions
from league.domain.jobs.handlers.base import Handler, Lease, Result, Task
from league.domain.matches import kinds, leases, validation, workers
from league.enums import MatchKind
from league.models import Match

log = logging.getLogger("league.jobs")
# A match with the priority of a validation, but played like other matches: a test of a paused bot, or a single game
TEST = "test"
SLOW_S = 5.0  # Seconds of wall time for a sitting, or for a game of a validation: a slower bot counts as slow


class MatchLease(Lease):
    """A match, or another row of its queue, that this worker has leased."""

    def __init__(self, match: Match) -> None:
        super().__init__(_kind_of(match), match)
        self.match = match
        self.match_shown = None if match.kind in transitions.NOT_MATCHES else match
        self.decided: list[list[Any]] = []  # Boards that are finished in all their sittings: number, scores by party
        self.done = 0  # Number of finished sittings, or of games of a validation
        self.began: float | None = None  # When its bots started, by the monotonic clock

    def __str__(self) -> str:
        return transitions.subject(self.match).replace(":", " ")

    def log_context(self) -> AbstractContextManager[None]:
        """Return a context in which log lines name this attempt."""
        return leases.log_context(self.match)

    def start(self) -> None:
        """Begin the attempt and show it, in one transaction. Raise IllegalMove if this worker has lost the match, or the match was paused."""
        with transaction.atomic():
            leases.start(self.match)
            workers.note_alive(self.match.worker, match=self.match_shown)

    def count_attempt(self) -> bool:
        """Count the attempt of a match that was leased with others."""
        return leases.count_attempt(self.match)

    def stand_still(self, upload: Lease) -> bool:
        """Extend the time of the match by that of the upload."""
        return isinstance(upload, MatchLease) and leases.stand_still(self.match, upload.match)

    def leave_out(self, seconds: float) -> None:
        """Leave out the time for which the bots were frozen."""
        self.began = (self.began or time.monotonic() - seconds) + seconds

    def beat(self, *, now: datetime | None = None) -> None:
        """Renew the lease. For a slow match, note if it should yield to an upload that waits."""
        super().beat(now=now)
        may_yield = self.is_slow or kinds.kind_of(self.match).is_idle
        if not self.lost and may_yield and leases.must_yield(self.match, now=now):
            self.in_the_way = True

    def course(self) -> dict[str, Any]:
        """Return the progress, the numbers and scores of the decided boards (without cards), and whether the bots are slow."""
        return {**super().course(), "decided": self.decided or None, "slow": self.is_slow}

    @property
    def is_slow(self) -> bool:
        """Return True if its bots take long."""
        return self.began is not None and time.monotonic() - self.began > SLOW_S * (1 + self.done)

    @property
    def yields(self) -> bool:
        """Return True if an upload is waiting and this job is given back for it. A match that counts stands still instead."""
        return self.in_the_way and not kinds.kind_of(self.match).counts

    def must_stop(self) -> bool:
        """Return True if the lease is lost, or the job is given back for an upload."""
        return self.lost or self.yields


def _kind_of(match: Match) -> str:
    is_test = match.kind == MatchKind.VALIDATION and not validation.is_validation(match)
    return TEST if is_test else match.kind


class QueuedHandler(Handler[MatchLease, Task, Result], Generic[Task, Result]):
    """A kind of work that waits in the fair queue."""

    def give_back(self, job: MatchLease, why: str, *, now: datetime | None = None) -> None:
        """Put the row back into the queue without counting an attempt."""
        if job.yields:
            leases.yield_lease(job.match, now=now)
        else:
            leases.release(job.match, why=why, now=now)

    def fail(self, job: MatchLease, error: Exception, *, now: datetime | None = None) -> None:
        """Let the row be tried again after a pause. The fault is ours and costs no bot anything: faults of bots are part of results."""
        log.error("%s: attempt %d failed", job, job.match.attempts, exc_info=error)
        why = f"{type(error).__name__}: {error}"[:500]
        leases.fail(job.match, why=why, party=party_of(error), now=now)


def claim(worker: str, **options: Any) -> list[MatchLease]:
    """Lease the next rows of the queue. The options are those of `leases.claim_several`."""
    return [MatchLease(match) for match in leases.claim_several(worker, **options)]
