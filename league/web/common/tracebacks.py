"""The decisive lines of a bot's log: what a Python exception said, and where in the bot."""

from __future__ import annotations

BEGINS = "Traceback (most recent call last):"
PLACE = '  File "/bot/'


def verdict(log: str) -> str:
    """'bad.py, line 7, in act: KeyError: 'nothing'' of the first traceback in a log; empty where there is none that ended."""
    _before, found, rest = log.partition(BEGINS)
    if not found:
        return ""
    place = ""
    for line in rest.splitlines()[1:]:
        if line.startswith(PLACE):
            place = line.removeprefix(PLACE).replace('"', "", 1).strip()
        elif line and not line.startswith(" "):
            return f"{place}: {line}" if place else line
    return ""
