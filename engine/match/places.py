"""Neighbours at the table, whoever has been eliminated."""

from __future__ import annotations

from engine.match.data import Data


def seats_left(state: Data) -> list[int]:
    """Seats still in the match, ascending."""
    return [seat for seat in range(state.seats) if not state.left_at[seat]]


def right_of(state: Data, seat: int) -> int:
    """The nearest seat to the right that is still in the match, whether it plays this deal or not."""
    for step in range(1, state.seats + 1):
        there = (seat + step) % state.seats
        if not state.left_at[there]:
            return there
    return seat


def left_of(state: Data, seat: int) -> int:
    """The nearest seat to the left that is still in the match."""
    for step in range(1, state.seats + 1):
        there = (seat - step) % state.seats
        if not state.left_at[there]:
            return there
    return seat
