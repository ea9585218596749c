"""The one clock of the league: that of the database server, where there is one.

Leases compare times that different machines wrote. A worker whose own clock is wrong by an hour would lose every match at once, or keep
a dead one for an hour; so all processes take the time from the server, and count on from there by their monotonic clock.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from django.db import connection
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from league.domain.core.errors import Refused

FRESH_S = 60.0  # then the server is asked again


@dataclass(frozen=True)
class _Reading:
    """What the server's clock said, and this process's monotonic clock at that moment."""

    server: datetime
    monotonic: float


class _Clock:
    reading: _Reading | None = None


def given(now: datetime | None) -> datetime:
    """`now`, or the present where a caller at the border (view, command, task) passed none."""
    return present() if now is None else now


def present() -> datetime:
    """The database server's time; of SQLite, which has no server, this machine's."""
    if connection.vendor != "postgresql":
        return timezone.now()
    found = _Clock.reading
    if found is None or time.monotonic() - found.monotonic > FRESH_S:
        found = _Clock.reading = _ask()
    return found.server + timedelta(seconds=time.monotonic() - found.monotonic)


def read(text: str) -> datetime:
    """A moment that a person wrote; without a zone it is one of UTC. Refused where it is none."""
    try:
        found = parse_datetime(text)
    except ValueError:  # right form, wrong number
        found = None
    if found is None:
        raise Refused("{text!r} is no time, such as 2026-11-21T12:00Z", text=text[:40])
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def _ask() -> _Reading:
    before = time.monotonic()
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        (server,) = cursor.fetchone()
    return _Reading(server, (before + time.monotonic()) / 2)
