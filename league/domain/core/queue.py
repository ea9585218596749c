"""The queue of jobs: those that wait for a worker, and those that a worker has, with their leases.

A job is about one subject (`Job`). A claim leases it; its id and a token that grows with every claim name the lease, and whoever comes with an
older one is refused. A job that is over is deleted, for its subject says what came of it: so a claim reads the first rows of an index of those
that wait, however many were done before.

Whoever changes a subject under a lease locks the job before the subject (`lock`). Every writer keeps this order, so no two wait for each other.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Case, F, Q, QuerySet, When

from league.domain.core.errors import without_folders
from league.enums import JobState
from league.models import Job, Player

BACKOFF_S = 2  # The pause before the second attempt; it doubles with each further one
MOST = 500  # jobs of one pass


@dataclass(frozen=True)
class Terms:
    """The terms on which a kind of work is done."""

    attempts: int  # that may end by a fault of ours
    limit: timedelta | None = None  # An attempt is taken from its worker after this time, whatever the worker says.


class LeaseLost(Exception):
    """The worker no longer has the job: it was withdrawn, or another worker has it."""


def add(kind: str, *, now: datetime, owner: Player | None = None, position: int = 0, **subject: Any) -> Job:
    """Queue work on a subject, such as `table=row`. A subject has one job of a kind: if it is there, return that one."""
    defaults = {"owner": owner, "position": position, "created": now}
    return Job.objects.get_or_create(kind=kind, **subject, defaults=defaults)[0]


def withdraw(kind: str, **subject: Any) -> bool:
    """Delete the job of a subject, whoever has it. Return False if there is none."""
    return bool(Job.objects.filter(kind=kind, **subject).delete()[0])


def turn_of(kind: str, owner: Player) -> int:
    """Return the position of the next job of a player: the number of those that wait or run, so that players take turns."""
    return Job.objects.filter(kind=kind, owner=owner).count()


def waiting(kind: str, *, now: datetime) -> QuerySet[Job]:
    """Return the jobs that may be claimed."""
    return Job.objects.filter(Q(not_before=None) | Q(not_before__lte=now), kind=kind, state=JobState.QUEUED)


def claim(rows: QuerySet[Job], worker: str, terms: Terms, *, now: datetime) -> Job | None:
    """Lease the first of these sorted rows to `worker`. Return None if there is none. In a transaction.

    PostgreSQL skips rows that others are claiming; on SQLite the transaction holds the one write lock.
    """
    row = rows.select_for_update(skip_locked=True, of=("self",)).first()
    if row is None:
        return None
    ends_by = now + terms.limit if terms.limit else None
    lease: dict[str, Any] = {"worker": worker, "lease_until": _deadline(now, ends_by), "ends_by": ends_by}
    _write(row, state=JobState.LEASED, token=row.token + 1, attempts=row.attempts + 1, **lease)
    return row


def leased(row: Job) -> QuerySet[Job]:
    """Select a job if it still has the lease that it was read with."""
    return Job.objects.filter(pk=row.pk, token=row.token, state=JobState.LEASED)


def lock(row: Job) -> None:
    """Lock a leased job for the rest of the transaction, before its subject is changed. Raises LeaseLost."""
    if leased(row).select_for_update().values_list("pk").first() is None:
        raise LeaseLost(f"{row} is no longer held by worker {row.worker}")


def beat(row: Job, *, now: datetime, progress: int | None = None) -> bool:
    """Renew a lease, at most until the attempt has to end, and note progress in percent. Return False if the lease is lost."""
    until = now + timedelta(seconds=settings.LEASE_S)
    columns = {} if progress is None else {"progress": progress}
    alive = leased(row).exclude(ends_by__lte=now)
    return bool(alive.update(lease_until=Case(When(ends_by__lte=until, then=F("ends_by")), default=until), **columns))


def count_from_here(row: Job) -> None:
    """Forget the attempts before: the work has come further, so a later fault is another one. The job is locked."""
    if row.attempts:
        _write(row, attempts=0)


def finish(row: Job) -> None:
    """Delete a job that is over. Raises LeaseLost."""
    if not leased(row).delete()[0]:
        raise LeaseLost(f"{row} is no longer held by worker {row.worker}")


def release(row: Job, *, not_before: datetime | None = None, **columns: Any) -> None:
    """Put a job back into the queue; no attempt is counted. Raises LeaseLost."""
    lock(row)
    _requeue(row, attempts=max(0, row.attempts - 1), not_before=not_before, **columns)


def retry(row: Job, terms: Terms, why: str, *, now: datetime, **columns: Any) -> bool:
    """End an attempt after a fault of ours: the job waits a little and is tried again. Return False if that was the last one; then it is deleted.

    Raises LeaseLost.
    """
    lock(row)
    if row.attempts >= terms.attempts:
        finish(row)
        return False
    pause = timedelta(seconds=BACKOFF_S * 2 ** max(0, row.attempts - 1))
    _requeue(row, not_before=now + pause, reason=without_folders(why), **columns)
    return True


def expire(kind: str, take_back: Callable[[Job, str], object], *, now: datetime) -> int:
    """Call `take_back` with each overdue job and the reason, in a transaction that has locked the job. Return the number of jobs."""
    overdue = Job.objects.filter(kind=kind, state=JobState.LEASED, lease_until__lt=now).order_by("id")
    count = 0
    for pk in list(overdue.values_list("pk", flat=True)[:MOST]):
        with transaction.atomic():
            row = overdue.filter(pk=pk).select_for_update(skip_locked=True).first()
            if row is None:  # Its worker was only late
                continue
            take_back(row, f"worker {row.worker} was lost")
            count += 1
    return count


def _requeue(row: Job, **columns: Any) -> None:
    worker = row.worker
    _write(row, state=JobState.QUEUED, worker="", lease_until=None, ends_by=None, **columns)
    row.worker = worker  # Whoever ends the attempt notes whose it was


def _write(row: Job, **columns: Any) -> None:
    """Change a job that this transaction has locked."""
    Job.objects.filter(pk=row.pk).update(**columns)
    for name, value in columns.items():
        setattr(row, name, value)


def _deadline(now: datetime, ends_by: datetime | None) -> datetime:
    until = now + timedelta(seconds=settings.LEASE_S)
    return min(until, ends_by) if ends_by else until
