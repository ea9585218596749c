"""The stages before the first lead: `engine.match.opening.auctions` and `joining`, and the exchange before the first lead.

A stage begins by asking a seat; `act_upon` takes its answer and asks the next one. Both return the next step (`engine.match.steps`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.cards import actions as act
from engine.match import steps
from engine.search.kernel import announcing, asking, codes, discarding, tricks
from engine.search.kernel.dealing import holder_of
from engine.search.kernel.state import ALONE, PASSED, KernelState, cut_short
from engine.search.masks import count

if TYPE_CHECKING:
    from mypy_extensions import i64


def next_stage(t: KernelState) -> i64:
    """Start the next stage of the deal, or the first lead."""
    p = t.program.deals
    if t.stage == p.n_stages:
        t.bids = 0
        t.turn = t.mano if t.leader < 0 else t.leader
        tricks.lead(t)
        return steps.WAIT
    stage: i64 = p.stages[t.stage]
    t.stage += 1
    t.phase = stage
    if stage == codes.EXCHANGE:
        return _exchange(t)
    if stage == codes.CENSOR:
        if not _may_censor(t):
            return steps.STAGE
        t.turn = t.dealer
    elif stage == codes.NAME_TRUMP or stage == codes.CALL_CARD:
        t.turn = t.soloist
    elif stage == codes.CHANGE_CARDS:
        t.turn = t.active[t.changed]
    else:
        t.turn = t.mano
    offer(t)
    return steps.WAIT


def offer(t: KernelState) -> None:
    """Set the legal answers of the seat on turn in a stage."""
    stage: i64 = t.phase
    t.legal = t.extra = t.bids = 0
    if stage == codes.EXCHANGE:
        t.extra = _offered_exchange(t, t.turn) | asking.PASS
    elif stage == codes.POINTS_AUCTION or stage == codes.CENSOR:
        t.extra = asking.PASS
        t.low_bid = _lowest_bid(t)
        t.bids = _bids(t)
    elif stage == codes.PLAY_OR_PASS:
        t.extra = asking.PLAY | asking.PASS
    elif stage == codes.PLAY_THEN_JOIN:
        t.extra = asking.PLAY | asking.PASS if t.soloist < 0 else asking.JOIN | asking.OUT
    elif stage == codes.CHANGE_CARDS:
        discarding.offer(t)
    elif stage == codes.PREDICTIONS:
        t.legal = _predictions(t)
    elif stage == codes.NAME_TRUMP:
        t.extra = asking.TRUMPS
    else:
        cards = t.program.cards
        t.legal = cards.all if t.program.deals.calls_own else cards.all & ~t.hands[t.soloist]


def act_upon(t: KernelState, action: i64) -> i64:
    """Carry out the answer of the seat on turn in a stage."""
    stage: i64 = t.phase
    if stage == codes.EXCHANGE:
        return _answer_exchange(t, action)
    if stage == codes.POINTS_AUCTION:
        return _bid(t, action)
    if stage == codes.CENSOR:
        if action != act.PASS:
            _take_over(t, action - act.BID)
    elif stage == codes.PLAY_OR_PASS:
        return _play_or_pass(t, action)
    elif stage == codes.PLAY_THEN_JOIN:
        return _play_or_join(t, action)
    elif stage == codes.CHANGE_CARDS:
        return discarding.act_upon(t, action)
    elif stage == codes.PREDICTIONS:
        return _predict(t, action - act.PREDICT)
    elif stage == codes.NAME_TRUMP:
        t.trump = action - act.TRUMP
    else:
        t.partner = holder_of(t, action - act.CALL)
    return steps.STAGE


def _ask(t: KernelState, seat: i64) -> i64:
    t.turn = seat
    offer(t)
    return steps.WAIT


def _thrown_in(t: KernelState) -> i64:
    if t.program.deals.passed_is_ordinary:
        return steps.STAGE
    t.same_dealer = t.program.deals.same_dealer
    return cut_short(t, PASSED, -1, 0)


def _soloist_leads(t: KernelState) -> None:
    if t.program.deals.soloist_leads:
        t.leader = t.soloist


# ---- exchange of the shown card before the first lead


def _exchange(t: KernelState) -> i64:
    while True:
        seat: i64 = _next_exchanger(t)
        if seat < 0:
            return steps.STAGE
        if not t.program.swaps.must:
            return _ask(t, seat)
        _give(t, seat, _exchanges(t, seat))


def _give(t: KernelState, seat: i64, exchanges: i64) -> None:
    """Exchange the seven or, if it is not among these exchanges, the two."""
    seven: i64 = t.program.cards.bit[act.EXCHANGE_SEVEN - act.SING + t.trump]
    announcing.exchange(t, seat, act.EXCHANGE_SEVEN if exchanges & seven else act.EXCHANGE_TWO)


def _answer_exchange(t: KernelState, action: i64) -> i64:
    if action == act.PASS:
        t.declined |= _offered_exchange(t, t.turn)
    else:
        announcing.exchange(t, t.turn, action)
    return _exchange(t)


def _offered_exchange(t: KernelState, seat: i64) -> i64:
    """Return the exchange that a seat is asked about, the seven before the two; 0 if there is none."""
    exchanges: i64 = _exchanges(t, seat) & ~t.declined
    return exchanges & -exchanges


def _exchanges(t: KernelState, seat: i64) -> i64:
    p = t.program
    if not p.swaps.before_lead or t.shown < 0 or t.trump > 3 or (t.deal_no == 1 and p.deals.coins_first):
        return 0
    return announcing.possible_exchanges(t, t.hands[seat])


def _next_exchanger(t: KernelState) -> i64:
    """Return the holder of the seven, else of the two, that may still exchange; -1 if there is none."""
    holder_of_two: i64 = -1
    place: i64 = 0
    while place < t.size:
        seat: i64 = t.active[place]
        exchange: i64 = _offered_exchange(t, seat)
        if exchange & asking.SEVENS:
            return seat
        if exchange:
            holder_of_two = seat
        place += 1
    return holder_of_two


# ---- auctions


def _lowest_bid(t: KernelState) -> i64:
    p = t.program.deals
    if t.bid < p.min_bid:
        return p.min_bid
    return p.min_bid + ((t.bid - p.min_bid) // p.bid_step + 1) * p.bid_step


def _bids(t: KernelState) -> i64:
    """Return the number of legal bids."""
    p = t.program.deals
    low: i64 = _lowest_bid(t)
    return (p.max_bid - low) // p.bid_step + 1 if low <= p.max_bid else 0


def _bid(t: KernelState, action: i64) -> i64:
    bit = t.program.cards.bit
    t.spoken |= bit[t.turn]
    if action == act.PASS:
        t.passed |= bit[t.turn]
    else:
        t.bid = action - act.BID
        t.soloist = t.turn
    seat: i64 = _next_caller(t, t.turn)
    if seat >= 0:
        return _ask(t, seat)
    if t.soloist < 0:
        return _thrown_in(t)
    _soloist_leads(t)
    return steps.STAGE


def _next_caller(t: KernelState, seat: i64) -> i64:
    bit = t.program.cards.bit
    silent: i64 = t.passed | t.spoken if t.program.deals.single_round else t.passed
    step: i64 = 0
    while step < t.size:
        seat = t.ring[seat]
        if not silent & bit[seat] and seat != t.soloist:
            return seat
        step += 1
    return -1


def _may_censor(t: KernelState) -> bool:
    """Return True if the dealer, who sits out, may take over the soloist's hand for a higher bid."""
    return t.soloist >= 0 and not t.playing & t.program.cards.bit[t.dealer] and _bids(t) > 0


def _take_over(t: KernelState, bid: i64) -> None:
    seat: i64 = t.dealer
    bit = t.program.cards.bit
    t.bid = bid
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


def _play_or_pass(t: KernelState, action: i64) -> i64:
    if action == act.PLAY:
        t.soloist = t.turn
        _soloist_leads(t)
        return steps.STAGE
    t.spoken |= t.program.cards.bit[t.turn]
    return _thrown_in(t) if count(t.spoken) == t.size else _ask(t, t.ring[t.turn])


def _play_or_join(t: KernelState, action: i64) -> i64:
    """Carry out an answer. `joined` holds the seats that play, `spoken` those that were asked to join."""
    bit = t.program.cards.bit
    if action == act.PASS:
        t.passed |= bit[t.turn]
    elif action == act.PLAY:
        t.soloist = t.turn
        t.joined = bit[t.turn]
    else:
        t.spoken |= bit[t.turn]
        if action == act.JOIN:
            t.joined |= bit[t.turn]
    seat: i64 = _next_to_join(t, t.turn)
    if seat >= 0:
        return _ask(t, seat)
    if not t.joined:
        return _thrown_in(t)
    if count(t.joined) == 1:
        return cut_short(t, ALONE, t.side[t.soloist], 0)
    _sit_down(t)
    return steps.STAGE


def _next_to_join(t: KernelState, seat: i64) -> i64:
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


def _sit_down(t: KernelState) -> None:
    """Take the seats that did not join out of the deal."""
    bit = t.program.cards.bit
    t.thrown = t.playing & ~t.joined
    size: i64 = 0
    place: i64 = 0
    while place < t.size:
        seat: i64 = t.active[place]
        if t.joined & bit[seat]:
            t.active[size] = seat
            size += 1
        place += 1
    seat = 0
    while seat < t.seats:
        following: i64 = t.ring[seat]
        while not t.joined & bit[following]:
            following = t.ring[following]
        t.ring[seat] = following
        seat += 1
    t.playing = t.joined
    t.size = size
    t.left = size * t.program.deals.sizes[0]
    t.leader = t.soloist if t.program.deals.soloist_leads else t.active[0]


# ---- podrida


def _predictions(t: KernelState) -> i64:
    """Return the numbers of tricks that the seat on turn may predict, a bit each."""
    bit = t.program.cards.bit
    tricks: i64 = count(t.hands[t.turn])
    numbers: i64 = bit[tricks + 1] - 1
    if t.program.deals.hook and count(t.spoken) == t.size - 1:
        barred: i64 = tricks - _predicted(t)
        if barred >= 0:
            numbers &= ~bit[barred]
    return numbers


def _predict(t: KernelState, tricks: i64) -> i64:
    t.predicted[t.turn] = tricks
    t.spoken |= t.program.cards.bit[t.turn]
    return steps.STAGE if count(t.spoken) == t.size else _ask(t, t.ring[t.turn])


def _predicted(t: KernelState) -> i64:
    bit = t.program.cards.bit
    total: i64 = 0
    seat: i64 = 0
    while seat < t.seats:
        if t.spoken & bit[seat]:
            total += t.predicted[seat]
        seat += 1
    return total
