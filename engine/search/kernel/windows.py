"""The windows in which seats announce something, in machine words: `engine.match.trick.windows`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.cards import actions as act
from engine.match import steps
from engine.search.kernel import announcing, asking, codes
from engine.search.kernel.state import KernelState

if TYPE_CHECKING:
    from mypy_extensions import i64


def before_card(t: KernelState, seat: i64, hand: i64) -> i64:
    """What the seat on turn may announce before its card: window B where it is one turn with the lead, and its own turn."""
    p = t.program
    found: i64 = 0
    if p.merged and not t.in_trick and t.last_trick >= 0:
        found = announcing.declarations(t, seat, hand) if announcing.holds_a_song(t, hand) else 0
        swaps = p.swaps
        if swaps.after_draw and t.n > 0 and t.shown >= 0 and (swaps.trigger == codes.OWN_TURN or seat == t.last_trick):
            found |= announcing.exchanges(t, seat)
        if t.lead_extra:
            found |= announcing.after_trick(t, seat)
    return found | own_turn(t, seat) if p.own_turn else found


def own_turn(t: KernelState, seat: i64) -> i64:
    """What a seat may announce at its own turn."""
    return t.own_extra | announcing.exchanges(t, seat) if t.program.swaps.own_turn and t.n > 0 else t.own_extra


def open_window(t: KernelState, after_draw: bool) -> i64:
    """Window A or, after the draw, B: asks the seats that may do something in it, winner of the trick first."""
    t.after_draw = after_draw
    t.asking = t.winner
    t.to_ask = 2 if t.pairs else 1
    if t.program.songs.any_winner:
        t.to_ask = t.size
    return next_in_window(t)


def next_in_window(t: KernelState) -> i64:
    """Asks the next seat of the open window that has anything to announce; after the last one the deal goes on."""
    while t.to_ask > 0:
        found: i64 = _options(t, t.asking)
        if found:
            t.phase = codes.WINDOW
            t.turn = t.asking
            t.legal = 0
            must = t.program.songs.mandatory and found & announcing.DECLARATIONS != 0
            t.extra = found if must else found | asking.PASS
            return steps.WAIT
        _pass_on(t)
    t.turn = t.winner
    return steps.LEAD if t.after_draw else steps.DRAW


def in_window(t: KernelState, action: i64) -> i64:
    """The seat on turn announces something in a window, or passes."""
    if action == act.PASS:
        _pass_on(t)
    else:
        step: i64 = announcing.carry_out(t, action)
        if step:
            return step
    return next_in_window(t)


def _pass_on(t: KernelState) -> None:
    t.to_ask -= 1
    t.asking = t.ring[t.asking] if t.program.songs.any_winner else (t.asking + 2) & 3


def _options(t: KernelState, seat: i64) -> i64:
    """What a seat may announce in the open window."""
    p, hand = t.program, t.hands[seat]
    found: i64 = 0
    if not t.after_draw:
        if p.swaps.before_draw:
            found = _exchanges_in_window(t, seat)
        return found
    if announcing.holds_a_song(t, hand):
        found = announcing.declarations(t, seat, hand)
    if p.swaps.after_draw:
        found |= _exchanges_in_window(t, seat)
    return found | announcing.after_trick(t, seat) if t.lead_extra else found


def _exchanges_in_window(t: KernelState, seat: i64) -> i64:
    swaps = t.program.swaps
    if swaps.deferred:
        may = True
    elif swaps.trigger == codes.OWN_TURN:
        may = seat == t.winner
    elif swaps.trigger == codes.SIDE_JUST_WON:
        may = t.side[seat] == t.side[t.last_trick]
    else:
        may = seat == t.last_trick
    if may:
        return announcing.exchanges(t, seat)
    return 0


# ---- promises


def ask_for_promises(t: KernelState) -> i64:
    """The stock has just run out: the winner of the trick, then the others, may promise to win all remaining tricks."""
    t.asking = t.winner
    t.to_ask = t.size
    return ask_next(t)


def ask_next(t: KernelState) -> i64:
    """Asks whether a seat promises."""
    t.phase = codes.PROMISE
    t.turn = t.asking
    t.legal = 0
    t.extra = asking.CAPOTE | asking.PASS
    return steps.WAIT


def promise(t: KernelState, action: i64) -> i64:
    """The seat on turn promises all remaining tricks, or the next one is asked."""
    if action == act.CAPOTE:
        t.capote_by = t.turn
        announcing.fix_turns(t)
    else:
        t.to_ask -= 1
        if t.to_ask > 0:
            t.asking = t.ring[t.asking]
            return ask_next(t)
    t.turn = t.winner
    return steps.WINDOW_B
