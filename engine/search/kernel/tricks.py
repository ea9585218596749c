"""The trick: the play of a card (`engine.match.state`), and from the last card to the next lead (`engine.match.trick.tricks`).

Functions that end something return the next step (`engine.match.steps`), or WAIT after asking a seat.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.cards import actions as act
from engine.match import steps
from engine.rules.following import winners
from engine.search.kernel import announcing, asking, codes, legality, windows
from engine.search.kernel.points import best_other
from engine.search.kernel.state import CAPOTE, KernelState, cut_short
from engine.search.masks import FOLD

if TYPE_CHECKING:
    from mypy_extensions import i64


def lead(t: KernelState) -> None:
    """Ask the seat on turn for a lead: any card, or an announcement first."""
    t.in_trick = t.table = t.table_points = t.lying = 0
    t.phase = codes.CARD
    hand: i64 = t.hands[t.turn]
    t.legal = hand
    t.extra = 0
    if t.program.speaks:
        t.extra = windows.before_card(t, t.turn, hand)


def offer(t: KernelState) -> None:
    """Offer the seat on turn its cards, and the announcements it may make before one."""
    t.phase = codes.CARD
    t.legal = legality.cards(t, t.turn) if t.in_trick else t.hands[t.turn]
    t.extra = 0
    if t.program.speaks:
        t.extra = windows.before_card(t, t.turn, t.hands[t.turn])


def lay(t: KernelState, card: i64) -> i64:
    """Play a card of the seat on turn. Returns the next step (`engine.match.steps`)."""
    p = t.program
    cards = p.cards
    seat: i64 = t.turn
    bit: i64 = cards.bit[card]
    place: i64 = t.in_trick
    t.hands[seat] = t.hands[seat] ^ bit
    t.table |= bit
    t.table_points += cards.points[card]
    t.lying += cards.byte[seat] * (card + 1)
    if not place:
        t.lead = cards.suit_of[card]
        t.best = bit
        t.winner = seat
    else:
        if winners(bit, t.best, cards.suit[t.lead], cards.suit[t.trump]):
            t.best = bit
            t.winner = seat
    if p.duties.cycles:
        _move_trump(t, place, seat, bit)
    place += 1
    if place == t.size:
        return trick_over(t)
    t.in_trick = place
    seat = t.ring[seat]
    t.turn = seat
    t.legal = legality.cards(t, seat)
    t.extra = 0
    if p.own_turn:
        t.extra = windows.own_turn(t, seat)
    return steps.WAIT


def _move_trump(t: KernelState, place: i64, seat: i64, bit: i64) -> None:
    """Make the next suit trump after a trump was played, and determine again which card is winning (variable trump)."""
    cards = t.program.cards
    t.played[place] = bit
    t.played_by[place] = seat
    if not bit & cards.suit[t.trump]:
        return
    t.lead = t.trump
    t.trump = t.program.duties.cycle[t.trump]
    led: i64 = cards.suit[t.lead]
    trump: i64 = cards.suit[t.trump]
    # From now on the card just played is of the suit led.
    t.best = bit
    t.winner = seat
    while place > 0:
        place -= 1
        card: i64 = t.played[place]
        if winners(card, t.best, led, trump):
            t.best = card
            t.winner = t.played_by[place]


def trick_over(t: KernelState) -> i64:  # noqa: C901 - written out like its twin in engine.match
    """Complete the trick after its last card. Returns the next step, or WAIT after asking for the next lead."""
    p = t.program
    winner: i64 = t.winner
    t.cards[winner] = t.cards[winner] + t.table_points
    t.tricks[winner] = t.tricks[winner] + 1
    t.last_trick = winner
    t.turn = winner
    t.left -= t.size
    t.away |= t.table
    t.in_trick = t.lying = 0
    if t.in_window:
        _forget_window(t)
    if not p.simple:
        if p.songs.table:
            announcing.table_songs(t)
        if t.capote_by >= 0:
            step: i64 = _capote_decided(t)
            if step:
                return step
        if p.songs.tracks:
            step = announcing.reached_by(t, winner)
            if step:
                return step
    if not t.left:
        if not p.counts.last_optional:
            return steps.COUNT
        return ask_last_ten(t)
    if p.simple:
        lead(t)
        return steps.WAIT
    if t.pending >= 0:
        _trick_won(t)
    if p.swaps.before_draw and t.n > 0 and t.shown >= 0:
        return windows.open_window(t, False)
    return after_window_a(t)


def after_window_a(t: KernelState) -> i64:
    """Draw, then open window B."""
    if t.n > 0:
        _draw(t)
        if t.n == 0 and t.program.songs.capote:
            return windows.ask_for_promises(t)
    else:
        t.drew = False
    return window_b(t)


def window_b(t: KernelState) -> i64:
    """Ask for announcements before the next lead: in one turn with the lead, or seat by seat. The winner of the trick is on turn."""
    if t.program.merged:
        lead(t)
        return steps.WAIT
    return windows.open_window(t, True)


def ask_last_ten(t: KernelState) -> i64:
    """Ask the winner of the last trick about its bonus."""
    t.phase = codes.LAST_TEN
    t.legal = 0
    t.extra = asking.TAKE | asking.DECLINE
    return steps.WAIT


def last_ten(t: KernelState, action: i64) -> i64:
    """Carry out the choice of the winner of the last trick to take or decline its bonus."""
    t.bonus_declined = action == act.DECLINE
    return steps.COUNT


def _forget_window(t: KernelState) -> None:
    seat: i64 = 0
    while seat < t.seats:
        t.window[seat] = 0
        seat += 1
    t.window_others = 0
    t.in_window = False


def _capote_decided(t: KernelState) -> i64:
    side: i64 = t.side[t.capote_by]
    if t.side[t.last_trick] != side:
        return cut_short(t, CAPOTE, best_other(t, t.capote_by), 0)
    return steps.WAIT if t.left else cut_short(t, CAPOTE, side, 0)


def _trick_won(t: KernelState) -> None:
    """Give the shown card to the seat that gave notice, if it has won the trick."""
    seat: i64 = t.pending
    if seat != t.winner:
        return
    cards = t.program.cards
    t.hands[seat] = t.hands[seat] | cards.bit[t.shown]
    t.shown = cards.place[t.pending_card % FOLD]
    t.swapped = True
    t.pending = -1


def _draw(t: KernelState) -> None:
    """Let every seat draw a card, the winner of the trick first."""
    deck, hands, ring, drawn, bit = t.deck, t.hands, t.ring, t.drawn, t.program.cards.bit
    seat: i64 = t.winner
    cards: i64 = t.size
    if t.program.deals.batches:
        if hands[seat]:
            return
        seat = t.mano
        cards = min(t.n, t.size * t.program.deals.sizes[0])
    other: i64 = 0
    while other < t.seats:
        drawn[other] = 0
        other += 1
    t.n -= cards
    while cards > 0:
        card: i64 = 0
        if t.top == t.end:
            card = bit[t.shown]
            t.shown = -1
            cards = 0
        else:
            card = bit[deck[t.top]]
            t.top += 1
        hands[seat] = hands[seat] | card
        drawn[seat] = card
        seat = ring[seat]
        cards -= 1
    t.drew = True
    if t.shown < 0 and t.pending >= 0:
        hands[t.pending] = hands[t.pending] | t.pending_card
        t.pending = -1
