"""Neighbours at the table, without eliminated seats."""

from __future__ import annotations

from engine.match.data import Data


def seats_left(state: Data) -> list[int]:
    """Return the seats still in the match, ascending."""
    return [seat for seat in range(state.seats) if not state.left_at[seat]]


def right_of(state: Data, seat: int) -> int:
    """Return the nearest seat to the right that is still in the match, even if it sits out this deal."""
    for step in range(1, state.seats + 1):
        neighbour = (seat + step) % state.seats
        if not state.left_at[neighbour]:
            return neighbour
    return seat


def left_of(state: Data, seat: int) -> int:
    """Return the nearest seat to the left that is still in the match."""
    for step in range(1, state.seats + 1):
        neighbour = (seat - step) % state.seats
        if not state.left_at[neighbour]:
            return neighbour
    return seat
