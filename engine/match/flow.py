"""The course of a match: the only module that knows the order of its parts.

A part does its work and returns the next step (`engine.match.steps`). Parts do not call the next one, so a part may end the deal or the match, and
no caller has to check that.
"""

from __future__ import annotations

from engine.match import steps
from engine.match.data import Data
from engine.match.opening import dealing
from engine.match.scoring import claims, settlement
from engine.match.trick import tricks
from engine.rules.verdict import Verdict


def run(state: Data, step: int) -> None:
    """Carry out a step and all that follow, until a seat must act or the match is over."""
    while step:
        if step == steps.LEAD:
            tricks.next_lead(state)
            step = steps.WAIT
        elif step == steps.DRAW:
            step = tricks.after_window_a(state)
        elif step == steps.WINDOW_B:
            step = tricks.window_b(state)
        elif step == steps.STAGE:
            step = next_stage(state)
        elif step == steps.DEAL:
            step = dealing.start(state)
        elif step == steps.COUNT and state.game.accuses and state.phase is not claims.ACCUSING:
            step = claims.last_accusations(state)
        else:  # COUNT or DECIDED
            verdict = state.verdict if step == steps.DECIDED else None
            step = end_deal(state, verdict or claims.decide(state))


def next_stage(state: Data) -> int:
    """Start the next stage of the deal, or the first lead."""
    state.phase = None
    todo = state.game.stages
    if state.stage < len(todo):
        state.stage += 1
        return todo[state.stage - 1](state)
    state.turn = state.notes.get("leader", state.mano)
    tricks.lead(state)
    return steps.WAIT


def end_deal(state: Data, verdict: Verdict) -> int:
    """Settle the deal by its verdict. The next deal follows, or the match is over."""
    state.phase = None
    settlement.settle(state, verdict)
    if state.is_over:
        return steps.WAIT
    settlement.adapt_to_seats(state)
    return steps.DEAL
