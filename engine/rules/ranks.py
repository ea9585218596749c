"""The ranks of guiñote, in which jack and horse change places (004:204), as an option of the other games (004:208)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.errors import OptionError
from engine.rules.parameters import Rules

ORDERS = ("13RCS76542", "13RSC76542")
SHORT_ORDERS = ("13RCS7654", "13RSC7654")  # The same for a pack without twos.
# Choices of `tute_ranks`: the first ranks are for the order of Tute, the last ones for that of guiñote.
TUTES = ("RC", "R", "C", "RS", "S")
_SWAP = str.maketrans("CS", "SC")


def with_jack_high(order: str) -> bool:
    """Return True if the jack beats the horse."""
    return "S" in order and order.index("S") < order.index("C")


def follow_order(rules: Rules, resolved: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the chosen order of ranks changes: jack and horse change their points and their parts in songs and tutes.

    Raise OptionError for a tute of the rank that has none in this order.
    """
    jack_high = with_jack_high(values.get("rank_order", rules.rank_order))
    changes: dict[str, Any] = {}
    if jack_high != with_jack_high(rules.rank_order):
        changes = {name: resolved[name].translate(_SWAP) for name in ("pair_ranks", "tute_ranks", "exchange_seven")}
        changes["rank_points"] = {rank.translate(_SWAP): points for rank, points in resolved["rank_points"].items()}
    low = "C" if jack_high else "S"
    if low in values.get("tute_ranks", ""):
        raise OptionError(
            f"{rules.key}: in the order of ranks {values.get('rank_order', rules.rank_order)} tute_ranks "
            f"{values['tute_ranks']!r} is no tute: kings or {'jacks' if jack_high else 'horses'} are"
        )
    return changes
