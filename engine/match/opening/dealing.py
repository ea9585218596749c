"""Dealing the next deal: dealer, places, cards, trump."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.cards import chance
from engine.cards.pack import NO_SUIT, hand_of_flags
from engine.match import steps
from engine.match.data import Data
from engine.match.hands import give, take
from engine.match.places import left_of, right_of, seats_left
from engine.match.scoring import payments
from engine.rules.sizes import deal_sizes
from engine.rules.terms import Places

if TYPE_CHECKING:
    from engine.cards.pack import Pack
    from engine.match.record import Entry
    from engine.match.redaction import EventRecord


def start(state: Data) -> int:
    """Deal the next deal of the match.

    1. Dealer and seats that sit out. 2. Counters of a new deal. 3. The shuffle. 4. Trump. The stages before the first lead follow.
    """
    rules = state.rules
    if state.deal_no == 0:
        first_places(state)
    else:
        next_places(state)
    state.deal_no += 1
    state.game_deal += 1
    seat_the_deal(state)
    state.begin_deal()
    if rules.ante:
        payments.ante_up(state)
    deal_cards(state)
    state.own_turn = state.game.has_own_turn
    if rules.first_deal == "coins_2o" and state.deal_no == 1:
        coins_first(state)
    if rules.coins_start:
        state.notes = {"leader": holder_of(state, state.game.pack.parse("2o"))}
    state.stage = 0
    return steps.STAGE


def first_places(state: Data) -> None:
    """Draw the dealer of the first deal, or mano if the dealer sits out and the holder of 2o would be mano."""
    remaining = seats_left(state)
    dice = state.dice
    drawn = remaining[chance.pick(state.seed, "dealer", len(remaining)) if dice is None else dice.below(len(remaining))]
    if state.rules.first_deal == "coins_2o" and not state.rules.dealer_plays:
        drawn = left_of(state, drawn)
    state.dealer = drawn


def next_places(state: Data) -> None:
    """Set the next dealer (parameter `next_dealer`)."""
    rule = state.rules.next_dealer
    if rule == "last_trick_winner":
        if state.last_trick >= 0:
            state.dealer = state.last_trick
    elif rule == "previous_mano":
        state.dealer = state.mano
    elif not state.notes.get("same_dealer"):
        state.dealer = right_of(state, state.dealer)


def seat_the_deal(state: Data) -> None:
    """Set the places of the deal, by its dealer and the seats still in the match."""
    gone = state.left_at
    key = (state.dealer, tuple(map(bool, gone)) if any(gone) else ())
    places = state.game.places.get(key)
    if places is None:
        places = state.game.places[key] = _places(state)
    state.mano, state.active, state.out, state.next = places
    state.size = len(places.active)


def _places(state: Data) -> Places:
    remaining = seats_left(state)
    plays = state.rules.dealer_plays or state.dealer not in remaining
    mano = right_of(state, state.dealer)
    order: list[int] = []
    seat = mano
    while seat not in order:
        if plays or seat != state.dealer:
            order.append(seat)
        seat = right_of(state, seat)
    ring = []
    for seat in range(state.seats):
        following = (seat + 1) % state.seats
        while following not in order:
            following = (following + 1) % state.seats
        ring.append(following)
    return Places(mano, tuple(order), tuple(seat for seat in range(state.seats) if seat not in order), tuple(ring))


def deal_cards(state: Data) -> None:
    """Shuffle and deal, set trump, and record the deal."""
    game, rules, dice = state.game, state.rules, state.dice
    flags = game.flags.get(state.suit_map)
    if flags is None:
        flags = game.flags[state.suit_map] = game.pack.flags(state.suit_map)
    deck = chance.shuffle(state.seed, state.deal_no, flags) if dice is None else dice.shuffle(flags)
    size = rules.hand_size
    dealt = state.size * (deal_sizes(rules, state.seats)[state.deal_no - 1] if size == "deal_no" else int(size))
    _deal_hands(state, deck[:dealt])
    rest: list[int] = []
    if dealt < len(deck):
        # the next card is the last of the list
        rest = game.pack.of_flags(deck[: dealt - 1 : -1])
    _show_a_card(state, deck[:dealt], rest)
    state.trump = _trump(state)  # `tricks.lead` derives the duties of followers
    state.stock = rest
    n = 0
    if rules.draw != "none":
        n = len(rest)
        if rules.shown_card_drawn and state.shown >= 0 and state.holder < 0:
            n += 1
    state.n = n
    state.left = dealt + n
    if state.log is not None:
        _record(state, state.log, rest)


def _deal_hands(state: Data, dealt: list[int]) -> None:
    """Give out the dealt cards (flags), one at a time in order of play."""
    k = state.size
    hands = [hand_of_flags(sum(dealt[place::k])) for place in range(k)]
    if k == state.seats:
        state.hands = hands[-state.mano :] + hands[: -state.mano]
    else:
        state.hands = [[0, 0, 0, 0, 0] for _ in state.next]
        for seat, hand in zip(state.active, hands, strict=True):
            state.hands[seat] = hand


def _show_a_card(state: Data, dealt: list[int], rest: list[int]) -> None:
    """Set the shown card and the seat that holds it, if any (parameter `trump_source`). Remove it from `rest` if it comes from there."""
    rules = state.rules
    source = rules.trump_source
    flag = 0
    if source in ("turned_stock", "centre_card") and rest:
        state.shown = rest.pop()
    elif source == "last_dealt" or (source == "centre_card" and rules.full_deal_trump == "last_card_of_dealer"):
        flag, state.holder = dealt[-1], state.active[-1]
    elif source == "mano_last":
        flag, state.holder = dealt[-state.size], state.mano
    if flag:
        state.shown = state.game.pack.of_flags([flag])[0]


def _trump(state: Data) -> int:
    """Return the trump of a deal after its shown card is set. If coins are trump by rule, no card in a hand is shown."""
    rules = state.rules
    if rules.coins_start or (rules.first_deal == "coins_2o" and state.deal_no == 1):
        if state.holder >= 0:
            state.shown, state.holder = -1, -1
        return 0
    if rules.trump_source == "rotating":
        return (state.deal_no - 1) % 4
    return state.suit_of[state.shown] if state.shown >= 0 else NO_SUIT


def _record(state: Data, log: list[Entry], rest: list[int]) -> None:
    first = state.rules.first_deal == "coins_2o" and state.deal_no == 1
    hidden = first and state.shown >= 0
    log.append(
        (
            deal_event,
            state.deal_no,
            state.dealer,
            mano_of_coins(state) if first else state.mano,
            state.out,
            state.trump,
            -1 if hidden else state.shown,
            state.holder,
            state.n,
            (state.totals, state.games, state.marks, state.chips),
            [hand[:] for hand in state.hands],
            [state.shown] if hidden else rest[::-1],
        )
    )


def deal_event(
    pack: Pack,
    deal: int,
    dealer: int,
    mano: int,
    out: tuple[int, ...],
    trump: int,
    shown_card: int,
    holder: int,
    stock: int,
    standing: tuple[tuple[int, ...], ...],
    hands: list[list[int]],
    face_down: list[int],
) -> EventRecord:
    """Return the event of a deal."""
    totals, games, marks, chips = map(list, standing)
    return {
        "e": "deal",
        "deal": deal,
        "dealer": dealer,
        "mano": mano,
        "out": list(out),
        "trump": None if trump == NO_SUIT else pack.suits[trump],
        "shown": None if shown_card < 0 else pack.texts[shown_card],
        "holder": None if holder < 0 else holder,
        "stock": stock,
        "totals": totals,
        "games": games,
        "marks": marks,
        "chips": chips,
        "hands": [pack.names(pack.in_hand(hand)) for hand in hands],
        "rest": pack.names(face_down),
    }


def coins_first(state: Data) -> None:
    """Start the first deal of cabrero: the holder of 2o is mano; with three players 2o also replaces the face-down centre card."""
    pack = state.game.pack
    two = pack.parse("2o")
    centre = state.shown
    seat = state.mano = mano_of_coins(state)
    if centre == two:
        state.emit("reveal", seat=seat, card="4o", shown="2o")
    elif centre >= 0:
        take(state, seat, two)
        give(state, seat, centre)
        state.shown = two
        state.emit("exchange", seat=seat, gives="2o", takes=pack.texts[centre], secret={"takes": [seat]})
    elif state.rules.dealer_plays:
        state.emit("reveal", seat=seat, card="2o")
    place = state.active.index(state.mano)
    state.active = state.active[place:] + state.active[:place]


def mano_of_coins(state: Data) -> int:
    """Return mano of the first deal of cabrero: the holder of 2o, or of 4o if 2o is the centre card; if the dealer sits out, mano as drawn."""
    if not state.rules.dealer_plays:
        return state.mano
    pack = state.game.pack
    two = pack.parse("2o")
    return holder_of(state, pack.parse("4o") if state.shown == two else two)


def holder_of(state: Data, card: int) -> int:
    """Return the seat in the deal that holds a card."""
    suit, bit = state.suit_of[card], state.bit_of[card]
    return next(seat for seat in state.active if state.hands[seat][suit] & bit)
