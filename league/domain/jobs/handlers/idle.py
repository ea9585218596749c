"""Work that a worker does while no match is queued, and gives back as soon as one is. Its jobs are rows of the table `Job` (`core.queue`)."""

from __future__ import annotations

import logging
import time
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any, ClassVar, Generic, TypeVar

from django.db import transaction
from django.db.models import QuerySet

from league.domain.core import clock, queue
from league.domain.core.errors import IllegalMove, without_folders
from league.domain.core.queue import AttemptTerms, LeaseLost
from league.domain.jobs.handlers.base import Handler, Lease, Result, Task
from league.domain.matches import holds
from league.domain.matches.reports import Receipt
from league.enums import MatchKind, MatchStatus
from league.models import Job, Match

log = logging.getLogger("league.jobs")
YIELD_LOOK_S = 0.5  # Seconds between two checks for work of higher priority
Subject = TypeVar("Subject")


@dataclass(frozen=True)
class Allowance:
    """The share of its time that a worker spends on some kinds of idle work before ladder matches, which never end."""

    share: float
    pause_s: float = 0.0  # The least seconds between two such jobs

    def rest_s(self, spent_s: float) -> float:
        """Return the seconds for which these kinds of work pause after a job of `spent_s` seconds."""
        return max(self.pause_s, spent_s * (1 - self.share) / self.share)


class JobLease(Lease, Generic[Subject]):
    """A job that this worker has leased, with its subject."""

    row: Job

    def __init__(
        self, row: Job, subject: Subject, claimed: datetime, yields: Callable[[], bool] = lambda: False
    ) -> None:
        """claimed: the time of the claim. yields: returns True if work of higher priority is waiting; it queries the database."""
        super().__init__(row.kind, row)
        self.subject = subject
        self.claimed = claimed
        self.progress = row.progress
        self.has_yielded = False
        self._yields = yields
        self._looked = time.monotonic()

    def __str__(self) -> str:
        return str(self.row)

    def must_stop(self) -> bool:
        """Return True if the lease is lost, or work of higher priority is waiting. The database is only queried from time to time."""
        if time.monotonic() - self._looked >= YIELD_LOOK_S:
            self._looked = time.monotonic()
            self.has_yielded |= self._yields()
        return self.lost or self.has_yielded


class IdleHandler(Handler[JobLease[Subject], Task, Result], Generic[Subject, Task, Result]):
    """A kind of work that is done while no match is queued.

    A handler names its `AttemptTerms` and loads the subject of a job. `begun`, `waits_again` and `given_up` update the subject; a kind whose subject
    shows nothing of its job need not define them.
    """

    terms: ClassVar[AttemptTerms]
    allowance: ClassVar[Allowance]
    order: ClassVar[tuple[str, ...]] = ("position", "id")
    needs_sandbox: ClassVar[bool] = True
    counts_attempts: ClassVar[bool] = True  # False if a lease that is lost is no sign of a fault of the job.
    is_background: ClassVar[bool] = False  # True for work that nobody waits for: it yields to all kinds that are not.
    pause: ClassVar[timedelta | None] = None  # Of a job that was given back, so that others get a turn.
    final_errors: ClassVar[tuple[type[Exception], ...]] = ()  # The next attempt would end with the same error.
    # The message says enough, so the log gets no traceback.
    expected_errors: ClassVar[tuple[type[Exception], ...]] = ()

    @property
    def kind(self) -> str:
        """Return the kind of its jobs."""
        return self.kinds[0]

    @abstractmethod
    def subject(self, row: Job) -> Subject:
        """Load the subject of a job, in a query that lists its columns."""

    def waiting(self, now: datetime) -> QuerySet[Job]:
        """Return the jobs that may be claimed if no other work goes first."""
        return queue.waiting(self.kind, now=now)

    def has_waiting(self, *, now: datetime) -> bool:
        """Return True if a job may be claimed, provided that no other work goes first."""
        return self.waiting(now).exists()

    def is_overdue(self, *, now: datetime | None = None) -> bool:
        """Return True if the work has waited long enough to go before ladder matches."""
        return False

    def goes_after(self, *, before_ladders: bool, now: datetime | None = None) -> bool:
        """Return True if work of higher priority is waiting. before_ladders: ladder matches do not count."""
        return is_match_waiting(before_ladders=before_ladders, now=now)

    def begun(self, row: Job, subject: Subject, *, now: datetime) -> None:
        """Note at the subject that a worker has begun. Raise IllegalMove if the subject no longer waits."""

    def waits_again(self, row: Job, job: JobLease[Subject] | None, why: str, *, now: datetime) -> None:
        """Note at the subject that its job is queued again. job: None if the worker was lost."""

    def given_up(self, row: Job, job: JobLease[Subject] | None, why: str, *, now: datetime) -> None:
        """Note at the subject that its job will not be tried again."""

    def claim(
        self, worker: str, *, before_ladders: bool = False, now: datetime | None = None
    ) -> JobLease[Subject] | None:
        """Lease the next job to `worker`. Return None if there is none, or other work goes first."""
        now = clock.now_or(now)
        if not self.has_waiting(now=now) or self.goes_after(before_ladders=before_ladders, now=now):
            return None
        return self.lease(worker, partial(self.goes_after, before_ladders=before_ladders), now=now)

    def lease(self, worker: str, yields: Callable[[], bool], *, now: datetime) -> JobLease[Subject] | None:
        """Lease the next job, whatever else is waiting. Return None if there is none."""
        try:
            with transaction.atomic():
                jobs = self.waiting(now).order_by(*self.order)
                row = queue.claim(jobs, worker, self.terms, now=now, is_attempt=self.counts_attempts)
                if row is None:
                    return None
                subject = self.subject(row)
                self.begun(row, subject, now=now)
        except IllegalMove as error:  # The subject has just changed, and its job is about to be removed
            log.warning("a job of kind %s was not begun: %s", self.kind, error)
            return None
        return JobLease(row, subject, now, yields)

    @abstractmethod
    def store(self, job: JobLease[Subject], result: Result, *, now: datetime) -> None:
        """Write the result to the subject, in the transaction that ends the job."""

    def report(self, job: JobLease[Subject], result: Result, *, now: datetime | None = None) -> Receipt:
        """Store the result and end the job, unless another worker has it."""

        def end() -> None:
            queue.finish(job.row)
            self.store(job, result, now=clock.now_or(now))

        return Receipt.STORED if guard(job, end) else Receipt.REFUSED

    def give_back(self, job: JobLease[Subject], why: str, *, now: datetime | None = None) -> None:
        """Put the job back into the queue without counting an attempt."""
        now = clock.now_or(now)
        self._release(job, now=now, not_before=now + self.pause if self.pause else None)

    def _release(self, job: JobLease[Subject], *, now: datetime, not_before: datetime | None = None) -> None:
        def release() -> None:
            columns: dict[str, Any] = {"not_before": not_before, "progress": self.progress_kept(job)}
            (queue.release if self.counts_attempts else queue.free)(job.row, now=now, **columns)
            self.waits_again(job.row, job, "", now=now)

        guard(job, release)

    def fail(self, job: JobLease[Subject], error: Exception, *, now: datetime | None = None) -> None:
        """Try the job again after a pause, unless this was the last attempt or the next one would end with the same error."""
        is_final = isinstance(error, self.final_errors)
        if is_final or isinstance(error, self.expected_errors):
            why = str(error)[:500]
            log.warning("%s: attempt %d failed: %s", job, job.row.attempts, why)
        else:
            why = f"{type(error).__name__}: {error}"[:500]
            log.error("%s: attempt %d failed", job, job.row.attempts, exc_info=error)
        when = clock.now_or(now)
        guard(job, lambda: self._end_attempt(job.row, job, why, now=when, is_final=is_final))

    def expire(self, *, now: datetime | None = None) -> int:
        """Take back jobs whose leases have expired. Return their number."""
        now = clock.now_or(now)

        def take_back(row: Job, why: str) -> None:
            try:
                self._end_attempt(row, None, why, now=now)
            except IllegalMove as error:  # The subject has been finished
                log.warning("%s: %s", row, error)

        return queue.expire(self.kind, take_back, now=now)

    def _end_attempt(
        self, row: Job, job: JobLease[Subject] | None, why: str, *, now: datetime, is_final: bool = False
    ) -> None:
        why = without_folders(why).replace("\0", "\ufffd")  # PostgreSQL has no NUL in text
        if is_final:
            queue.finish(row)
        elif queue.retry(row, self.terms, why, now=now, progress=self.progress_kept(job)):
            self.waits_again(row, job, why, now=now)
            return
        self.given_up(row, job, why, now=now)

    def progress_kept(self, job: JobLease[Subject] | None) -> int:
        """Return the percentage at which the next attempt begins."""
        return 0


def guard(job: JobLease[Any], change: Callable[[], None]) -> bool:
    """Make a change in a transaction that checks the lease. Return False if the lease is lost and nothing has changed."""
    try:
        with transaction.atomic():
            change()
    except (LeaseLost, IllegalMove) as error:
        log.warning("%s: %s", job, error)
        return False
    return True


def is_match_waiting(*, before_ladders: bool = False, now: datetime | None = None) -> bool:
    """Return True if a match is queued that may be played now. One query, of the rows that a claim reads.

    before_ladders: ladder matches do not count.
    """
    queued = Match.line.filter(holds.due(clock.now_or(now)), status=MatchStatus.QUEUED, held_back=False)
    return queued.exclude(kind__in=[MatchKind.AUDIT, *([MatchKind.LADDER] if before_ladders else [])]).exists()
