"""Work on finished matches that players request (analyses, consultations). Players take turns, and see the status of each request."""

from __future__ import annotations

from abc import abstractmethod
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any, ClassVar, Generic, TypeVar

from django.db import transaction
from django.db.models import Q, QuerySet

from league.domain.core import clock, queue, transitions
from league.domain.core.errors import IllegalMove, Refused
from league.domain.core.queue import AttemptTerms
from league.domain.jobs.handlers.base import Result, Task
from league.domain.jobs.handlers.idle import Allowance, IdleHandler, JobLease, is_match_waiting
from league.domain.judgements.asking import FAILED_DAYS, WAITING, enqueue
from league.enums import JobState, JudgementStatus, MatchStatus
from league.models import Consultation, Job, Judgement

PATIENCE = timedelta(minutes=2)  # A request lets ladder matches go first for this long
Row = TypeVar("Row", bound=Judgement | Consultation)


class BotFailed(Exception):
    """The error that the consulted bot failed; the next attempt may succeed."""


class RequestHandler(IdleHandler[Row, Task, Result], Generic[Row, Task, Result]):
    """A kind of work that players request."""

    # Two attempts, so that a match that always fails does not occupy workers for ever
    terms = AttemptTerms(attempts=2, limit=timedelta(minutes=20))
    allowance = Allowance(share=0.5)
    final_errors: ClassVar[tuple[type[Exception], ...]] = (Refused,)
    expected_errors = (BotFailed,)
    model: type[Any]
    key: ClassVar[str]  # The column of the job that refers to the request.
    reads: ClassVar[tuple[str, ...]]  # Columns of the request that are read

    def subject(self, row: Job) -> Row:
        """Load the request."""
        request: Row = self.model._default_manager.only("status", *self.reads).get(pk=getattr(row, f"{self.key}_id"))
        return request

    def is_overdue(self, *, now: datetime | None = None) -> bool:
        """Return True if a request has waited longer than `PATIENCE` and only ladder matches go before it. One query, or two."""
        now = clock.now_or(now)
        jobs = queue.waiting(self.kind, now=now).filter(created__lte=now - PATIENCE)
        return jobs.exists() and not is_match_waiting(before_ladders=True, now=now)

    def waiting(self, now: datetime) -> QuerySet[Job]:
        """Return the jobs that may be claimed. Those about a match under embargo wait until its cards are visible."""
        match = f"{self.key}__match"
        embargoed = Q(**{f"{match}__embargo__gt": now}) | Q(**{f"{match}__tournament__embargo__gt": now})
        may_begin = {f"{self.key}__status": JudgementStatus.ASKED, f"{match}__status": MatchStatus.FINISHED}
        return super().waiting(now).filter(**may_begin).exclude(embargoed)

    def begun(self, row: Job, subject: Row, *, now: datetime) -> None:
        """Show that a worker has begun."""
        transitions.move(subject, JudgementStatus.WORKING, now=now, actor=row.worker)

    def waits_again(self, row: Job, job: JobLease[Row] | None, why: str, *, now: datetime) -> None:
        """Queue the request again with the results so far."""
        columns = self.unfinished(job) if job else {}
        self._move(row, JudgementStatus.ASKED, why, now=now, **({"reason": why} if why else {}), **columns)

    def given_up(self, row: Job, job: JobLease[Row] | None, why: str, *, now: datetime) -> None:
        """Mark the request as failed."""
        columns = self.abandoned(job) if job else {}
        self._move(row, JudgementStatus.FAILED, why, now=now, reason=why, finished=now, **columns)

    def store(self, job: JobLease[Row], result: Result, *, now: datetime) -> None:
        """Show the result."""
        columns = self.result(job, result)
        self._move(job.row, JudgementStatus.DONE, "", now=now, reason="", finished=now, **columns)

    @abstractmethod
    def result(self, job: JobLease[Row], result: Result) -> dict[str, Any]:
        """Return the columns of a finished request."""

    def unfinished(self, job: JobLease[Row]) -> dict[str, Any]:
        """Return the columns that store the results so far, for the next attempt."""
        return {}

    def abandoned(self, job: JobLease[Row]) -> dict[str, Any]:
        """Return the columns of a request that is not tried again."""
        return {}

    def _move(self, row: Job, to: str, why: str, *, now: datetime, **columns: Any) -> None:
        request = self.model._default_manager.only("status").get(pk=getattr(row, f"{self.key}_id"))
        transitions.move(request, to, now=now, actor=row.worker, why=why, **columns)

    def expire(self, *, now: datetime | None = None) -> int:
        """Take back jobs whose leases have expired. Remove old failures, and requests about matches that were voided since."""
        now = clock.now_or(now)
        requests = self.model._default_manager
        failed_before = now - timedelta(days=FAILED_DAYS)
        requests.filter(status=JudgementStatus.FAILED, finished__lt=failed_before).delete()
        requests.filter(status=JudgementStatus.ASKED).exclude(match__status=MatchStatus.FINISHED).delete()
        count = super().expire(now=now)
        self._mend(now)
        return count

    def _mend(self, now: datetime) -> None:
        """Give a job to each open request, and remove the jobs of finished ones: the previous release does not maintain jobs."""
        jobs = Job.objects.filter(kind=self.kind)
        open_requests = self.model._default_manager.filter(status__in=WAITING)
        for request in open_requests.exclude(jobs__kind=self.kind).select_related("asked_by")[: queue.MOST]:
            enqueue(request, now=now)
        over = [JudgementStatus.DONE, JudgementStatus.FAILED]
        jobs.filter(**{f"{self.key}__status__in": over}).delete()
        lost = jobs.filter(state=JobState.QUEUED, **{f"{self.key}__status": JudgementStatus.WORKING})
        for pk in list(lost.values_list("pk", flat=True)[: queue.MOST]):
            with suppress(IllegalMove), transaction.atomic():
                row = lost.filter(pk=pk).select_for_update(of=("self",)).first()
                if row is not None:
                    self._move(row, JudgementStatus.ASKED, "its worker was lost", now=now)
