"""What comes before the first lead, in machine words: `engine.match.opening.auctions` and the exchange before the first lead.

Each stage is one function that asks its seats in turn. A stage that was broken off (`t.asked`) goes on with the seat it had asked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.search.playouts import announcing, codes, discarding
from engine.search.playouts.dealing import holder_of
from engine.search.playouts.lane import ALONE, PASSED, Lane, cut_short
from engine.search.playouts.words import FOLD, count, pick

if TYPE_CHECKING:
    from mypy_extensions import i64


def run(t: Lane) -> None:  # noqa: C901 - written out like its twin in engine.match
    """The stages that are still to come, up to the first lead. May end the deal."""
    p = t.program.deals
    while t.stage < p.n_stages:
        stage: i64 = p.stages[t.stage]
        t.stage += 1
        if stage == codes.EXCHANGE:
            _exchange(t)
        elif stage == codes.POINTS_AUCTION:
            _points_auction(t)
        elif stage == codes.PLAY_OR_PASS:
            _play_or_pass(t)
        elif stage == codes.PLAY_THEN_JOIN:
            _play_then_join(t)
        elif stage == codes.CHANGE_CARDS:
            discarding.change_cards(t)
        elif stage == codes.PREDICTIONS:
            _predictions(t)
        elif stage == codes.CENSOR:
            _censor(t)
        elif stage == codes.NAME_TRUMP:
            t.trump = t.dice.below(4)
        else:
            _call_card(t)
        t.asked = -1
        if t.ended:
            return
    t.leading = True
    t.turn = t.mano if t.leader < 0 else t.leader


def _thrown_in(t: Lane) -> None:
    if t.program.deals.passed_is_ordinary:
        return
    t.same_dealer = t.program.deals.same_dealer
    cut_short(t, PASSED, -1, 0)


def _soloist_leads(t: Lane) -> None:
    if t.program.deals.soloist_leads:
        t.leader = t.soloist


# ---- exchange of the shown card before the first lead


def _exchange(t: Lane) -> None:
    while True:
        seat: i64 = _next_exchanger(t)
        if seat < 0:
            return
        if t.program.swaps.must:
            all_of_them: i64 = _exchanges(t, seat)
            announcing.exchange(t, seat, all_of_them & -all_of_them)
            continue
        found: i64 = _exchanges(t, seat) & ~t.declined
        found &= -found  # the seven comes before the two
        if t.dice.below(2) == 0:
            announcing.exchange(t, seat, found)
        else:
            t.declined |= found


def _exchanges(t: Lane, seat: i64) -> i64:
    p = t.program
    if not p.swaps.before_lead or t.shown < 0 or t.trump > 3 or (t.deal_no == 1 and p.deals.coins_first):
        return 0
    return announcing.given(t, t.hands[seat])


def _next_exchanger(t: Lane) -> i64:
    """The holder of the seven, else that of the two, that may still exchange."""
    found: i64 = -1
    place: i64 = 0
    while place < t.size:
        seat: i64 = t.active[place]
        open_to: i64 = _exchanges(t, seat) & ~t.declined
        if open_to & announcing.SEVEN:
            return seat
        if open_to:
            found = seat
        place += 1
    return found


# ---- auctions


def _lowest_bid(t: Lane) -> i64:
    p = t.program.deals
    if t.bid < p.min_bid:
        return p.min_bid
    return p.min_bid + ((t.bid - p.min_bid) // p.bid_step + 1) * p.bid_step


def _bids(t: Lane) -> i64:
    """How many bids may be made now."""
    p = t.program.deals
    low: i64 = _lowest_bid(t)
    return (p.max_bid - low) // p.bid_step + 1 if low <= p.max_bid else 0


def _points_auction(t: Lane) -> None:
    p, bit = t.program.deals, t.program.cards.bit
    seat: i64 = t.asked
    if seat < 0:
        seat = t.mano
    while seat >= 0:
        chosen: i64 = t.dice.below(1 + _bids(t))
        t.spoken |= bit[seat]
        if chosen == 0:
            t.passed |= bit[seat]
        else:
            t.bid = _lowest_bid(t) + (chosen - 1) * p.bid_step
            t.soloist = seat
        seat = _next_caller(t, seat)
    if t.soloist < 0:
        _thrown_in(t)
    else:
        _soloist_leads(t)


def _next_caller(t: Lane, seat: i64) -> i64:
    bit = t.program.cards.bit
    silent: i64 = t.passed | t.spoken if t.program.deals.single_round else t.passed
    step: i64 = 0
    while step < t.size:
        seat = t.ring[seat]
        if not silent & bit[seat] and seat != t.soloist:
            return seat
        step += 1
    return -1


def _censor(t: Lane) -> None:
    """The dealer, who sits out, may take over the soloist's hand for a higher bid."""
    seat: i64 = t.dealer
    bit = t.program.cards.bit
    if t.soloist < 0 or t.playing & bit[seat] or not _bids(t):
        return
    chosen: i64 = t.dice.below(1 + _bids(t))
    if chosen == 0:
        return
    t.bid = _lowest_bid(t) + (chosen - 1) * t.program.deals.bid_step
    displaced: i64 = t.soloist
    t.soloist = seat
    hand: i64 = t.hands[seat]
    t.hands[seat] = t.hands[displaced]
    t.hands[displaced] = hand
    t.ring[seat] = t.ring[displaced]
    other: i64 = 0
    while other < t.seats:
        if t.ring[other] == displaced:
            t.ring[other] = seat
        other += 1
    place: i64 = 0
    while place < t.size:
        if t.active[place] == displaced:
            t.active[place] = seat
        place += 1
    t.playing = t.playing ^ bit[displaced] ^ bit[seat]
    if t.mano == displaced:
        t.mano = seat
    _soloist_leads(t)


def _play_or_pass(t: Lane) -> None:
    bit = t.program.cards.bit
    seat: i64 = t.asked
    if seat < 0:
        seat = t.mano
    while True:
        if t.dice.below(2) == 0:
            t.soloist = seat
            _soloist_leads(t)
            return
        t.spoken |= bit[seat]
        if count(t.spoken) == t.size:
            _thrown_in(t)
            return
        seat = t.ring[seat]


def _call_card(t: Lane) -> None:
    cards = t.program.cards
    callable_: i64 = cards.all if t.program.deals.calls_own else cards.all & ~t.hands[t.soloist]
    card: i64 = pick(callable_, t.dice.below(count(callable_)))
    t.partner = holder_of(t, cards.place[card % FOLD])


def _play_then_join(t: Lane) -> None:
    """`joined` holds the seats that play, `spoken` those that were asked to join."""
    bit = t.program.cards.bit
    seat: i64 = t.asked
    if seat < 0:
        seat = t.mano
    while seat >= 0:
        yes = t.dice.below(2) == 0
        if t.soloist < 0:
            if yes:
                t.soloist = seat
                t.joined = bit[seat]
            else:
                t.passed |= bit[seat]
        else:
            t.spoken |= bit[seat]
            if yes:
                t.joined |= bit[seat]
        seat = _next_to_join(t, seat)
    if not t.joined:
        _thrown_in(t)
    elif count(t.joined) == 1:
        cut_short(t, ALONE, t.side[t.soloist], 0)
    else:
        _sit_down(t)


def _next_to_join(t: Lane, seat: i64) -> i64:
    bit = t.program.cards.bit
    if t.soloist < 0:
        return t.ring[seat] if count(t.passed) < t.size else -1
    seat = t.soloist
    barred: i64 = t.spoken | bit[seat]
    if not t.program.deals.passed_may_join:
        barred |= t.passed
    step: i64 = 0
    while step < t.size:
        seat = t.ring[seat]
        if not barred & bit[seat]:
            return seat
        step += 1
    return -1


def _sit_down(t: Lane) -> None:
    """Only those who joined play on."""
    bit = t.program.cards.bit
    t.thrown = t.playing & ~t.joined
    kept: i64 = 0
    place: i64 = 0
    while place < t.size:
        seat: i64 = t.active[place]
        if t.joined & bit[seat]:
            t.active[kept] = seat
            kept += 1
        place += 1
    seat = 0
    while seat < t.seats:
        following: i64 = t.ring[seat]
        while not t.joined & bit[following]:
            following = t.ring[following]
        t.ring[seat] = following
        seat += 1
    t.playing = t.joined
    t.size = kept
    t.left = kept * t.program.deals.sizes[0]
    t.leader = t.soloist if t.program.deals.soloist_leads else t.active[0]


# ---- podrida


def _predictions(t: Lane) -> None:
    bit = t.program.cards.bit
    seat: i64 = t.asked
    if seat < 0:
        seat = t.mano
    while True:
        tricks: i64 = count(t.hands[seat])
        barred: i64 = -1
        if t.program.deals.hook and count(t.spoken) == t.size - 1:
            barred = tricks - _said(t)
        n: i64 = tricks if 0 <= barred <= tricks else tricks + 1
        said: i64 = t.dice.below(n)
        t.said[seat] = said + 1 if 0 <= barred <= said else said
        t.spoken |= bit[seat]
        if count(t.spoken) == t.size:
            return
        seat = t.ring[seat]


def _said(t: Lane) -> i64:
    bit = t.program.cards.bit
    total: i64 = 0
    seat: i64 = 0
    while seat < t.seats:
        if t.spoken & bit[seat]:
            total += t.said[seat]
        seat += 1
    return total
