"""From the last card of a trick to the next lead in machine words: `engine.match.trick.tricks.complete` and `engine.match.trick.windows`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.search.playouts import announcing, codes
from engine.search.playouts.lane import CAPOTE, Lane, cut_short
from engine.search.playouts.points import best_other
from engine.search.playouts.words import FOLD, count, pick

if TYPE_CHECKING:
    from mypy_extensions import i64


def trick_over(t: Lane) -> None:  # noqa: C901 - written out like its twin in engine.match
    """The last card of a trick is on the table. Plays on to the next lead, or ends the deal."""
    p = t.program
    winner: i64 = t.winner
    t.cards[winner] = t.cards[winner] + t.table_points
    t.tricks[winner] = t.tricks[winner] + 1
    t.last_trick = t.turn = winner
    t.left -= t.size
    if t.in_window:
        _forget_window(t)
    if not p.simple:
        if p.songs.table:
            announcing.table_songs(t)
        if t.capote_by >= 0 and _capote_decided(t):
            return
        if p.songs.tracks:
            announcing.reached_by(t, winner)
            if t.ended:
                return
    if not t.left:
        if p.counts.last_optional:
            t.bonus_declined = t.dice.below(2) == 1
        t.ended = True
        return
    if p.simple:
        return
    if t.pending >= 0:
        _trick_won(t)
    if p.swaps.before_draw and t.n > 0 and t.shown >= 0:
        _window(t, False)
        if t.ended:
            return
    if t.n > 0:
        _draw(t)
        if t.n == 0 and p.songs.capote:
            _ask_capote(t)
    else:
        t.drew = False
    if not p.merged:
        _window(t, True)


def _forget_window(t: Lane) -> None:
    seat: i64 = 0
    while seat < t.seats:
        t.window[seat] = 0
        seat += 1
    t.window_others = 0
    t.in_window = False


def _capote_decided(t: Lane) -> bool:
    side: i64 = t.side[t.capote_by]
    if t.side[t.last_trick] != side:
        cut_short(t, CAPOTE, best_other(t, t.capote_by), 0)
        return True
    if not t.left:
        cut_short(t, CAPOTE, side, 0)
        return True
    return False


def _trick_won(t: Lane) -> None:
    """The giver of a notice who wins the trick gets the shown card."""
    seat: i64 = t.pending
    if seat != t.winner:
        return
    cards = t.program.cards
    t.hands[seat] = t.hands[seat] | cards.bit[t.shown]
    t.shown = cards.place[t.pending_card % FOLD]
    t.swapped = True
    t.pending = -1


def _draw(t: Lane) -> None:
    """One card each, the winner of the trick first."""
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


def _ask_capote(t: Lane) -> None:
    seat: i64 = t.winner
    asked: i64 = 0
    while asked < t.size:
        if t.dice.below(2) == 0:
            t.capote_by = seat
            return
        seat = t.ring[seat]
        asked += 1


# ---- what may be announced, and the windows in which seats are asked one by one


def before_lead(t: Lane, seat: i64, hand: i64) -> i64:
    """What the winner of the trick may announce before it leads, where window B and the lead are one turn."""
    found: i64 = announcing.declarations(t, seat, hand) if announcing.holds_a_song(t, hand) else 0
    swaps = t.program.swaps
    if swaps.after_draw and t.n > 0 and t.shown >= 0 and (swaps.trigger == codes.OWN_TURN or seat == t.last_trick):
        found |= announcing.exchanges(t, seat)
    return found


def own_turn(t: Lane, seat: i64) -> i64:
    """What a seat may announce at its own turn."""
    found: i64 = announcing.exchanges(t, seat) if t.program.swaps.own_turn and t.n > 0 else 0
    return found | announcing.ACCUSE if t.program.duties.accuses else found


def _window(t: Lane, after_draw: bool) -> None:
    """Asks the seats that may do something, winner of the trick first. May end the deal."""
    if t.program.songs.any_winner:
        seat: i64 = t.winner
        asked: i64 = 0
        while asked < t.size and not t.ended:
            _ask(t, seat, after_draw)
            seat = t.ring[seat]
            asked += 1
        return
    _ask(t, t.winner, after_draw)
    if t.pairs and not t.ended:
        _ask(t, (t.winner + 2) & 3, after_draw)


def _ask(t: Lane, seat: i64, after_draw: bool) -> None:
    songs, swaps = t.program.songs, t.program.swaps
    while not t.ended:
        hand: i64 = t.hands[seat]
        found: i64 = 0
        if after_draw and announcing.holds_a_song(t, hand):
            found = announcing.declarations(t, seat, hand)
        may_not_pass = songs.mandatory and found != 0
        if swaps.after_draw if after_draw else swaps.before_draw:
            found |= _exchanges_in_window(t, seat)
        if not found:
            return
        n: i64 = count(found)
        chosen: i64 = t.dice.below(n if may_not_pass else n + 1)
        if chosen == n:
            return
        announcing.carry_out(t, seat, pick(found, chosen))


def _exchanges_in_window(t: Lane, seat: i64) -> i64:
    trigger: i64 = t.program.swaps.trigger
    if t.program.swaps.deferred:
        return announcing.exchanges(t, seat)
    if trigger == codes.OWN_TURN:
        return announcing.exchanges(t, seat) if seat == t.winner else 0
    if trigger == codes.SIDE_JUST_WON:
        return announcing.exchanges(t, seat) if t.side[seat] == t.side[t.last_trick] else 0
    return announcing.exchanges(t, seat) if seat == t.last_trick else 0
