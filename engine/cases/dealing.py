"""Cases of deals, exchanges and draws. Each kind of case has one function with its name."""

from __future__ import annotations

import engine
from engine.cards import actions as act
from engine.cards.pack import NO_SUIT
from engine.cases.positions import Answer, Case, after_trick, begin
from engine.errors import EngineError
from engine.match import flow, steps
from engine.match import position as pos
from engine.match.hands import give, take
from engine.match.opening import dealing, joining
from engine.match.places import left_of
from engine.match.state import State
from engine.match.trick import exchanges, tricks
from engine.rules.sizes import deal_sizes


def deal(game: engine.Game, position: Case) -> Answer:
    """Describe a fresh deal: cards in hands, in the stock and on the table, and the number of tricks."""
    state = pos.blank(game, deal_no=position.get("deal_no", 1) - 1, dealer=None)
    state.dealer = (game.players - 1 - 1) % game.players if state.deal_no else state.dealer
    flow.run(state, steps.DEAL)
    return pos.shape(state)


def setup(game: engine.Game, position: Case) -> Answer:
    """Return mano, dealer, active seats and trump, as far as the case determines them."""
    deal_no = position["deal_no"]
    state = pos.blank(game, deal_no=deal_no)
    state.left_at = tuple(1 if seat in position.get("eliminated", ()) else 0 for seat in range(game.players))
    if deal_no == 1:
        if position.get("drawn_mano") is not None:
            state.dealer = left_of(state, position["drawn_mano"])
    elif position.get("previous_mano") is not None:
        state.mano = position["previous_mano"]
        dealing.next_places(state)
    dealing.seat_the_deal(state)
    state.begin_deal()
    dealing.deal_cards(state)
    if deal_no == 1 and position.get("holder_2o") is not None:
        two = game.pack.parse("2o")
        for seat in range(game.players):
            take(state, seat, two)
        give(state, position["holder_2o"], two)
        dealing.coins_first(state)
    answer: Answer = {"trump": state.suit_text(state.trump)}
    if deal_no == 1 or position.get("previous_mano") is not None:  # Otherwise the dealer is unknown.
        answer |= {"mano": state.mano, "dealer": state.dealer, "active": sorted(state.active)}
    return answer


def deal_sequence(game: engine.Game, position: Case) -> Answer:
    """Return the hand sizes of all deals of a match, and whether the last deal has a trump."""
    sizes = deal_sizes(game.rules, game.players)
    state = pos.blank(game, deal_no=len(sizes) - 1)
    flow.run(state, steps.DEAL)
    return {"hand_sizes": sizes, "last_has_trump": state.trump != NO_SUIT}


def exchange_round(game: engine.Game, position: Case) -> Answer:
    """Carry out the exchanges before the first lead: every holder exchanges unless the case says that they decline."""
    state = begin(game, position)
    state.deal_no = position.get("deal_no", 2)
    for seat, cards in position["hands"].items():
        pos.give_hand(state, seat, cards)
    pos.lay_out(state, shown_card=position["centre_card"])
    first = len(state.events)
    if state.rules.first_deal == "coins_2o" and state.deal_no == 1:
        dealing.coins_first(state)
    state.stage = len(game.stages)
    flow.run(state, exchanges.stage(state))
    while state.phase is exchanges.PHASE:
        declines = state.turn in position.get("declines", ())
        state.apply(act.PASS if declines else state.legal_actions()[0])
    exchanged = [event for event in state.events[first:] if event["e"] == "exchange"]
    hidden = any("takes" not in engine.redact([event], None)[0] for event in exchanged)
    swaps = [{"seat": e["seat"], "gives": e["gives"], "takes": e["takes"]} for e in exchanged]
    return {"swaps": swaps, "centre_after": state.card_text(state.shown), "hidden": hidden, "mano": state.mano}


def exchange(game: engine.Game, position: Case) -> Answer:
    """Return the exchanges that a seat may make, and the position after one of them."""
    state = after_trick(game, position)
    pos.lay_out(state, shown_card=position["shown_card"], n=position["stock"])
    if position.get("pending"):
        seat, card = pos.split(position["pending"])
        state.pending = seat
        state.notes = state.notes | {"pending_card": game.pack.parse(card)}
    seat = position["seat"]
    state.deal_no = position.get("deal_no", 2)
    legal = state.exchanges(seat, position["moment"])
    answer: Answer = {"legal": [game.action_text(action).split()[1] for action in legal]}
    if position.get("do"):
        action = game.parse_action("exchange " + position["do"])
        if action not in legal:
            raise EngineError(f"exchange {position['do']} is not legal here")
        state.ask(seat, None)
        exchanges.exchange(state, action)
        answer["after"] = _laid(state, seat)
    return answer


def _laid(state: State, seat: int) -> Answer:
    pending = f"{state.pending}:{state.card_text(state.notes['pending_card'])}" if state.pending >= 0 else None
    return {
        "hand": [state.game.pack.text(card) for card in state.hand_of(seat)],
        "shown_card": state.card_text(state.shown),
        "pending": pending,
    }


def exchange_step(game: engine.Game, position: Case) -> Answer:
    """Return what happens to an announced exchange after a trick and at the last draw."""
    state = begin(game, position)
    seat, winner = position["seat"], position["trick_winner"]
    pos.set_trump(state, position["shown_card"][-1])
    pos.give_hand(state, seat, position["hand"])
    pos.won_trick(state, winner, stock=position["stock"])
    pos.lay_out(
        state,
        shown_card=position["shown_card"],
        stock=position.get("stock_cards") or _any_stock(game, position),
        n=position["stock"],
    )
    state.pending, card = pos.split(position["pending"])
    state.notes = state.notes | {"pending_card": game.pack.parse(card)}
    exchanges.trick_won(state)
    if position["step"] == "last_draw":
        tricks.draw(state)
    return {"after": _laid(state, seat), "other_draws": state.card_text(state.drawn[1 - seat]) if state.drawn else None}


def _any_stock(game: engine.Game, position: Case) -> list[str]:
    """Return face-down cards that the case does not name, for cases where they do not matter. The shown card is drawn last."""
    used = {*position["hand"], position["shown_card"], position["pending"][-2:]}
    return [text for text in map(game.pack.text, game.pack.cards) if text not in used][: position["stock"] - 1]


def draw(game: engine.Game, position: Case) -> Answer:
    """Return the card that each seat draws after a trick, and the rest of the stock."""
    state = begin(game, position)
    pos.won_trick(state, position["trick_winner"], stock=position["stock"])
    pos.lay_out(state, shown_card=position["shown_card"], stock=position["stock_cards"], n=position["stock"])
    tricks.draw(state)
    drawn = {seat: state.card_text(card) for seat, card in enumerate(state.drawn or ()) if card >= 0}
    return {"drawn": drawn, "stock_after": state.n, "shown_card_after": state.card_text(state.shown)}


def discard_draw(game: engine.Game, position: Case) -> Answer:
    """Return how many cards each seat receives for its discards."""
    state = begin(game, position)
    cards = list(game.pack.cards)
    for seat in position["playing"]:
        state.hands[seat] = game.pack.hand(cards[4 * seat : 4 * seat + 4])
    state.stock = cards[-position["face_down"] :]
    state.active = tuple(seat for seat in state.active if seat in position["playing"])
    state.stage = len(game.stages)
    received: dict[int, int] = {}
    joining.change_cards(state)
    while state.phase is joining.CHANGE:
        seat, before = state.turn, len(state.stock)
        number = position["discards"][seat]
        state.apply(act.discard(state.hand_of(seat)[:number]))
        received[seat] = before - len(state.stock)
    return {"received": received, "face_down_after": len(state.stock)}


ANSWERS = (deal, setup, deal_sequence, exchange_round, exchange, exchange_step, draw, discard_draw)
