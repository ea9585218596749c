"""Trumps that move during a trick: every trump of Variable Trump Tute makes the next suit trump."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.match.data import Data
from engine.match.trick.legality import highest_led, set_trump

if TYPE_CHECKING:
    from engine.cards.pack import Pack
    from engine.match.redaction import EventRecord

CYCLE = {"o": "c", "c": "b", "b": "e", "e": "o"}
NEXT = tuple("oceb".index(CYCLE[suit]) for suit in "oceb")


def vtt_cycle(state: Data) -> None:
    """Apply V1 to V4 to a trump, led or not: its suit becomes the suit led, the next suit trump, and the winning card is determined again."""
    suit_of, table = state.suit_of, state.table
    state.lead = led = suit_of[table[-1]]
    set_trump(state, NEXT[led])
    if state.log is not None:
        state.log.append((trump_event, led))
    trumps = [card for card in table if suit_of[card] == state.trump]
    state.best = best = max(trumps) if trumps else highest_led(state)
    state.best_suit = suit_of[best]
    place = state.active.index(state.turn) - len(table) + 1 + table.index(best)
    state.winner = state.active[place % len(state.active)]
    if trumps:
        state.ftab, state.htab = state.ruffed[highest_led(state)], state.over[best]
    else:
        state.ftab, state.htab = state.follow[best], state.void


def trump_event(pack: Pack, led: int) -> EventRecord:
    """Return the event of a trump that became the suit led."""
    return {"e": "trump", "suit": pack.suits[NEXT[led]], "lead": pack.suits[led]}
