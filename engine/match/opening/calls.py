"""Functions that all auctions share: notes of the deal, calls in the record, and the end of an auction without a bid."""

from __future__ import annotations

from engine.match import steps
from engine.match.data import Data
from engine.match.scoring import claims
from engine.rules.verdict import Verdict


def note(state: Data, **facts: object) -> None:
    """Add facts to the notes of the deal."""
    state.notes = state.notes | facts


def call(state: Data, action: int) -> None:
    """Record a public call of the seat on turn."""
    if state.log is not None:
        state.log.append({"e": "call", "seat": state.turn, "call": state.game.action_text(action)})


def thrown_in(state: Data) -> int:
    """End a deal that nobody wants to play, as `all_pass` says. The deal counts, so that a match ends even if everybody always passes."""
    if state.rules.all_pass == "ordinary_deal":
        return steps.STAGE
    note(state, same_dealer=state.rules.all_pass == "same_dealer")
    return claims.decided(state, Verdict(None, why="passed"))
