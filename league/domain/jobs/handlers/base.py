"""A kind of work, for a worker: the `Lease` of a job, and the `Handler` that can do it.

A handler defines how a job is read, prepared, run and reported, and what happens when a job is given back or fails. `execute` does these steps for
every job.
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
# Seconds between attempts to report while the database is down, because a played match is valuable
REPORT_PAUSES_S = (1, 2, 4, 8, 15)


class Site(Protocol):
    """The worker on which a handler runs."""

    name: str
    folder: Path  # The unpacked bots, by content

    def proven_sandbox(self) -> Sandbox:
        """Return the sandbox that has passed its tests. Raise RuntimeError if there is none."""
        ...

    def why_disk_fails(self) -> str:
        """Return why nothing can be written to the disk now, or ""."""
        ...


@dataclass(frozen=True)
class Signals:
    """The signals between a worker and the handler that it runs."""

    stop: Callable[[], bool]  # Returns True if the handler shall end and return None
    # The handler calls it with the seconds that the job will still take; then the worker prepares the next job
    ending: Callable[[float], None] | None = None
    # Returns a function that the worker wants to run at once while the job stands still, or None
    interlude: Callable[[], Callable[[], None] | None] | None = None


class Lease:
    """A row of work that this worker has: a match, or a job."""

    lost = False  # True if another worker has the lease
    in_the_way = False  # True if somebody waits for this worker, and this job may stand still or be given back
    match_shown: Match | None = None  # The match that pages show as played by this worker

    def __init__(self, kind: str, row: Leased) -> None:
        self.kind = kind
        self.row = row
        self.task: Any = None  # Set once the handler has read the job
        self.progress = 0  # Percent
        self.leased_at = time.monotonic()

    def log_context(self) -> AbstractContextManager[None]:
        """Return a context in which log lines name this job."""
        return nullcontext()

    def start(self) -> None:
        """Begin the attempt, unless the claim already has. Raise IllegalMove if the job may no longer begin."""

    def count_attempt(self) -> bool:
        """Count the attempt before bots are started in advance, unless the claim has counted it. Return False if the lease is lost."""
        return True

    def stand_still(self, upload: Lease) -> bool:
        """Keep the lease while this worker validates `upload`. Return False if the lease is lost."""
        return False

    def leave_out(self, seconds: float) -> None:
        """Leave out the time for which the job stood still."""

    def beat(self, *, now: datetime | None = None) -> None:
        """Renew the lease, and note the progress."""
        self.lost |= not queue.beat(self.row, now=clock.now_or(now), **self.course())

    def course(self) -> dict[str, Any]:
        """Return the columns of the row that show the progress."""
        return {"progress": self.progress}

    def must_stop(self) -> bool:
        """Return True if the job must end now."""
        return self.lost


J = TypeVar("J", bound=Lease)
Task = TypeVar("Task")
Result = TypeVar("Result")


class Handler(ABC, Generic[J, Task, Result]):
    """The interface of one kind of work."""

    kinds: ClassVar[tuple[str, ...]]

    @abstractmethod
    def read(self, job: J, site: Site) -> Task:
        """Load everything that the job needs, in queries that list their columns."""

    def prepare(self, task: Task, site: Site, core: int) -> None:
        """Start bots in advance on a free core, while the worker still runs another job."""

    @abstractmethod
    def run(self, job: J, task: Task, site: Site, signals: Signals) -> Result | None:
        """Do the work. Return None if it was stopped before its end."""

    def close(self, task: Task) -> None:
        """Stop everything that `prepare` or `run` has started."""

    @abstractmethod
    def report(self, job: J, result: Result, *, now: datetime | None = None) -> Receipt:
        """Store the result and finish the job, in one transaction that checks the lease."""

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
    """Run a leased job and report it. Return None if it was given back, has failed, or the lease was lost.

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
            if why := site.why_disk_fails():
                log.warning("%s: the attempt is not counted, because %s", job, why)
                handler.give_back(job, why, now=now)
            else:
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
    """Report, and repeat while the database is down. If a report was stored without an answer, its token shows that."""
    for pause in REPORT_PAUSES_S:
        try:
            return handler.report(job, result, now=now)
        except OperationalError as error:
            log.warning("%s cannot be reported, trying again: %s", job, error)
            connection.close()
            time.sleep(pause)
    return handler.report(job, result, now=now)
