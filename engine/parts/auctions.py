"""What comes between the deal and the first lead: auctions, naming trump, calling a card, predictions, changes of cards."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from engine.rules import Rules
    from engine.state import State


def stages(rules: Rules) -> tuple[Callable[[State], None], ...]:
    """The stages that the auction of a game needs, in order."""
    return ()


def cards_of_deal(state: State) -> int:
    """Hand size where it goes by the number of the deal."""
    return state.deal_no
