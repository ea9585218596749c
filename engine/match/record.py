"""The record of a match. Most events are never read, so the rules log what happens in short entries, and reading makes events of them.

An entry is one of

* a number: the card that a seat played, or drew in secret (`DREW` is added);
* a tuple of a function and the facts from which it makes the event: a trick, a deal, a score;
* the event itself, if it is rare (`Data.emit`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from engine.cards.pack import Pack
    from engine.match.redaction import EventRecord

Entry = int | tuple[Any, ...] | dict[str, Any]

CARD: Final = 63  # the bits of the card
SEAT: Final = 6  # the place of the seat's three bits
DREW: Final = 512


def events(log: list[Entry], pack: Pack) -> list[EventRecord]:
    """Return the events of a log. The numbers of its cards are those of `pack`."""
    history: list[EventRecord] = []
    for entry in log:
        if isinstance(entry, int):
            seat, card = entry >> SEAT & 7, pack.texts[entry & CARD]
            if entry < DREW:
                history.append({"e": "play", "seat": seat, "card": card})
            else:
                history.append({"e": "draw", "seat": seat, "card": card, "secret": {"card": [seat]}})
        elif isinstance(entry, tuple):
            make, *facts = entry
            history.append(make(pack, *facts))
        else:
            history.append(entry)
    return history
