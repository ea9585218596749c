"""Calendars of recurring leagues: a wall-clock time in a time zone, on days of the week or month.

When the clocks change, a time that they skip moves to after the change (02:30 becomes 03:30), and a time that occurs twice is due the first time.
So every listed day has exactly one due time, unless its zone skips the whole day.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from itertools import takewhile
from zoneinfo import ZoneInfo, available_timezones

from league.pure.refusal import Refusal

WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


@dataclass(frozen=True, slots=True)
class Calendar:
    """A calendar. `days` are weekdays ("mon", ...) or days of the month ("1" to "28")."""

    days: tuple[str, ...]
    at: time
    zone: ZoneInfo

    def moments(self, after: datetime, until: datetime) -> list[datetime]:
        """Return every due time in (after, until], in UTC and in order."""
        return list(takewhile(lambda moment: moment <= until, self._beyond(after)))

    def _beyond(self, after: datetime) -> Iterator[datetime]:
        """Yield every due time after `after`, without end."""
        day = after.astimezone(self.zone).date() - timedelta(days=1)
        while True:
            if WEEKDAYS[day.weekday()] in self.days or str(day.day) in self.days:
                moment = self._moment(day)
                if moment > after:  # A day that a zone skips as a whole has the time of the next one
                    yield moment
                    after = moment
            day += timedelta(days=1)

    def _moment(self, day: date) -> datetime:
        # Fold 0: of two times the first; for a skipped time the offset before the change.
        local = datetime.combine(day, self.at, self.zone)
        return local.astimezone(UTC)

    def next(self, after: datetime) -> datetime:
        """Return the first due time after `after`."""
        return next(self._beyond(after))


@lru_cache(maxsize=500)
def read_calendar(days: str, at: str, zone: str) -> Calendar:
    """Read a calendar from texts: "mon,thu" or "1,15"; "20:00"; "Europe/Madrid". Raise ValueError with the allowed values."""
    chosen = tuple(day.strip().lower() for day in days.split(",") if day.strip())
    allowed = {*WEEKDAYS, *map(str, range(1, 29))}
    if not chosen or not set(chosen) <= allowed:
        raise Refusal(
            "days are weekdays such as mon,thu or days of the month from 1 to 28 such as 1,15, not {days!r}", days=days
        )
    try:
        clock = time.fromisoformat(at)
    except ValueError:
        clock = None
    if clock is None or clock.tzinfo is not None:
        raise Refusal("write the time in the form 20:00, not {at!r}", at=at)
    return Calendar(chosen, clock.replace(second=0, microsecond=0), zone_named(zone))


@lru_cache(maxsize=1000)  # The list of zones is read from many files
def zone_named(zone: str) -> ZoneInfo:
    """Return a time zone by its name. Raise ValueError if this machine has none of this name."""
    if zone not in available_timezones():
        raise Refusal("{zone!r} is not a time zone; use a name such as Europe/Madrid", zone=zone)
    return ZoneInfo(zone)
