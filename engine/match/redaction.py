"""Redaction: the part of the record that a seat may see.

Events are dicts; `e` names the kind. `secret` names the fields that not everybody may see, with the seats that may. A `deal` event holds all
hands and the face-down cards. Bots and viewers of a running match only get events from `redact`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

EventRecord = dict[str, Any]  # one event of the record of a match


def redact(events: Iterable[EventRecord], seat: int | None) -> list[EventRecord]:
    """Return the events as one seat may see them; `seat=None` is a spectator who sees no hidden card."""
    return [_redacted(event, seat) for event in events]


def alike(event: EventRecord) -> bool:
    """Return True if every seat and every spectator sees the whole event, so that `redact` changes nothing."""
    return "secret" not in event and event["e"] != "deal"


def _redacted(event: EventRecord, seat: int | None) -> EventRecord:
    if alike(event):
        return event
    if event["e"] == "deal":
        visible = {name: value for name, value in event.items() if name not in ("hands", "rest")}
        visible["counts"] = [len(hand) for hand in event["hands"]]
        if seat is not None:
            visible["hand"] = event["hands"][seat]
        return visible
    hidden = {name for name, seats in event["secret"].items() if seat not in seats}
    return {name: value for name, value in event.items() if name != "secret" and name not in hidden}
