"""Moving cards into hands and out of them."""

from __future__ import annotations

from engine.match.data import Data


def give(state: Data, seat: int, card: int) -> None:
    """Put a card into a hand."""
    state.hands[seat][state.suit_of[card]] |= state.bit_of[card]


def take(state: Data, seat: int, card: int) -> None:
    """Take a card out of a hand."""
    state.hands[seat][state.suit_of[card]] &= ~state.bit_of[card]
