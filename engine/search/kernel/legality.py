"""The cards that a follower may play, determined by `engine.rules.following`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.rules.following import EXEMPT, FREE, NO_LOAD, followers, lightest, winners
from engine.search.kernel.state import KernelState

if TYPE_CHECKING:
    from mypy_extensions import i64


def cards(t: KernelState, seat: i64) -> i64:
    """Return the cards with which a seat may follow."""
    duties, pack = t.program.duties, t.program.cards
    hand: i64 = t.hands[seat]
    duty: i64 = duties.open if t.n > 0 else duties.empty
    if duty == FREE:
        return hand
    with_partner: bool = duty & EXEMPT != 0 and t.winner != seat and t.side[t.winner] == t.side[seat]
    led: i64 = pack.suit[t.lead]
    trump: i64 = pack.suit[t.trump]
    legal: i64 = followers(duty, hand, led, trump, t.best, t.table, with_partner)
    if duty & NO_LOAD and not winners(legal, t.best, led, trump):
        least: i64 = legal & pack.least  # The hand mostly has such cards, and calling `lightest` takes longer.
        return least if least else lightest(legal, pack.worth)
    return legal
