"""A kind of work that the league does not have: it counts the boards of each finished match. One module, and one registration."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from functools import partial

from league.domain.jobs.handlers.base import Signals, Site
from league.domain.jobs.handlers.idle import Allowance, IdleHandler, IdleJob, is_match_waiting
from league.domain.matches.reports import Receipt
from league.models import Match


class CountingJob(IdleJob):
    """A match whose boards are to be counted."""

    def __init__(self, match: int, yields: Callable[[], bool]) -> None:
        super().__init__("counting", yields)
        self.match = match


class CountingHandler(IdleHandler[CountingJob, Match, int]):
    """Counts boards, and notes what became of each job."""

    kinds = ("counting",)
    allowance = Allowance(share=0.2)
    needs_sandbox = False

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}
        self.failed: list[str] = []
        self.given_back: list[str] = []
        self.breaks = False

    def has_waiting(self, *, now: datetime) -> bool:
        """Return True if a match was not counted."""
        return Match.objects.filter(status="finished").exclude(public_id__in=[*self.counts, *self.failed]).exists()

    def is_overdue(self, *, now: datetime | None = None) -> bool:
        """Return False: it waits for ladders, too."""
        return False

    def claim(self, worker: str, *, before_ladders: bool = False, now: datetime | None = None) -> CountingJob | None:
        """Return the next match, if none waits to be played."""
        if is_match_waiting(before_ladders=before_ladders, now=now):
            return None
        rows = Match.objects.filter(status="finished").exclude(public_id__in=[*self.counts, *self.failed])
        match = rows.values_list("pk", flat=True).first()
        return None if match is None else CountingJob(match, partial(is_match_waiting, before_ladders=before_ladders))

    def expire(self, *, now: datetime | None = None) -> int:
        """Do nothing: nobody else counts."""
        return 0

    def read(self, job: CountingJob, site: Site) -> Match:
        """Load the match."""
        return Match.objects.only("public_id").get(pk=job.match)

    def run(self, job: CountingJob, task: Match, site: Site, signals: Signals) -> int | None:
        """Count."""
        if self.breaks:
            raise ArithmeticError("it cannot count")
        return None if signals.stop() else task.boards.count()

    def report(self, job: CountingJob, result: int, *, now: datetime | None = None) -> Receipt:
        """Note the number."""
        self.counts[job.task.public_id] = result
        return Receipt.STORED

    def give_back(self, job: CountingJob, why: str, *, now: datetime | None = None) -> None:
        """Note why."""
        self.given_back.append(why)

    def fail(self, job: CountingJob, error: Exception, *, now: datetime | None = None) -> None:
        """Leave the match out from now on."""
        self.failed.append(job.task.public_id)
