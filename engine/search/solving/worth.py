"""The worth of a deal to one of its two camps, in the units of the board score, as exact solving compares it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.errors import EngineError

if TYPE_CHECKING:
    from engine.match.data import Data


class NotTwoSidedError(EngineError):
    """The deal has three or more sides, or nobody knows its camps yet."""


def camps(state: Data) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the seats of the two camps of a deal: the sides, or the soloist's and the defence. Raises NotTwoSidedError."""
    rules, notes = state.rules, state.notes
    if rules.sides.startswith("soloist") or (notes.get("soloist") is not None and rules.payments != "none"):
        soloist = notes.get("soloist")
        if (
            soloist is None
            or rules.tricks_soloist is not None
            or state.stage < len(state.game.stages)
            or state.phase is not None
        ):
            raise NotTwoSidedError(f"{rules.key}: the camps of this deal are not known before its first lead")
        own = tuple(seat for seat in state.active if seat in (soloist, notes.get("partner")))
        return own, tuple(seat for seat in state.active if seat not in own)
    sides = state.active_sides()
    if len(sides) != 2:
        raise NotTwoSidedError(
            f"{rules.key} for {len(sides)} sides: there is no exact value of a deal that is not between two"
        )
    first, second = ([seat for seat in state.active if state.side[seat] == side] for side in sides)
    return tuple(first), tuple(second)


def standing(state: Data, seats: tuple[int, ...]) -> int:
    """Return the board's worth so far to the camp of these seats: score, carried points, fewer loss marks."""
    seat = seats[0]
    unit = state.game.score_unit
    if unit == "chips":
        return sum([state.chips[other] for other in seats])
    if unit in ("marks", "rank"):
        return -sum([state.marks[other] for other in seats])
    return state.score[seat] + state.totals[state.side[seat]]


def difference(state: Data, between: tuple[tuple[int, ...], tuple[int, ...]]) -> int:
    """Return how far the first camp is ahead of the second on the board."""
    return standing(state, between[0]) - standing(state, between[1])
