"""The queue: rows of work that wait for a worker, and rows that a worker has leased.

A match is its own row of work; all other work of a worker is a job (`Job`) with one subject. Both have the columns of `Leased`, and the functions
here claim, renew, check, free and expire both. To claim is to lease a row. A lease is named by the row and by a token that grows with every claim;
a worker with an older token is refused.

A finished job is deleted, because its subject has the result: thus a claim reads the first rows of an index of waiting jobs, however many were done
before.

Code that changes a subject under a lease locks the job before the subject (`lock`). All writers keep this order, so there is no deadlock.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, TypeVar

from django.conf import settings
from django.db import transaction
from django.db.models import Case, F, Q, QuerySet, When

from league.domain.core import transitions
from league.domain.core.errors import IllegalMove, without_folders
from league.enums import JobState
from league.models import Job, Leased, Player

BACKOFF_S = 2  # The pause before the second attempt; it doubles with each further one
MOST = 500  # The most rows of one pass
UNCOUNTED = Case(When(attempts__gt=0, then=F("attempts") - 1), default=0)
Row = TypeVar("Row", bound=Leased)


@dataclass(frozen=True)
class AttemptTerms:
    """The conditions for the attempts of a kind of job."""

    attempts: int  # The number of attempts that may end by a fault of ours
    limit: timedelta | None = None  # A worker loses an attempt after this time, even if its heartbeat goes on.


class LeaseLost(Exception):
    """The worker no longer has the row: the row was withdrawn, or another worker has it."""


# ---- leases, of matches and of jobs


def take(
    rows: QuerySet[Row],
    count: int,
    worker: str,
    *,
    now: datetime,
    ends_by: datetime | None = None,
    is_attempt: bool = True,
    **columns: Any,
) -> list[int]:
    """Lease the first `count` of these sorted rows to `worker`, and write `columns`. Return their ids, in no order. Must run in a transaction.

    One statement chooses and leases. PostgreSQL skips rows that others are claiming; on SQLite the transaction holds the one write lock.

    ends_by: no heartbeat renews the lease beyond this time. is_attempt: count an attempt at once.
    """
    lease = {"token": F("token") + 1, "worker": worker, "lease_until": deadline(now, ends_by), "ends_by": ends_by}
    rows = rows.select_for_update(skip_locked=True, of=("self",))[:count]
    attempts = F("attempts") + int(is_attempt)
    return transitions.take(rows, now=now, actor=worker, **lease, attempts=attempts, **columns)


def deadline(now: datetime, ends_by: datetime | None = None) -> datetime:
    """Return the end of a lease that is granted or renewed now."""
    until = now + timedelta(seconds=settings.LEASE_S)
    return min(until, ends_by) if ends_by else until


def leased(row: Row) -> QuerySet[Row]:
    """Select a row if it still has the lease that it was read with."""
    return _held(type(row)).filter(pk=row.pk, token=row.token)


def _held(model: type[Row]) -> QuerySet[Row]:
    """Select the rows that are leased."""
    return model.work.filter(**{f"{model.STATE}__in": model.HELD})


def lock(row: Row) -> Row:
    """Lock a leased row for the rest of the transaction, before its subject is changed. Return its present state. Raise LeaseLost."""
    present = leased(row).select_for_update().first()
    if present is None:
        raise LeaseLost(f"{row} is no longer held by worker {row.worker}")
    return present


def beat(row: Leased, *, now: datetime, **columns: Any) -> bool:
    """Renew a lease, at most until the attempt has to end, and write `columns`, such as the progress. Return False if the lease is lost."""
    until = deadline(now)
    alive = leased(row).exclude(ends_by__lte=now)
    return bool(alive.update(lease_until=Case(When(ends_by__lte=until, then=F("ends_by")), default=until), **columns))


def free(row: Leased, *, now: datetime, why: str = "", guard: dict[str, Any] | None = None, **columns: Any) -> None:
    """Put a leased row back into the queue, and write `columns`. Raise LeaseLost.

    guard: columns that must be unchanged since they were read, besides the token.
    """
    worker, ends_by, fence = row.worker, row.ends_by, {"token": row.token, **(guard or {})}
    freed: dict[str, Any] = {"worker": "", "lease_until": None, "ends_by": None, **columns}
    try:
        transitions.move(row, row.WAITS, now=now, actor=worker, why=why, guard=fence, **freed)
    except IllegalMove as error:
        raise LeaseLost(str(error)) from error
    row.worker, row.ends_by = worker, ends_by  # So that whoever ends the attempt can note its worker and time


def pause(row: Leased) -> timedelta:
    """Return the pause of a row after an attempt that ended by a fault of ours. It doubles with each attempt."""
    return timedelta(seconds=BACKOFF_S * 2 ** max(0, row.attempts - 1))


def overdue(model: type[Row], *, now: datetime) -> QuerySet[Row]:
    """Return the leased rows whose lease has expired, or was released by the worker."""
    return _held(model).filter(lease_until__lt=now).order_by("id")


# ---- jobs


def beat_all(jobs: Collection[Job], *, now: datetime) -> set[tuple[int, int]]:
    """Renew the leases of jobs whose attempts have no limit of time. Return the ids and tokens of those that are still leased. Two queries.

    If a job is leased to another worker between the two, that lease is renewed, which its own heartbeat does anyway.
    """
    rows = _held(Job).filter(pk__in=[job.pk for job in jobs])
    still = set(rows.values_list("pk", "token")) & {(job.pk, job.token) for job in jobs}
    rows.filter(pk__in=[pk for pk, _ in still]).update(lease_until=deadline(now))
    return still


def add(kind: str, *, now: datetime, owner: Player | None = None, position: int = 0, **subject: Any) -> Job:
    """Queue work on a subject, such as `table=row`. A subject has only one job of a kind; if it exists, return that job."""
    defaults = {"owner": owner, "position": position, "created": now}
    return Job.objects.get_or_create(kind=kind, **subject, defaults=defaults)[0]


def withdraw(kind: str, **subject: Any) -> bool:
    """Delete the job of a subject, even if a worker has it. Return False if there is none."""
    return bool(Job.objects.filter(kind=kind, **subject).delete()[0])


def turn_of(kind: str, owner: Player) -> int:
    """Return the position of a player's next job: the number of their waiting and running jobs, so that players take turns."""
    return Job.objects.filter(kind=kind, owner=owner).count()


def waiting(kind: str, *, now: datetime) -> QuerySet[Job]:
    """Return the jobs that may be claimed."""
    return Job.objects.filter(Q(not_before=None) | Q(not_before__lte=now), kind=kind, state=JobState.QUEUED)


def claim(
    rows: QuerySet[Job], worker: str, terms: AttemptTerms, *, now: datetime, is_attempt: bool = True
) -> Job | None:
    """Lease the first of these sorted jobs to `worker`. Return None if there is none. Must run in a transaction."""
    ends_by = now + terms.limit if terms.limit else None
    ids = take(rows, 1, worker, now=now, ends_by=ends_by, is_attempt=is_attempt)
    return Job.objects.get(pk=ids[0]) if ids else None


def count_from_here(row: Job) -> None:
    """Forget earlier attempts: the work has progressed, so a later fault is a new one. The caller has locked the job."""
    if row.attempts:
        Job.objects.filter(pk=row.pk).update(attempts=0)
        row.attempts = 0


def finish(row: Job) -> None:
    """Delete a finished job. Raise LeaseLost."""
    if not leased(row).delete()[0]:
        raise LeaseLost(f"{row} is no longer held by worker {row.worker}")


def release(row: Job, *, now: datetime, not_before: datetime | None = None, **columns: Any) -> None:
    """Put a job back into the queue without counting an attempt. Raise LeaseLost."""
    free(row, now=now, attempts=UNCOUNTED, not_before=not_before, **columns)


def retry(row: Job, terms: AttemptTerms, why: str, *, now: datetime, **columns: Any) -> bool:
    """End an attempt after a fault of ours: the job is tried again after a pause.

    Return False if this was the last attempt, and the job is deleted. Raise LeaseLost.
    """
    if row.attempts >= terms.attempts:
        finish(row)
        return False
    free(row, now=now, not_before=now + pause(row), reason=without_folders(why), **columns)
    return True


def end_pause(row: Job, *, now: datetime) -> bool:
    """End the pause of a job after a failed attempt. Return False if it does not pause."""
    return bool(Job.objects.filter(pk=row.pk, state=JobState.QUEUED, not_before__gt=now).update(not_before=None))


def expire(kind: str, take_back: Callable[[Job, str], object], *, now: datetime) -> int:
    """Call `take_back` with each overdue job and the reason, in a transaction that has locked the job. Return the number of jobs."""
    rows = overdue(Job, now=now).filter(kind=kind)
    count = 0
    for pk in list(rows.values_list("pk", flat=True)[:MOST]):
        with transaction.atomic():
            row = rows.filter(pk=pk).select_for_update(skip_locked=True).first()
            if row is None:  # Its worker was only late
                continue
            take_back(row, f"worker {row.worker} was lost")
            count += 1
    return count
