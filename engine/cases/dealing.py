"""Cases of deals, exchanges and draws: cards that change hands. One function a kind, named as it."""

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


def deal(game: engine.Game, given: Case) -> Answer:
    """What a fresh deal looks like: cards in hands, in the stock and on the table, and how many tricks it has."""
    state = pos.blank(game, deal_no=given.get("deal_no", 1) - 1, dealer=None)
    state.dealer = (game.players - 1 - 1) % game.players if state.deal_no else state.dealer
    flow.run(state, steps.DEAL)
    return pos.shape(state)


def setup(game: engine.Game, given: Case) -> Answer:
    """Who deals, who is mano, who plays, and the trump, as far as the case says enough to know."""
    deal_no = given["deal_no"]
    state = pos.blank(game, deal_no=deal_no)
    state.left_at = tuple(1 if seat in given.get("eliminated", ()) else 0 for seat in range(game.players))
    if deal_no == 1:
        if given.get("drawn_mano") is not None:
            state.dealer = left_of(state, given["drawn_mano"])
    elif given.get("previous_mano") is not None:
        state.mano = given["previous_mano"]
        dealing.next_places(state)
    dealing.seat_the_deal(state)
    state.begin_deal()
    dealing.deal_cards(state)
    if deal_no == 1 and given.get("holder_2o") is not None:
        two = game.pack.parse("2o")
        for seat in range(game.players):
            take(state, seat, two)
        give(state, given["holder_2o"], two)
        dealing.coins_first(state)
    answer: Answer = {"trump": state.suit_text(state.trump)}
    if deal_no == 1 or given.get("previous_mano") is not None:  # else nobody knows who deals
        answer |= {"mano": state.mano, "dealer": state.dealer, "active": sorted(state.active)}
    return answer


def deal_sequence(game: engine.Game, given: Case) -> Answer:
    """The hand sizes of all deals of a match, and whether the last deal has a trump."""
    sizes = deal_sizes(game.rules, game.players)
    state = pos.blank(game, deal_no=len(sizes) - 1)
    flow.run(state, steps.DEAL)
    return {"hand_sizes": sizes, "last_has_trump": state.trump != NO_SUIT}


def exchange_round(game: engine.Game, given: Case) -> Answer:
    """The exchanges before the first lead, where every holder but those who decline exchanges."""
    state = begin(game, given)
    state.deal_no = given.get("deal_no", 2)
    for seat, cards in given["hands"].items():
        pos.give_hand(state, seat, cards)
    pos.lay_out(state, shown=given["centre_card"])
    first = len(state.events)
    if state.rules.first_deal == "coins_2o" and state.deal_no == 1:
        dealing.coins_first(state)
    state.stage = len(game.stages)
    flow.run(state, exchanges.stage(state))
    while state.phase is exchanges.PHASE:
        declines = state.turn in given.get("declines", ())
        state.apply(act.PASS if declines else state.legal_actions()[0])
    done = [event for event in state.events[first:] if event["e"] == "exchange"]
    hidden = any("takes" not in engine.redact([event], None)[0] for event in done)
    swaps = [{"seat": e["seat"], "gives": e["gives"], "takes": e["takes"]} for e in done]
    return {"swaps": swaps, "centre_after": state.card_text(state.shown), "hidden": hidden, "mano": state.mano}


def exchange(game: engine.Game, given: Case) -> Answer:
    """The exchanges that a seat may make, and what one of them leaves behind."""
    state = after_trick(game, given)
    pos.lay_out(state, shown=given["shown_card"], n=given["stock"])
    if given.get("pending"):
        seat, card = pos.split(given["pending"])
        state.pending = seat
        state.notes = state.notes | {"pending_card": game.pack.parse(card)}
    seat = given["seat"]
    state.deal_no = given.get("deal_no", 2)
    legal = state.exchanges(seat, given["moment"])
    answer: Answer = {"legal": [game.action_text(action).split()[1] for action in legal]}
    if given.get("do"):
        action = game.parse_action("exchange " + given["do"])
        if action not in legal:
            raise EngineError(f"exchange {given['do']} is not legal here")
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


def exchange_step(game: engine.Game, given: Case) -> Answer:
    """What becomes of a notice of exchange after a trick, and with the last draw."""
    state = begin(game, given)
    seat, winner = given["seat"], given["trick_winner"]
    pos.set_trump(state, given["shown_card"][-1])
    pos.give_hand(state, seat, given["hand"])
    pos.won_trick(state, winner, stock=given["stock"])
    pos.lay_out(
        state, shown=given["shown_card"], stock=given.get("stock_cards") or _any_stock(game, given), n=given["stock"]
    )
    state.pending, card = pos.split(given["pending"])
    state.notes = state.notes | {"pending_card": game.pack.parse(card)}
    exchanges.trick_won(state)
    if given["step"] == "last_draw":
        tricks.draw(state)
    return {"after": _laid(state, seat), "other_draws": state.card_text(state.drawn[1 - seat]) if state.drawn else None}


def _any_stock(game: engine.Game, given: Case) -> list[str]:
    """Face-down cards for a case in which they do not matter: those that it does not name. The shown card is drawn last."""
    named = {*given["hand"], given["shown_card"], given["pending"][-2:]}
    return [text for text in map(game.pack.text, game.pack.cards) if text not in named][: given["stock"] - 1]


def draw(game: engine.Game, given: Case) -> Answer:
    """Who draws which card after a trick, and what is left of the stock."""
    state = begin(game, given)
    pos.won_trick(state, given["trick_winner"], stock=given["stock"])
    pos.lay_out(state, shown=given["shown_card"], stock=given["stock_cards"], n=given["stock"])
    tricks.draw(state)
    drawn = {seat: state.card_text(card) for seat, card in enumerate(state.drawn or ()) if card >= 0}
    return {"drawn": drawn, "stock_after": state.n, "shown_card_after": state.card_text(state.shown)}


def discard_draw(game: engine.Game, given: Case) -> Answer:
    """How many new cards each seat gets for those that it put away."""
    state = begin(game, given)
    cards = list(game.pack.cards)
    for seat in given["playing"]:
        state.hands[seat] = game.pack.hand(cards[4 * seat : 4 * seat + 4])
    state.stock = cards[-given["face_down"] :]
    state.active = tuple(seat for seat in state.active if seat in given["playing"])
    state.stage = len(game.stages)
    received: dict[int, int] = {}
    joining.change_cards(state)
    while state.phase is joining.CHANGE:
        seat, before = state.turn, len(state.stock)
        number = given["discards"][seat]
        state.apply(act.discard(state.hand_of(seat)[:number]))
        received[seat] = before - len(state.stock)
    return {"received": received, "face_down_after": len(state.stock)}


ANSWERS = (deal, setup, deal_sequence, exchange_round, exchange, exchange_step, draw, discard_draw)
