"""Auctions and what a soloist does after one: censor, naming trump, calling a card; predictions. Bato's auction is in `joining`.

The notes of the deal (`state.notes`) hold the result of an auction: soloist, bid, partner, called, predictions (podrida).
"""

from __future__ import annotations

from engine.cards import actions as act
from engine.match import steps
from engine.match.data import Data, Phase
from engine.match.opening.calls import call, note, thrown_in
from engine.match.trick import legality

# ---- points auction (subastado, remate, the pot contract of arrastrado)


def points_auction(state: Data) -> int:
    """Start the bids of points, from mano round the table, once each or until all but the highest bidder have passed."""
    note(state, bid=0, soloist=None, passed=(), spoken=())
    state.ask(state.mano, POINTS)
    return steps.WAIT


def lowest_bid(state: Data) -> int:
    """Return the least legal bid; above `max_bid` none is possible."""
    rules = state.rules
    low, step, bid = rules.min_bid or 0, rules.bid_step, int(state.notes["bid"])
    return low if bid < low else low + ((bid - low) // step + 1) * step


def bids(state: Data) -> tuple[int, ...]:
    """Return the legal bids, as actions."""
    return tuple(range(act.BID + lowest_bid(state), act.BID + (state.rules.max_bid or 0) + 1, state.rules.bid_step))


def _points_legal(state: Data) -> tuple[int, ...]:
    return (act.PASS, *bids(state))


def _points_act(state: Data, action: int) -> int:
    seat = state.turn
    call(state, action)
    note(state, spoken=(*state.notes["spoken"], seat))
    if action == act.PASS:
        note(state, passed=(*state.notes["passed"], seat))
    else:
        note(state, bid=action - act.BID, soloist=seat)
    following = next_caller(state)
    if following >= 0:
        state.ask(following, POINTS)
        return steps.WAIT
    soloist = state.notes["soloist"]
    if soloist is None:
        return thrown_in(state)
    lead_by_soloist(state)
    return steps.STAGE


def next_caller(state: Data) -> int:
    """Return the seat that speaks next, or -1 when the auction is over."""
    seat = state.turn
    passed, spoken, soloist = state.notes["passed"], state.notes["spoken"], state.notes["soloist"]
    for _ in state.active:
        seat = state.next[seat]
        if seat in passed or seat == soloist:
            continue
        if state.rules.auction_rounds == "single" and seat in spoken:
            continue
        return seat
    return -1


def lead_by_soloist(state: Data) -> None:
    """Let the soloist lead the first trick if `first_leader` says so."""
    if state.rules.first_leader == "soloist":
        note(state, leader=state.notes["soloist"])


POINTS = Phase("auction", _points_legal, _points_act)


# ---- censor (subastado for four)


def censor(state: Data) -> int:
    """Show the soloist's hand to the dealer who sits out; it may take the hand over for a higher bid."""
    soloist = state.notes.get("soloist")
    if soloist is None or state.dealer in state.active or not bids(state):
        return steps.STAGE
    cards = [state.game.pack.texts[card] for card in state.hand_of(soloist)]
    state.emit("look", seat=state.dealer, of=soloist, cards=cards, secret={"cards": [state.dealer]})
    note(state, censor_sees=soloist, censored_hand=cards)
    state.ask(state.dealer, CENSOR)
    return steps.WAIT


def _censor_act(state: Data, action: int) -> int:
    call(state, action)
    if action != act.PASS:
        take_over(state, state.turn, action - act.BID)
    return steps.STAGE


def take_over(state: Data, seat: int, bid: int) -> None:
    """Give the hand, the place and the contract of the soloist to the censor. The soloist sits out."""
    displaced = state.notes["soloist"]
    note(state, soloist=seat, bid=bid, displaced=displaced)
    state.hands[seat], state.hands[displaced] = state.hands[displaced], state.hands[seat]
    ring = list(state.next)
    ring[seat] = ring[displaced]
    for other in range(state.seats):
        if ring[other] == displaced:
            ring[other] = seat
    state.next = tuple(ring)
    state.active = tuple(seat if other == displaced else other for other in state.active)
    state.out = tuple(sorted({*state.out, displaced} - {seat}))
    if state.mano == displaced:
        state.mano = seat
    state.emit("takeover", seat=seat, of=displaced, bid=bid)
    lead_by_soloist(state)


CENSOR = Phase("censor", lambda state: (act.PASS, *bids(state)), _censor_act)


# ---- one call "play" (codillo)


def play_or_pass(state: Data) -> int:
    """Ask each seat from mano to play or pass, once; the first to play is the soloist."""
    note(state, soloist=None, spoken=(), passed=())
    state.ask(state.mano, PLAY_OR_PASS)
    return steps.WAIT


def _play_or_pass_act(state: Data, action: int) -> int:
    call(state, action)
    seat = state.turn
    if action == act.PLAY:
        note(state, soloist=seat)
        lead_by_soloist(state)
        return steps.STAGE
    note(state, spoken=(*state.notes["spoken"], seat))
    if len(state.notes["spoken"]) < len(state.active):
        state.ask(state.next[seat], PLAY_OR_PASS)
        return steps.WAIT
    return thrown_in(state)


PLAY_OR_PASS = Phase("auction", lambda state: (act.PLAY, act.PASS), _play_or_pass_act)


# ---- trump and called card


def name_trump(state: Data) -> int:
    """Ask the soloist for trump."""
    state.ask(state.notes["soloist"], NAME_TRUMP)
    return steps.WAIT


def _name_trump_act(state: Data, action: int) -> int:
    legality.set_trump(state, action - act.TRUMP)
    state.emit("trump", seat=state.turn, suit=state.suit_text(state.trump))
    return steps.STAGE


NAME_TRUMP = Phase("trump", lambda state: tuple(range(act.TRUMP, act.TRUMP + 4)), _name_trump_act)


def call_card(state: Data) -> int:
    """Ask the soloist to call a card; its holder is the secret partner."""
    state.ask(state.notes["soloist"], CALL_CARD)
    return steps.WAIT


def _call_legal(state: Data) -> tuple[int, ...]:
    own = () if state.rules.call_own_card == "solo" else state.hand_of(state.turn)
    return tuple(act.CALL + card for card in state.game.pack.cards if card not in own)


def _call_act(state: Data, action: int) -> int:
    card = action - act.CALL
    holder = next(seat for seat in state.active if card in state.hand_of(seat))
    note(state, called=card, partner=holder)
    state.emit("called", seat=state.turn, card=state.card_text(card))
    return steps.STAGE


CALL_CARD = Phase("call", _call_legal, _call_act)


# ---- predictions (podrida)


def predictions(state: Data) -> int:
    """Ask each seat from mano to the dealer how many tricks it will win."""
    note(state, predictions={})
    state.ask(state.mano, PREDICT)
    return steps.WAIT


def _predict_legal(state: Data) -> tuple[int, ...]:
    predicted: dict[int, int] = state.notes["predictions"]
    tricks = len(state.hand_of(state.turn))
    barred = -1
    if state.rules.hook and len(predicted) == len(state.active) - 1:
        barred = tricks - sum(predicted.values())
    return tuple(act.PREDICT + number for number in range(tricks + 1) if number != barred)


def _predict_act(state: Data, action: int) -> int:
    seat = state.turn
    predicted = state.notes["predictions"] | {seat: action - act.PREDICT}
    note(state, predictions=predicted)
    state.emit("predict", seat=seat, tricks=action - act.PREDICT)
    if len(predicted) < len(state.active):
        state.ask(state.next[seat], PREDICT)
        return steps.WAIT
    return steps.STAGE


PREDICT = Phase("prediction", _predict_legal, _predict_act)
