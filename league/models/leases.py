"""The columns of a row that a worker can lease."""

from __future__ import annotations

from typing import Any, ClassVar

from django.db import models


class Leased(models.Model):
    """A row of work: a match, or a job. One claim, heartbeat, fence and back-off serve all of them (league.domain.core.leases)."""

    STATE: ClassVar[str]  # The column that says whether it waits.
    WAITS: ClassVar[str]  # Its value while the row waits,
    HELD: ClassVar[tuple[str, ...]]  # and its values while a worker has it.

    not_before = models.DateTimeField(null=True)  # After a fault of ours the next attempt waits until then.
    reason = models.TextField(blank=True)  # Why it waits, or why the last attempt ended.
    # Fencing token: grows with every lease; a report with an older one is refused.
    token = models.PositiveIntegerField(default=0)
    worker = models.CharField(max_length=80, blank=True)
    lease_until = models.DateTimeField(null=True)
    ends_by = models.DateTimeField(null=True)  # The running attempt ends then: no heartbeat renews the lease beyond it.
    # Attempts that ended by a fault of ours, with the present one.
    attempts: models.IntegerField[Any, Any] = models.PositiveIntegerField(default=0)
    progress = models.PositiveSmallIntegerField(default=0)  # Percent of the running attempt.

    # Every row, without the columns that the role of the workers may not see.
    work: models.Manager[Any] = models.Manager()

    class Meta:
        abstract = True
