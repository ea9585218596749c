"""Calendars as files (RFC 5545): dates in UTC, lines folded at 75 bytes, and texts with their special characters escaped."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

MOST_BYTES = 75  # The most bytes of a line, without its end.
LENGTH = "PT1H"  # Nobody knows how long a tournament takes; calendar programs draw an hour.


@dataclass(frozen=True, slots=True)
class CalendarItem:
    """An appointment in a calendar file. `key` never changes; `sequence` grows with each change, and `stamp` is the time of the last one."""

    key: str
    start: datetime
    title: str
    text: str
    address: str
    stamp: datetime
    sequence: int = 0
    cancelled: bool = False


def write(name: str, items: Iterable[CalendarItem]) -> str:
    """Return the file of a calendar. Programs that subscribe to it read it again every hour."""
    lines = ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//Tute League//Calendar//EN", "CALSCALE:GREGORIAN"]
    lines += [f"NAME:{escape(name)}", f"X-WR-CALNAME:{escape(name)}", "REFRESH-INTERVAL;VALUE=DURATION:PT1H"]
    for item in items:
        lines += [
            "BEGIN:VEVENT",
            f"UID:{escape(item.key)}",
            f"DTSTAMP:{utc(item.stamp)}",
            f"DTSTART:{utc(item.start)}",
            f"DURATION:{LENGTH}",
            f"SEQUENCE:{item.sequence}",
            f"STATUS:{'CANCELLED' if item.cancelled else 'CONFIRMED'}",
            f"SUMMARY:{escape(item.title)}",
            f"DESCRIPTION:{escape(item.text)}",
            f"URL:{item.address}",
            "END:VEVENT",
        ]
    return "".join(f"{fold(line)}\r\n" for line in [*lines, "END:VCALENDAR"])


def utc(at: datetime) -> str:
    """Return a time as a calendar writes it: 20261204T190000Z."""
    return f"{at.astimezone(UTC):%Y%m%dT%H%M%SZ}"


def escape(text: str) -> str:
    """Return a text as the value of a property, without control characters."""
    for special in "\\;,":
        text = text.replace(special, f"\\{special}")
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return "\\n".join("".join(c for c in line if c >= " " and c != "\x7f") for line in lines)


def fold(line: str) -> str:
    """Break a line after at most MOST_BYTES bytes, never inside a character. Each further line begins with a space."""
    parts, size = [""], 0
    for character in line:
        length = len(character.encode())
        if size + length > MOST_BYTES:
            parts.append(" ")
            size = 1
        parts[-1] += character
        size += length
    return "\r\n".join(parts)
