"""What a seat may see of the record.

Events are dicts; `e` names the kind. A field that not everybody may see is named in `secret`, with the seats that may. A `deal` event holds
all hands and the face-down cards. `redact` is the only way from the record to what is sent to a bot or shown while a match runs.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

Moment = dict[str, Any]  # one of the things that the record of a match tells, in order


def redact(events: Iterable[Moment], seat: int | None) -> list[Moment]:
    """The events as one seat may see them; `seat=None` is a spectator who sees no hidden card."""
    return [_redacted(event, seat) for event in events]


def alike(event: Moment) -> bool:
    """Whether every seat and every spectator sees the whole event, so that `redact` changes nothing."""
    return "secret" not in event and event["e"] != "deal"


def _redacted(event: Moment, seat: int | None) -> Moment:
    if alike(event):
        return event
    if event["e"] == "deal":
        seen = {name: value for name, value in event.items() if name not in ("hands", "rest")}
        seen["counts"] = [len(hand) for hand in event["hands"]]
        if seat is not None:
            seen["hand"] = event["hands"][seat]
        return seen
    hidden = {name for name, seats in event["secret"].items() if seat not in seats}
    return {name: value for name, value in event.items() if name != "secret" and name not in hidden}
