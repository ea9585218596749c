"""The windows, in which seats announce something: `engine.match.trick.windows`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.cards import actions as act
from engine.match import steps
from engine.search.kernel import announcing, asking, codes
from engine.search.kernel.state import KernelState

if TYPE_CHECKING:
    from mypy_extensions import i64


def before_card(t: KernelState, seat: i64, hand: i64) -> i64:
    """Return the announcements of the seat on turn before its card: in window B if it is one turn with the lead, and at its own turn."""
    p = t.program
    actions: i64 = 0
    if p.merged and not t.in_trick and t.last_trick >= 0:
        actions = announcing.declarations(t, seat, hand) if announcing.holds_a_song(t, hand) else 0
        swaps = p.swaps
        if swaps.after_draw and t.n > 0 and t.shown >= 0 and (swaps.trigger == codes.OWN_TURN or seat == t.last_trick):
            actions |= announcing.exchanges(t, seat)
        if t.lead_extra:
            actions |= announcing.after_trick(t, seat)
    return actions | own_turn(t, seat) if p.own_turn else actions


def own_turn(t: KernelState, seat: i64) -> i64:
    """Return the announcements of a seat at its own turn."""
    actions: i64 = t.own_extra
    if t.program.accuses:
        actions |= announcing.accusations(t, seat)
    return actions | announcing.exchanges(t, seat) if t.program.swaps.own_turn and t.n > 0 else actions


def open_window(t: KernelState, after_draw: bool) -> i64:
    """Open window A or, after the draw, B: ask the seats that may act in it, the winner of the trick first."""
    t.after_draw = after_draw
    t.asking = t.winner
    t.to_ask = 2 if t.pairs else 1
    if t.program.songs.any_winner:
        t.to_ask = t.size
    return next_in_window(t)


def next_in_window(t: KernelState) -> i64:
    """Ask the next seat of the open window that has anything to announce. After the last one the deal goes on."""
    while t.to_ask > 0:
        actions: i64 = _options(t, t.asking)
        if actions:
            t.phase = codes.WINDOW
            t.turn = t.asking
            t.legal = 0
            must = t.program.songs.mandatory and actions & announcing.DECLARATIONS != 0
            t.extra = actions if must else actions | asking.PASS
            return steps.WAIT
        _pass_on(t)
    t.turn = t.winner
    return steps.LEAD if t.after_draw else steps.DRAW


def in_window(t: KernelState, action: i64) -> i64:
    """Carry out an announcement or a pass of the seat on turn in a window."""
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
    """Return the announcements of a seat in the open window."""
    p, hand = t.program, t.hands[seat]
    actions: i64 = 0
    if not t.after_draw:
        if p.swaps.before_draw:
            actions = _exchanges_in_window(t, seat)
        return actions
    if announcing.holds_a_song(t, hand):
        actions = announcing.declarations(t, seat, hand)
    if p.swaps.after_draw:
        actions |= _exchanges_in_window(t, seat)
    return actions | announcing.after_trick(t, seat) if t.lead_extra else actions


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
    """Ask the winner of the trick, then the others, whether they promise all remaining tricks. The stock has just run out."""
    t.asking = t.winner
    t.to_ask = t.size
    return ask_next(t)


def ask_next(t: KernelState) -> i64:
    """Ask a seat whether it promises all remaining tricks."""
    t.phase = codes.PROMISE
    t.turn = t.asking
    t.legal = 0
    t.extra = asking.CAPOTE | asking.PASS
    return steps.WAIT


def promise(t: KernelState, action: i64) -> i64:
    """Record the promise of the seat on turn, or ask the next one."""
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


# ---- accusations before the count


def ask_accusers(t: KernelState) -> i64:
    """Ask every seat, mano first, whether it accuses another one before the deal is counted."""
    t.asking = t.mano
    t.to_ask = t.size
    return ask_accuser(t)


def ask_accuser(t: KernelState) -> i64:
    """Ask a seat whether it accuses another one; after the last one the deal is counted."""
    if not t.to_ask:
        return steps.COUNT
    t.phase = codes.ACCUSING
    t.turn = t.asking
    t.legal = 0
    t.extra = asking.PASS | announcing.accusations(t, t.turn)
    return steps.WAIT


def last_accusation(t: KernelState, action: i64) -> i64:
    """Carry out an accusation before the count, or ask the next seat."""
    if action != act.PASS:
        return announcing.accuse(t, action)
    t.to_ask -= 1
    t.asking = t.ring[t.asking]
    return ask_accuser(t)
