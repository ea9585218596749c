"""A kind of work, as a worker sees it: the `Lease` of a job and the `Handler` that knows how to do it.

A handler says how a job is read, prepared, run and reported, and what becomes of one that is given back or fails. `execute` is the one course
that every job takes.
"""

from __future__ import annotations

import logging
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from django.db import OperationalError, connection

from engine.sandbox import Sandbox
from league.domain.core import clock, queue
from league.domain.core.errors import IllegalMove
from league.domain.matches.reports import Receipt
from league.models import Leased, Match

log = logging.getLogger("league.jobs")
REPORT_PAUSES_S = (1, 2, 4, 8, 15)  # between attempts to report while the database is away: a played match is expensive


class Site(Protocol):
    """The worker on which a handler runs."""

    name: str
    folder: Path  # The unpacked bots, by content

    def proven_sandbox(self) -> Sandbox:
        """Return the sandbox that has passed its canary battery. Raises RuntimeError if there is none."""
        ...


@dataclass(frozen=True)
class Signals:
    """The signals between a worker and the handler that runs on it."""

    stop: Callable[[], bool]  # True asks the handler to end and to return None
    # The handler calls it with the seconds that the job still takes; the worker then prepares the next job
    ending: Callable[[float], None] | None = None
    # Returns what the worker wants to do at once while the job stands still, or None
    interlude: Callable[[], Callable[[], None] | None] | None = None


class Lease:
    """A row of work that this worker has: a match, or a job."""

    lost = False  # another worker has the lease by now
    in_the_way = False  # somebody waits for this worker, and this job may stand still or be given back
    match_shown: Match | None = None  # the match that the worker is shown to play

    def __init__(self, kind: str, row: Leased) -> None:
        self.kind = kind
        self.row = row
        self.task: Any = None  # the handler has read it
        self.progress = 0  # percent
        self.leased_at = time.monotonic()

    def log_context(self) -> AbstractContextManager[None]:
        """Return a context in which log lines name this job."""
        return nullcontext()

    def start(self) -> None:
        """Begin the attempt, where the claim has not begun it. Raises IllegalMove if the job must not begin any more."""

    def count_attempt(self) -> bool:
        """Count the attempt, where the claim has not counted it, before its bots are started ahead. Return False if the lease is lost."""
        return True

    def stand_still(self, upload: Lease) -> bool:
        """Keep the lease while this worker validates `upload`. Return False if it is lost."""
        return False

    def leave_out(self, seconds: float) -> None:
        """Do not count the time for which it stood still."""

    def beat(self, *, now: datetime | None = None) -> None:
        """Renew the lease, and note the course of the work."""
        self.lost |= not queue.beat(self.row, now=clock.now_or(now), **self.course())

    def course(self) -> dict[str, Any]:
        """Return the columns of the row that say how the work goes."""
        return {"progress": self.progress}

    def must_stop(self) -> bool:
        """Return True if the job has to end now."""
        return self.lost


J = TypeVar("J", bound=Lease)
Task = TypeVar("Task")
Result = TypeVar("Result")


class Handler(ABC, Generic[J, Task, Result]):
    """The way in which one kind of work is done."""

    kinds: ClassVar[tuple[str, ...]]

    @abstractmethod
    def read(self, job: J, site: Site) -> Task:
        """Load what the job needs. Name the columns: nothing else is read."""

    def prepare(self, task: Task, site: Site, core: int) -> None:
        """Start bots ahead on a free core, while the worker still runs another job."""

    @abstractmethod
    def run(self, job: J, task: Task, site: Site, signals: Signals) -> Result | None:
        """Do the work. Return None if it was stopped before the end."""

    def close(self, task: Task) -> None:
        """End what `prepare` or `run` has started."""

    @abstractmethod
    def report(self, job: J, result: Result, *, now: datetime | None = None) -> Receipt:
        """Store the result and finish the job, in one transaction that the lease guards."""

    @abstractmethod
    def give_back(self, job: J, why: str, *, now: datetime | None = None) -> None:
        """Release the lease without counting an attempt; do nothing if another worker has it."""

    @abstractmethod
    def fail(self, job: J, error: Exception, *, now: datetime | None = None) -> None:
        """End the attempt after a fault of ours; do nothing if another worker has the lease."""


def execute(
    handler: Handler[Any, Any, Any],
    job: Lease,
    site: Site,
    signals: Signals,
    *,
    beating: AbstractContextManager[None] | None = None,
    now: datetime | None = None,
) -> Receipt | None:
    """Run a leased job and report it. Return None if it was given back, has failed, or was lost to another worker.

    beating: a context in which the lease is renewed. now: the time of the report, for tests.
    """
    began = time.monotonic()
    with job.log_context():
        try:
            with beating or nullcontext():
                result = _run(handler, job, site, signals)
        except IllegalMove as error:
            log.warning("%s: %s", job, error)
            handler.give_back(job, str(error), now=now)
            return None
        except Exception as error:
            handler.fail(job, error, now=now)
            return None
        if job.lost:
            log.warning("%s: the lease was lost, the result is dropped", job)
            return None
        if result is None:
            handler.give_back(job, f"worker {site.name} was told to stop", now=now)
            return None
        receipt = _report(handler, job, result, now)
        log.info("%s: %s after %.1f s", job, receipt, time.monotonic() - began)
        return receipt


def _run(handler: Handler[Any, Any, Any], job: Lease, site: Site, signals: Signals) -> Any:
    try:
        job.start()
        if job.task is None:
            job.task = handler.read(job, site)
        return handler.run(job, job.task, site, signals)
    finally:
        if job.task is not None:
            handler.close(job.task)


def _report(handler: Handler[Any, Any, Any], job: Lease, result: Any, now: datetime | None) -> Receipt:
    """Report, again and again while the database is away. A report that was stored and not answered is known by its token."""
    for pause in REPORT_PAUSES_S:
        try:
            return handler.report(job, result, now=now)
        except OperationalError as error:
            log.warning("%s cannot be reported, trying again: %s", job, error)
            connection.close()
            time.sleep(pause)
    return handler.report(job, result, now=now)
