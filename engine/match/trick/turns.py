"""Announcements that do not depend on the hand. They are stored when they change, so that no turn works them out again."""

from __future__ import annotations

from engine.cards import actions as act
from engine.match.data import Data

CLAIM = (act.CLAIM,)


def fix_turns(state: Data) -> None:
    """Store what every seat may announce at the turns to come, and for which trumps it may exchange.

    Call it after every change of its inputs.
    """
    game = state.game
    lead: tuple[int, ...] = ()
    own: tuple[int, ...] = ()
    if game.claims and state.capote_by < 0 and state.game_deal >= state.rules.claim_from_deal:
        if game.claims_after_trick:
            lead = CLAIM
        else:
            own = CLAIM
    state.own_extra = own
    state.lead_extra = lead + own
    state.swap = state.lead_swap = state.window_swap = 0
    if game.swaps and state.n > 0 and state.shown >= 0:
        state.window_swap = game.swap_masks[state.shown]
        if state.pending < 0:
            state.swap = game.own_swaps[state.shown]
            state.lead_swap = game.lead_swaps[state.shown]
