"""Functions that all auctions share: notes of the deal, calls in the record, and the end of an auction without a bid."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.cards import actions as act
from engine.match import steps
from engine.match.data import Data
from engine.match.scoring import claims
from engine.rules.verdict import Verdict

if TYPE_CHECKING:
    from engine.cards.pack import Pack
    from engine.match.redaction import EventRecord


def note(state: Data, **facts: object) -> None:
    """Add facts to the notes of the deal."""
    state.notes = state.notes | facts


def call(state: Data, action: int) -> None:
    """Record a public call of the seat on turn."""
    if state.log is not None:
        state.log.append((call_event, state.turn, action))


def call_event(pack: Pack, seat: int, action: int) -> EventRecord:
    """Return the event of a public call."""
    return {"e": "call", "seat": seat, "call": act.text(pack, action)}


def thrown_in(state: Data) -> int:
    """End a deal that nobody wants to play, as `all_pass` says. The deal counts, so that a match ends even if everybody always passes."""
    if state.rules.all_pass == "ordinary_deal":
        return steps.STAGE
    note(state, same_dealer=state.rules.all_pass == "same_dealer")
    return claims.decided(state, Verdict(None, why="passed"))
