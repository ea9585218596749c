"""A record in the form that the replay viewer reads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.utils.translation import gettext as _

import engine
from league.web.common import words
from league.web.matches.narrate import side_name
from league.web.matches.record import shown_moments
from league.web.matches.seats import numbered, seat_sides

UNSEEN = ("seed", "actions", "timings", "faults", "meta")  # Parts of a record that the viewer does not use.


def for_viewer(
    record: dict[str, Any], bots: Sequence[str], seating: Sequence[int], own: int | None = None
) -> dict[str, Any]:
    """Return the moments of a record and the words for the viewer.

    bots, seating: the bot and the party of each seat; own: the seat of the viewer, who calls the sides us and them.
    """
    names, sides = numbered(bots), seat_sides(record, seating)
    seats = zip(names, bots, seating, sides, strict=True)
    answer = {name: value for name, value in record.items() if name not in UNSEEN}
    answer["events"] = shown_moments(record)
    answer["seats"] = [{"name": name, "bot": bot, "party": party, "side": side} for name, bot, party, side in seats]
    answer["sides"] = {side: _side_name(_holders(sides, side), names, bots, own) for side in set(sides)}
    answer["cards"] = words.card_names()
    answer["labels"] = words.viewer_labels() | {
        "suits": {suit: words.suit_name(suit) for suit in words.SUITS},
        "faults": {kind: words.fault_name(kind) for kind in words.FAULTS},
    }
    answer["unit"] = engine.load(record["game"], players=record["players"]).score_unit
    return answer


def _holders(sides: Sequence[int], side: int) -> list[int]:
    """Return the seats of a side."""
    return [seat for seat, number in enumerate(sides) if number == side]


def _side_name(seats: Sequence[int], names: Sequence[str], bots: Sequence[str], own: int | None) -> str:
    """Return the name of a side above its score."""
    if own is None or len(seats) == 1:
        return side_name(seats, names, bots)
    return _("Us") if own in seats else _("Them")
