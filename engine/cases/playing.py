"""Cases of calls and play: what may be said and played, and who wins a trick. Each kind of case has one function with its name."""

from __future__ import annotations

import engine
from engine.cards import actions as act
from engine.cases.positions import Answer, Case, after_trick, begin
from engine.errors import EngineError
from engine.match import position as pos
from engine.match.opening import auctions
from engine.match.opening.stages import AUCTIONS
from engine.match.scoring import results
from engine.match.state import State
from engine.match.trick import songs, tricks


def auction(game: engine.Game, position: Case) -> Answer:
    """Return the state of an auction after some calls: the next speaker and its choices, or how the auction ended."""
    state = begin(game, position)
    for seat in state.active:
        state.hands[seat][0] = 1  # Calls do not depend on the cards.
    opening = AUCTIONS[state.rules.auction][0]
    state.stage = len(game.stages)
    deal = state.deal_no
    state.left = 0
    opening(state)
    question = state.phase
    for text in position["calls"]:
        seat, what = pos.split(text)
        if state.turn != seat:
            raise EngineError(f"{text!r}: it is seat {state.turn}'s turn to speak")
        state.apply(game.parse_action(f"bid {what}" if what.isdigit() else what))
        if state.deal_no != deal or state.is_over:
            break
    ended = next((event for event in state.events if event["e"] == "score"), None)
    over = ended is not None or state.phase is not question
    if over and position.get("censor_bid") is not None:
        auctions.take_over(state, state.dealer, position["censor_bid"])
    notes = {} if ended is not None else state.notes
    answer: Answer = {name: notes.get(name) for name in ("soloist", "bid", "displaced")} | {"over": over}
    if ended is not None and ended["why"] == "alone":
        winner = game.sides[ended["winner"]][0]
        answer |= {"soloist": winner, "pot_to": winner, "playing": [winner]}
    elif over:
        answer |= {"pot_to": None}
        if notes.get("playing"):
            answer |= {"playing": sorted(notes["playing"]), "commitments": results.commitments(state)}
    else:
        answer |= _open_auction(state, position)
    return answer


def _open_auction(state: State, position: Case) -> Answer:
    legal = [state.game.action_text(action) for action in state.legal_actions()]
    numbers = [int(text.split()[1]) for text in legal if text.startswith("bid ")]
    return {
        "to_call": state.turn,
        "legal": legal,
        "may_pass": "pass" in legal,
        "lowest_bid": min(numbers, default=None),
        # A case lists some legal and some illegal bids: return those that the engine classifies in the same way.
        "legal_bids": [bid for bid in position["asked"].get("legal_bids", ()) if bid in numbers],
        "illegal_bids": [bid for bid in position["asked"].get("illegal_bids", ()) if bid not in numbers],
    }


def partner(game: engine.Game, position: Case) -> Answer:
    """Return whether the soloist may call a card, and who then is the partner."""
    state = begin(game, position)
    for seat, cards in position["hands"].items():
        pos.give_hand(state, seat, cards)
    state.notes = state.notes | {"soloist": position["soloist"]}
    state.stage = len(game.stages)
    auctions.call_card(state)
    action = game.parse_action("call " + position["called_card"])
    allowed = action in state.legal_actions()
    if allowed:
        state.apply(action)
    return {"allowed": allowed, "partner": state.notes.get("partner")}


def prediction(game: engine.Game, position: Case) -> Answer:
    """Return the numbers of tricks that a seat may predict."""
    state = begin(game, position)
    cards = [game.pack.text(card) for card in game.pack.cards]
    for seat in state.active:
        pos.give_hand(state, seat, cards[: position["hand_size"]])
    state.notes = state.notes | {"predictions": dict(position["predictions"])}
    state.ask(position["seat"], auctions.PREDICT)
    return {"legal": [action - act.PREDICT for action in state.legal_actions()]}


def legal_move(game: engine.Game, position: Case) -> Answer:
    """Return the cards that a seat may play."""
    state = begin(game, position)
    state.n = position.get("stock", 0)
    seat = position["seat"]
    if position.get("pending"):
        state.pending = pos.split(position["pending"])[0]
        state.notes = state.notes | {"pending_card": game.pack.parse(pos.split(position["pending"])[1])}
    state.turn = seat
    tricks.lead(state)
    pos.play_trick(state, position["trick"], lead=position.get("lead"))
    if state.turn != seat:
        raise EngineError(f"after {position['trick']} it is seat {state.turn}'s turn, not seat {seat}'s")
    pos.give_hand(state, seat, position["hand"])
    return {"legal": [game.pack.text(action) for action in state.legal_actions() if action < act.PLAY_END]}


def trick_winner(game: engine.Game, position: Case) -> Answer:
    """Return the winner of a trick, and its points."""
    state = begin(game, position)
    seats = [pos.split(play)[0] for play in position["trick"]]
    pos.sit(state, seats)
    pos.play_trick(state, position["trick"])
    return {"winner": state.last_trick, "points": state.cards[state.last_trick]}


def trace(game: engine.Game, position: Case) -> Answer:
    """Return the lead suit and trump after each card of a trick that may change them."""
    state = begin(game, position)
    state.turn = pos.split(position["trick"][0])[0]
    tricks.lead(state)
    states = []
    for play in position["trick"]:
        pos.put_card(state, play)
        states.append(f"{state.suit_text(state.lead)} {state.suit_text(state.trump)}")
    return {"states": states, "winner": state.last_trick, "next_trump": state.suit_text(state.trump)}


def table_song(game: engine.Game, position: Case) -> Answer:
    """Return the pairs in a trick and their points for its winner."""
    state = begin(game, position)
    state.notes = state.notes | {"table_pairs": position.get("pairs_before", 0)}
    pos.play_trick(state, position["trick"])
    pairs = [song for song in state.songs_made if song[3]]
    return {
        "winner": state.last_trick,
        "pairs": [game.pack.suits[suit] for _, suit, _, _ in pairs],
        "points": sum(points for _, _, points, _ in pairs),
        "trump_after": state.suit_text(state.trump),
    }


def declaration(game: engine.Game, position: Case) -> Answer:
    """Return the songs and tutes that a seat may declare after a trick."""
    state = after_trick(game, position)
    return {"legal": [_declared(state, action) for action in state.declarations(position["seat"])]}


def _declared(state: State, action: int) -> str:
    if action >= act.TUTE:
        return "tute" + act.TUTE_RANKS[action - act.TUTE]
    suit = action - act.SING
    points = songs.song_value(state, suit)
    return "40" if points == 40 else f"{points}{state.suit_text(suit)}"


ANSWERS = (auction, partner, prediction, legal_move, trick_winner, trace, table_song, declaration)
