"""What all auctions share: notes of the deal, calls in the record, and how they end."""

from __future__ import annotations

from engine.match import steps
from engine.match.data import Data
from engine.match.scoring import claims
from engine.rules.verdict import Verdict


def note(state: Data, **facts: object) -> None:
    """Adds facts to the notes of the deal."""
    state.notes = state.notes | facts


def call(state: Data, action: int) -> None:
    """Records a public call of the seat on turn."""
    if state.log is not None:
        state.log.append({"e": "call", "seat": state.turn, "call": state.game.action_text(action)})


def thrown_in(state: Data) -> int:
    """Nobody wants to play: `all_pass` says what happens. A deal that is thrown in counts as a deal, so that a match of passes ends too."""
    if state.rules.all_pass == "ordinary_deal":
        return steps.STAGE
    note(state, same_dealer=state.rules.all_pass == "same_dealer")
    return claims.decided(state, Verdict(None, why="passed"))
