"""The clocks of people at a shared table: seconds for an answer, or time for the hands to which each answer adds an increment (Fischer).

The time runs from the row (`Table.since`), so a lost line, a reload or another device changes nothing.
"""

from __future__ import annotations

from datetime import datetime

from engine.runner.table import NEXT
from league.models import Table, TablePerson

# Seconds, and seconds of increment. Without an increment the seconds are for one answer (0: no clock), else for a hand.
CLOCKS = ((30, 0), (60, 0), (300, 0), (120, 3), (300, 5), (600, 10), (0, 0))
CLOCK = (60, 0)
BACK_MS = 5000  # Somebody whose time is up has at least this much after coming back.


def wind(row: Table) -> None:
    """Give everybody the time of the table as it starts."""
    row.people.update(left_ms=row.clock_s * 1000 * row.boards if row.increment_s else 0)


def is_running(person: TablePerson) -> bool:
    """Return True if the table waits for an answer of the person that the clock measures."""
    return not person.away and person.legal not in ([], [NEXT])


def left_ms(row: Table, person: TablePerson, now: datetime) -> int | None:
    """Return the time that a person has left; None without a clock."""
    if not row.clock_s:
        return None
    time_ms = person.left_ms if row.increment_s else row.clock_s * 1000
    return max(0, time_ms - _spent_ms(row, now)) if is_running(person) else time_ms


def spend(row: Table, person: TablePerson, now: datetime) -> None:
    """Take the time of an answer from the person's clock, and add the increment."""
    if row.increment_s and is_running(person):
        time_ms = max(0, person.left_ms - _spent_ms(row, now)) + row.increment_s * 1000
        TablePerson.objects.filter(pk=person.pk).update(left_ms=time_ms)


def least_ms(row: Table, person: TablePerson) -> int:
    """Return the time on the clock of somebody who comes back."""
    return max(person.left_ms, row.increment_s * 1000, BACK_MS) if row.increment_s else 0


def _spent_ms(row: Table, now: datetime) -> int:
    return max(0, int((now - row.since).total_seconds() * 1000))
