"""The time of the league: the clock of the database server, or of this machine on SQLite.

Leases compare times written by different machines. If a worker's clock were an hour wrong, its leases would end at once, or an hour after its
death. So every process asks the server for the time, and from there counts with its own monotonic clock.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from django.db import connection
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from league.domain.core.errors import Refused

YEARS = range(2, 9999)
FRESH_S = 60.0  # After this time the server is asked again.


@dataclass(frozen=True)
class _Reading:
    """The server's time, and this process's monotonic clock when it was read."""

    server: datetime
    monotonic: float


class _Clock:
    reading: _Reading | None = None


def now_or(now: datetime | None) -> datetime:
    """Return `now`, or the current time if a view, command or task passed None."""
    return present() if now is None else now


def present() -> datetime:
    """Return the time of the database server; on SQLite, that of this machine."""
    if connection.vendor != "postgresql":
        return timezone.now()
    reading = _Clock.reading
    if reading is None or time.monotonic() - reading.monotonic > FRESH_S:
        reading = _Clock.reading = _ask()
    return reading.server + timedelta(seconds=time.monotonic() - reading.monotonic)


def parse(text: str) -> datetime | None:
    """Parse a time. Return None if the text is no time, or its year is near the ends of the calendar, where databases and sums fail."""
    try:
        moment = parse_datetime(text)
    except ValueError:  # The form is right, but a number is out of range.
        return None
    return moment if moment is not None and moment.year in YEARS else None


def read(text: str) -> datetime:
    """Parse a time that a person wrote; without a zone it is UTC. Raise Refused if it is not a time."""
    moment = parse(text)
    if moment is None:
        raise Refused("{text!r} is not a time; write it as 2026-11-21T12:00Z", text=text[:40])
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _ask() -> _Reading:
    before = time.monotonic()
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        (server,) = cursor.fetchone()
    return _Reading(server, (before + time.monotonic()) / 2)
