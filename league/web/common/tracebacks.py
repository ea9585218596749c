"""The decisive line of a bot's log: a Python exception and where in the bot's code it was raised."""

from __future__ import annotations

BEGINS = "Traceback (most recent call last):"
PLACE = '  File "/bot/'


def verdict(log: str) -> str:
    """Return the first complete traceback of a log as "bad.py, line 7, in act: KeyError: 'nothing'", or an empty string."""
    _before, marker, rest = log.partition(BEGINS)
    if not marker:
        return ""
    place = ""
    for line in rest.splitlines()[1:]:
        if line.startswith(PLACE):
            place = line.removeprefix(PLACE).replace('"', "", 1).strip()
        elif line and not line.startswith(" "):
            return f"{place}: {line}" if place else line
    return ""
