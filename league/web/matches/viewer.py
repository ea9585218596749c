"""A record in the form that the replay viewer reads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import engine
from league.web.common import words
from league.web.matches.record import shown_moments
from league.web.matches.seats import numbered, seat_sides

UNSEEN = ("seed", "actions", "timings", "faults", "meta")  # Parts of a record that the viewer does not use.


def for_viewer(record: dict[str, Any], bots: Sequence[str], seating: Sequence[int]) -> dict[str, Any]:
    """Return the events of a record and the words for the viewer. bots, seating: the bot and the party of each seat."""
    seats = zip(numbered(bots), bots, seating, seat_sides(record, seating), strict=True)
    answer = {name: value for name, value in record.items() if name not in UNSEEN}
    answer["events"] = shown_moments(record)
    answer["seats"] = [{"name": name, "bot": bot, "party": party, "side": side} for name, bot, party, side in seats]
    answer["cards"] = words.card_names()
    answer["labels"] = words.viewer_labels() | {
        "suits": {suit: words.suit_name(suit) for suit in words.SUITS},
        "faults": {kind: words.fault_name(kind) for kind in words.FAULTS},
    }
    answer["unit"] = engine.load(record["game"], players=record["players"]).score_unit
    return answer
