"""A kind of work that the league does not have, added by one module and one registration: it counts the boards of each judged match."""

from __future__ import annotations

from datetime import datetime

from league.domain.core.queue import AttemptTerms
from league.domain.jobs.handlers.base import Signals, Site
from league.domain.jobs.handlers.idle import Allowance, IdleHandler, JobLease
from league.models import Job, Judgement, Match

CountingJob = JobLease[Judgement]


class CountingHandler(IdleHandler[Judgement, Match, int]):
    """Counts boards, and records what becomes of each job."""

    kinds = ("counting",)
    terms = AttemptTerms(attempts=2)
    allowance = Allowance(share=0.2)
    needs_sandbox = False

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}
        self.again: list[str] = []
        self.failed: list[str] = []
        self.breaks = False

    def subject(self, row: Job) -> Judgement:
        """Load the analysis whose match is counted."""
        return Judgement.objects.only("match").get(jobs=row)

    def read(self, job: CountingJob, site: Site) -> Match:
        """Load the match."""
        return Match.objects.only("public_id").get(pk=job.subject.match_id)

    def run(self, job: CountingJob, task: Match, site: Site, signals: Signals) -> int | None:
        """Count the boards."""
        if self.breaks:
            raise ArithmeticError("it cannot count")
        return None if signals.stop() else task.boards.count()

    def store(self, job: CountingJob, result: int, *, now: datetime) -> None:
        """Record the number."""
        self.counts[job.task.public_id] = result

    def waits_again(self, row: Job, job: CountingJob | None, why: str, *, now: datetime) -> None:
        """Record the reason."""
        self.again.append(why)

    def given_up(self, row: Job, job: CountingJob | None, why: str, *, now: datetime) -> None:
        """Record the reason."""
        self.failed.append(why)
