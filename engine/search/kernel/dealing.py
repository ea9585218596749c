"""Dealing: `engine.match.opening.dealing`, step by step with the same dice."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.cards.pack import NO_SUIT
from engine.search.kernel import codes
from engine.search.kernel.announcing import fix_turns
from engine.search.kernel.state import KernelState, clear
from engine.search.masks import count

if TYPE_CHECKING:
    from mypy_extensions import i64


def start(t: KernelState) -> None:
    """Deal the next deal of the match."""
    p = t.program.deals
    if t.deal_no == 0:
        _first_dealer(t)
    elif p.next_dealer == codes.LAST_TRICK_WINNER:
        if t.last_trick >= 0:
            t.dealer = t.last_trick
    elif p.next_dealer == codes.PREVIOUS_MANO:
        t.dealer = t.mano
    elif not t.same_dealer:
        t.dealer = right_of(t, t.dealer)
    t.deal_no += 1
    t.game_deal += 1
    _seat(t)
    clear(t)
    fix_turns(t)
    if t.program.stakes.ante:
        _ante_up(t)
    _deal_cards(t)
    if p.coins_first and t.deal_no == 1:
        _coins_first(t)
    if p.coins_start:
        t.leader = holder_of(t, t.program.cards.two)


def _first_dealer(t: KernelState) -> None:
    p = t.program.deals
    bit = t.program.cards.bit
    number = t.dice.below(t.seats - count(t.gone))
    seat: i64 = 0
    while t.gone & bit[seat] or number > 0:
        if not t.gone & bit[seat]:
            number -= 1
        seat += 1
    if p.coins_first and not p.dealer_plays:
        seat = _left_of(t, seat)
    t.dealer = seat


def right_of(t: KernelState, seat: i64) -> i64:
    """Return the nearest seat to the right that is still in the match."""
    bit = t.program.cards.bit
    step: i64 = 1
    while step <= t.seats:
        neighbour: i64 = seat + step
        if neighbour >= t.seats:
            neighbour -= t.seats
        if not t.gone & bit[neighbour]:
            return neighbour
        step += 1
    return seat


def _left_of(t: KernelState, seat: i64) -> i64:
    bit = t.program.cards.bit
    step: i64 = 1
    while step <= t.seats:
        neighbour: i64 = seat - step
        if neighbour < 0:
            neighbour += t.seats
        if not t.gone & bit[neighbour]:
            return neighbour
        step += 1
    return seat


def _seat(t: KernelState) -> None:
    """Set the seats of the deal, from mano in the order of play."""
    bit, active, ring = t.program.cards.bit, t.active, t.ring
    dealer = t.dealer
    sits_out = not t.program.deals.dealer_plays and not t.gone & bit[dealer]
    seat: i64 = right_of(t, dealer)
    t.mano = seat
    playing: i64 = 0
    size: i64 = 0
    while True:
        if not (sits_out and seat == dealer):
            active[size] = seat
            size += 1
            playing |= bit[seat]
        seat = right_of(t, seat)
        if seat == t.mano:
            break
    t.size = size
    t.playing = playing
    seat = 0
    while seat < t.seats:
        following: i64 = seat + 1
        if following >= t.seats:
            following = 0
        while not playing & bit[following]:
            following += 1
            if following >= t.seats:
                following = 0
        ring[seat] = following
        seat += 1


def _ante_up(t: KernelState) -> None:
    p = t.program.stakes
    if p.settlement != codes.CHIPS or (p.payments == codes.WINNER_AND_SONGS and (not p.contract_pot or t.pot)):
        return
    chips = t.chips
    seat: i64 = 0
    while seat < t.seats:
        chips[seat] = chips[seat] - p.ante
        seat += 1
    t.pot += p.ante * t.seats


def _shuffle(t: KernelState) -> None:
    """Shuffle like `Dice.shuffle`."""
    cards, deck, dice = t.program.cards.deck, t.deck, t.dice
    size = t.program.cards.size
    i: i64 = 0
    while i < size:
        deck[i] = cards[i]
        i += 1
    while i > 1:
        j: i64 = dice.below(i)
        i -= 1
        card: i64 = deck[i]
        deck[i] = deck[j]
        deck[j] = card


def _deal_cards(t: KernelState) -> None:  # noqa: C901 - written out like its twin in engine.match
    p, cards = t.program.deals, t.program.cards
    deck, hands, active, bit = t.deck, t.hands, t.active, t.program.cards.bit
    _shuffle(t)
    k: i64 = t.size
    dealt: i64 = k * (p.sizes[t.deal_no - 1] if p.by_number else p.sizes[0])
    place: i64 = 0
    i: i64 = 0
    while i < dealt:
        seat = active[place]
        hands[seat] = hands[seat] | bit[deck[i]]
        i += 1
        place += 1
        if place == k:
            place = 0
    t.top = dealt
    t.end = cards.size
    source = p.source
    if source == codes.LAST_DEALT:
        t.shown = deck[dealt - 1]
        t.holder = active[k - 1]
    elif source == codes.MANO_LAST:
        t.shown = deck[dealt - k]
        t.holder = t.mano
    elif source >= codes.TURNED_STOCK and dealt < cards.size:
        t.shown = deck[dealt]
        t.top = dealt + 1
    elif source == codes.CENTRE_CARD and p.full_last:
        t.shown = deck[dealt - 1]
        t.holder = active[k - 1]
    t.trump = NO_SUIT
    if source == codes.ROTATING:
        t.trump = (t.deal_no - 1) % 4
    elif t.shown >= 0:
        t.trump = cards.suit_of[t.shown]
    if p.coins_start or (p.coins_first and t.deal_no == 1):
        t.trump = 0
        if t.holder >= 0:
            t.shown = t.holder = -1
    t.n = 0
    if p.draws:
        t.n = t.end - t.top
        if p.shown_drawn and t.shown >= 0 and t.holder < 0:
            t.n += 1
    t.left = dealt + t.n


def _coins_first(t: KernelState) -> None:
    """Start the first deal of cabrero."""
    cards, hands = t.program.cards, t.hands
    centre = t.shown
    if centre == cards.two:
        t.mano = holder_of(t, cards.four)
    elif centre >= 0:
        t.mano = holder_of(t, cards.two)
        hands[t.mano] = hands[t.mano] ^ cards.bit[cards.two] ^ cards.bit[centre]
        t.shown = cards.two
    elif t.program.deals.dealer_plays:
        t.mano = holder_of(t, cards.two)
    order_from(t, t.mano)


def order_from(t: KernelState, seat: i64) -> None:
    """Put the seats of the deal into the order of play, beginning with this one."""
    place: i64 = 0
    while place < t.size:
        t.active[place] = seat
        seat = t.ring[seat]
        place += 1


def holder_of(t: KernelState, card: i64) -> i64:
    """Return the seat in the deal that holds a card."""
    bit = t.program.cards.bit[card]
    place: i64 = 0
    while place < t.size:
        if t.hands[t.active[place]] & bit:
            return t.active[place]
        place += 1
    return -1
