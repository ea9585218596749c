"""Fetches of versions from Git repositories, on workers with Git that the operator lets out. They go before matches, like builds."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import QuerySet

from engine.packages import fetching, git_http
from engine.packages.fetching import Fetched
from league.domain.bots import fetches
from league.domain.core import clock
from league.domain.core.errors import Refused
from league.domain.core.queue import AttemptTerms
from league.domain.jobs.handlers.base import Signals, Site
from league.domain.jobs.handlers.idle import Allowance, IdleHandler, JobLease
from league.models import Fetch, Job

FetchJob = JobLease[Fetch]


@dataclass(frozen=True)
class FetchTask:
    """The repository of a fetch. private: its host may have an address that is not public; why: it may not be fetched here."""

    private: bool
    why: str = ""


class FetchHandler(IdleHandler[Fetch, FetchTask, Fetched]):
    """The work on a fetch."""

    kinds = (fetches.JOB,)
    terms = AttemptTerms(attempts=3, limit=timedelta(minutes=5))
    allowance = Allowance(share=0.25)

    def subject(self, row: Job) -> Fetch:
        """Load the fetch."""
        return Fetch.objects.defer("result").get(jobs=row)

    def waiting(self, now: datetime) -> QuerySet[Job]:
        """Return the jobs, if this machine may do them."""
        jobs = super().waiting(now)
        return jobs if not jobs.exists() or fetches.is_possible_here() else jobs.none()

    def is_overdue(self, *, now: datetime | None = None) -> bool:
        """Return True if a fetch is waiting that this machine can do."""
        return self.has_waiting(now=clock.now_or(now))

    def goes_after(self, *, before_ladders: bool, now: datetime | None = None) -> bool:
        """Return False: no other work goes first, and the allowance leaves time for it."""
        return False

    def read(self, job: FetchJob, site: Site) -> FetchTask:
        """Check again that this league may fetch from there: the row may be older than the settings."""
        try:
            fetches.check(job.subject.url, job.subject.folder)
        except Refused as refused:
            return FetchTask(private=False, why=str(refused))
        return FetchTask(fetches.is_private(git_http.parse(job.subject.url)))

    def run(self, job: FetchJob, task: FetchTask, site: Site, signals: Signals) -> Fetched | None:
        """Fetch. Raise SandboxError for a fault of this machine."""
        if task.why:
            return Fetched(why=task.why)
        row, state_dir = job.subject, site.proven_sandbox().state_dir
        return fetching.fetch(row.url, row.tag, row.folder, state_dir, private=task.private, stop=signals.stop)

    def store(self, job: FetchJob, result: Fetched, *, now: datetime) -> None:
        """Fill in the row; the scheduler does the rest."""
        data = None if result.why else result.data
        Fetch.objects.filter(pk=job.subject.pk, finished=None).update(
            commit=result.commit, why=result.why, result=data, finished=now
        )

    def given_up(self, row: Job, job: FetchJob | None, why: str, *, now: datetime) -> None:
        """Note that the league could not fetch it."""
        Fetch.objects.filter(pk=row.fetch_id or 0, finished=None).update(
            why="the league could not fetch it; try again later", finished=now
        )
