"""What all auctions share: notes of the deal, calls in the record, and how they end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.match.opening import dealing
from engine.match.scoring import claims
from engine.rules.verdict import Verdict

if TYPE_CHECKING:
    from engine.match.state import State


def note(state: State, **facts: object) -> None:
    """Adds facts to the notes of the deal."""
    state.notes = state.notes | facts


def call(state: State, action: int) -> None:
    """Records a public call of the seat on turn."""
    if state.log is not None:
        state.log.append({"e": "call", "seat": state.turn, "call": state.game.action_text(action)})


def go_on(state: State) -> None:
    """The call or question is done with: the next stage of the deal."""
    state.phase = None
    dealing.go_on(state)


def thrown_in(state: State) -> None:
    """Nobody wants to play: what `all_pass` says. A deal thrown in is a deal of the match, so that a match of passes ends too."""
    if state.rules.all_pass == "ordinary_deal":
        go_on(state)
        return
    note(state, same_dealer=state.rules.all_pass == "same_dealer")
    claims.end_deal(state, Verdict(None, why="passed"))
