"""Work that a worker does where no match waits for it. It is given back as soon as one does.

Rows that a player asked for on a finished match (judgements, consultations) wait in a queue of their own, in which players take turns.
"""

from __future__ import annotations

import logging
import time
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any, ClassVar, Generic, TypeVar

from django.conf import settings
from django.db import transaction
from django.db.models import Q, QuerySet

from league.domain.core import clock, transitions
from league.domain.core.errors import IllegalMove, Refused, without_folders
from league.domain.jobs.handlers.base import Handler, J, Job, Result, Task
from league.domain.matches import background, holds
from league.enums import JudgementStatus, MatchKind, MatchStatus
from league.models import Consultation, Judgement, Match

log = logging.getLogger("league.jobs")
ATTEMPTS = 2  # that may fail by a fault of ours; a match that breaks the work is not put to it for ever
PATIENCE = timedelta(minutes=2)  # a request waits for matches of ladders, too, for this long
YIELD_LOOK_S = 0.5  # between two looks whether something waits that goes first
Row = TypeVar("Row", bound=Judgement | Consultation)


@dataclass(frozen=True)
class Allowance:
    """The share of its time that a worker spends on some kinds of idle work before matches of ladders, which never end."""

    share: float
    pause_s: float = 0.0  # between two looks at least

    def rest_s(self, spent_s: float) -> float:
        """Return the seconds for which these kinds of work wait after they have taken `spent_s`."""
        return max(self.pause_s, spent_s * (1 - self.share) / self.share)


ON_REQUEST = Allowance(share=0.5)


class IdleJob(Job):
    """Idle work that this worker has leased."""

    def __init__(self, kind: str, yields: Callable[[], bool] = lambda: False) -> None:
        """yields: returns True if something waits that goes first; it asks the database."""
        super().__init__(kind)
        self.has_yielded = False
        self._yields = yields
        self._looked = time.monotonic()

    def must_stop(self) -> bool:
        """Return True if the lease is lost or something waits that goes first. The database is asked now and then."""
        if time.monotonic() - self._looked >= YIELD_LOOK_S:
            self._looked = time.monotonic()
            self.has_yielded |= self._yields()
        return self.lost or self.has_yielded


class IdleHandler(Handler[J, Task, Result], Generic[J, Task, Result]):
    """A kind of work that is done where no match waits."""

    allowance: ClassVar[Allowance]
    needs_sandbox: ClassVar[bool] = True

    @abstractmethod
    def claim(self, worker: str, *, before_ladders: bool = False, now: datetime | None = None) -> J | None:
        """Lease the next job to `worker`. Return None if there is none, or something waits that goes first.

        before_ladders: matches of ladders do not go first.
        """

    @abstractmethod
    def has_waiting(self, *, now: datetime) -> bool:
        """Return True if a job waits that may be claimed once nothing else goes first."""

    @abstractmethod
    def is_overdue(self, *, now: datetime | None = None) -> bool:
        """Return True if the work has waited long enough to go before matches of ladders."""

    @abstractmethod
    def expire(self, *, now: datetime | None = None) -> int:
        """Take back what silent workers hold past their lease. Return the number of jobs."""


def is_match_waiting(*, before_ladders: bool = False, now: datetime | None = None) -> bool:
    """Return True if a match waits that may be played now. One query, of the rows that a claim reads.

    before_ladders: matches of ladders do not count.
    """
    queued = Match.line.filter(holds.due(clock.now_or(now)), status=MatchStatus.QUEUED, held_back=False)
    return queued.exclude(kind__in=[MatchKind.AUDIT, *([MatchKind.LADDER] if before_ladders else [])]).exists()


# ---- what players ask for


class RequestJob(IdleJob, Generic[Row]):
    """A judgement or consultation that this worker has leased."""

    def __init__(self, kind: str, row: Row, yields: Callable[[], bool] = lambda: False) -> None:
        super().__init__(kind, yields)
        self.row: Row = row
        self.progress = row.progress

    def __str__(self) -> str:
        return transitions.subject(self.row).replace(":", " ")

    def beat(self, *, now: datetime | None = None) -> None:
        """Renew the lease and note the progress."""
        leased = type(self.row)._default_manager.filter(
            pk=self.row.pk, token=self.row.token, status=JudgementStatus.WORKING
        )
        self.lost |= not leased.update(lease_until=_deadline(clock.now_or(now)), progress=self.progress)

    def move(self, to: str, *, now: datetime | None, why: str = "", **columns: object) -> bool:
        """End the lease with a new status. Return False if another worker has it."""
        row = self.row
        guard = {"token": row.token}
        try:
            transitions.move(
                row, to, now=clock.now_or(now), actor=row.worker, why=why, guard=guard, lease_until=None, **columns
            )
        except IllegalMove as error:
            log.warning("%s: %s", self, error)
            return False
        return True


class RequestHandler(IdleHandler[RequestJob[Row], Task, Result], Generic[Row, Task, Result]):
    """A kind of work that players ask for: its rows are their own places in a queue."""

    allowance = ON_REQUEST
    model: type[Any]
    reads: ClassVar[tuple[str, ...]]  # columns of the model that a claim reads
    final_errors: ClassVar[tuple[type[Exception], ...]] = (Refused,)  # the next attempt would end like this one

    def is_overdue(self, *, now: datetime | None = None) -> bool:
        """Return True if a row has waited for longer than `PATIENCE` and only ladders keep it waiting. One query, or two."""
        now = clock.now_or(now)
        rows = self.model._default_manager.filter(status=JudgementStatus.ASKED, created__lte=now - PATIENCE)
        return rows.exists() and not is_match_waiting(before_ladders=True, now=now)

    def waiting(self, now: datetime) -> QuerySet[Any]:
        """Return the rows that may be claimed. Those of an embargoed match wait until its cards are shown."""
        embargoed = Q(match__embargo__gt=now) | Q(match__tournament__embargo__gt=now)
        rows: QuerySet[Any] = self.model._default_manager.filter(
            status=JudgementStatus.ASKED, match__status=MatchStatus.FINISHED
        )
        return rows.exclude(embargoed)

    def has_waiting(self, *, now: datetime) -> bool:
        """Return True if a row may be claimed once no match waits."""
        return self.waiting(now).exists()

    def claim(
        self, worker: str, *, before_ladders: bool = False, now: datetime | None = None
    ) -> RequestJob[Row] | None:
        """Lease the next row to `worker`; players take turns. Return None if there is none or a match waits."""
        now = clock.now_or(now)
        rows = self.model._default_manager.filter(status=JudgementStatus.ASKED)
        if not rows.exists() or is_match_waiting(before_ladders=before_ladders, now=now):
            return None
        with transaction.atomic():
            queue = self.waiting(now).only(*self.reads).order_by("place", "id")
            row = queue.select_for_update(skip_locked=True, of=("self",)).first()
            if row is None:
                return None
            transitions.move(
                row,
                JudgementStatus.WORKING,
                now=now,
                actor=worker,
                guard={"token": row.token},
                token=row.token + 1,
                worker=worker,
                lease_until=_deadline(now),
                attempts=row.attempts + 1,
            )
        return RequestJob(self.kinds[0], row, partial(is_match_waiting, before_ladders=before_ladders))

    def expire(self, *, now: datetime | None = None, most: int = 500) -> int:
        """Take back what silent workers hold past their lease. Forget old failures, and requests on matches that were voided since."""
        now = clock.now_or(now)
        rows = self.model._default_manager
        failed_before = now - timedelta(days=background.FAILED_DAYS)
        rows.filter(status=JudgementStatus.FAILED, finished__lt=failed_before).delete()
        rows.filter(status=JudgementStatus.ASKED).exclude(match__status=MatchStatus.FINISHED).delete()
        overdue = rows.filter(status=JudgementStatus.WORKING, lease_until__lt=now)
        count = 0
        for row in overdue.only("status", "token", "worker", "attempts").order_by("id")[:most]:
            why = f"worker {row.worker} was lost"
            last = row.attempts >= ATTEMPTS
            to = JudgementStatus.FAILED if last else JudgementStatus.ASKED
            guard = {"token": row.token, "lease_until__lt": now}
            columns = {"worker": "", "lease_until": None, "reason": why} | ({"finished": now} if last else {})
            try:
                transitions.move(row, to, now=now, actor=row.worker, why=why, guard=guard, **columns)
            except IllegalMove:
                continue
            count += 1
        return count

    def give_back(self, job: RequestJob[Row], why: str, *, now: datetime | None = None) -> None:
        """Put the row back into its queue with what is done so far; no attempt is counted."""
        attempts = max(0, job.row.attempts - 1)
        job.move(JudgementStatus.ASKED, now=now, worker="", attempts=attempts, **self.unfinished(job))

    def fail(self, job: RequestJob[Row], error: Exception, *, now: datetime | None = None) -> None:
        """Try the row once more, unless it was tried before or the next attempt would end like this one."""
        final = isinstance(error, self.final_errors)
        if final or isinstance(error, BotFailed):
            why = str(error)[:500]
        else:
            log.error("%s: attempt %d failed", job, job.row.attempts, exc_info=error)
            why = f"{type(error).__name__}: {error}"[:500]
        why = without_folders(why).replace("\0", "\ufffd")  # PostgreSQL has no NUL in text
        if not final and job.row.attempts < ATTEMPTS:
            job.move(JudgementStatus.ASKED, now=now, why=why, reason=why, worker="", **self.unfinished(job))
        else:
            columns = {"reason": why, "finished": clock.now_or(now), **self.abandoned(job)}
            job.move(JudgementStatus.FAILED, now=now, why=why, **columns)

    def unfinished(self, job: RequestJob[Row]) -> dict[str, Any]:
        """Return the columns that keep what was done so far, for the next attempt."""
        return {"progress": 0}

    def abandoned(self, job: RequestJob[Row]) -> dict[str, Any]:
        """Return the columns of a row that no further attempt is made at."""
        return {}


class BotFailed(Exception):
    """The bot that was put to the work failed; the next attempt may go better."""


def _deadline(now: datetime) -> datetime:
    return now + timedelta(seconds=settings.LEASE_S)
