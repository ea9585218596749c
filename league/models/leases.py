"""The columns of a row that a worker can lease."""

from __future__ import annotations

from typing import Any, ClassVar

from django.db import models


class Leased(models.Model):
    """A row of work: a match, or a job. The code of leases is the same for both (league.domain.core.queue)."""

    STATE: ClassVar[str]  # The column with the state of the row.
    WAITS: ClassVar[str]  # Its value while the row waits.
    HELD: ClassVar[tuple[str, ...]]  # Its values while a worker has the row.

    not_before = models.DateTimeField(null=True)  # After a fault of ours the next attempt waits until this time.
    reason = models.TextField(blank=True)  # Why the row waits, or why its last attempt ended.
    # Fencing token: it grows with every lease, and a report with an older token is refused.
    token = models.PositiveIntegerField(default=0)
    worker = models.CharField(max_length=80, blank=True)
    lease_until = models.DateTimeField(null=True)
    # The running attempt ends at this time: no heartbeat renews the lease beyond it.
    ends_by = models.DateTimeField(null=True)
    # Attempts that ended by a fault of ours, including the running one.
    attempts: models.IntegerField[Any, Any] = models.PositiveIntegerField(default=0)
    progress = models.PositiveSmallIntegerField(default=0)  # Percent of the running attempt that are done.

    # All rows, without the columns that the role of the workers may not read.
    work: models.Manager[Any] = models.Manager()

    class Meta:
        abstract = True
