"""Cases of results: what a deal is worth, who pays, when a match is over. Each kind of case has one function with its name."""

from __future__ import annotations

import engine
from engine.cards import actions as act
from engine.cases.positions import Answer, Case, begin, free_suit, ready_to_count
from engine.match import position as pos
from engine.match import steps
from engine.match.opening import dealing
from engine.match.scoring import claims, settlement
from engine.match.state import State
from engine.match.trick import legality, songs, windows
from engine.rules.verdict import Verdict


def claim(game: engine.Game, position: Case) -> Answer:
    """Return whether a seat may claim the target, and who then wins the game."""
    state = ready_to_count(game, position)
    seat = position["seat"]
    pos.won_trick(state, seat)
    state.ask(seat, None)
    # After the last trick no seat is to move, so none can claim.
    allowed = songs.may_claim(state, seat, state.rules.claim_window) and not position["last_trick_played"]
    if allowed:
        claims.claim(state)
    return {"allowed": allowed, "winner": state.verdict.winner if state.verdict else None}


def auto_end(game: engine.Game, position: Case) -> Answer:
    """Return whether the side that has just scored has reached the target and so ended the game."""
    state = ready_to_count(game, position)
    over = claims.reached_by(state, position["scorer"]) == steps.DECIDED
    return {"over": over, "winner": state.verdict.winner if over and state.verdict else None}


def capote(game: engine.Game, position: Case) -> Answer:
    """Return whether a seat may announce capote, or how the announced capote ended."""
    state = begin(game, position)
    if position["question"] == "may_announce":
        return {"allowed": _may_announce(state, position)}
    state.capote_by = position["announced"]
    tricks_left = len(state.active) * int(state.rules.hand_size)
    for number, winner in enumerate(position.get("trick_winners", ()), 1):
        state.left = tricks_left - number * state.size
        state.last_trick = winner
        if claims.capote_decided(state):
            return {"winner": state.verdict.winner if state.verdict else None, "ends_after": number}
    return {"winner": None, "ends_after": None}


def _may_announce(state: State, position: Case) -> bool:
    """Return True if the seat of the case, by default the first to be asked, may announce capote now."""
    first = position.get("order", [state.mano])[0]
    seat = position.get("seat", first)
    pos.won_trick(state, first)
    if not position.get("tricks_since_stock_end") and not position.get("stock") and position["announced"] is None:
        windows.ask_capote(state)
    while state.phase is windows.CAPOTE and state.turn != seat:
        state.apply(act.PASS)
    return state.phase is windows.CAPOTE and act.CAPOTE in state.legal_actions()


def last_trick_choice(game: engine.Game, position: Case) -> Answer:
    """Return how a deal ends if the winner of the last trick takes its bonus, and if they decline it."""
    answer = {}
    for name, action in (("if_taken", act.TAKE), ("if_declined", act.DECLINE)):
        state = begin(game, position)
        pos.book(state, position["points_before_bonus"])
        state.left = 0
        state.last_trick = position["last_trick"]
        claims.last_trick(state)
        state.apply(action)
        score = next(event for event in state.events if event["e"] == "score")
        answer[name] = {"winner": score["winner"], "losers": score["losers"]}
    return answer


def scoring(game: engine.Game, position: Case) -> Answer:
    """Count a deal: points, totals, winner, games won, next dealer."""
    state = ready_to_count(game, position)
    points = dict(enumerate(state.side_points()))
    totals = dict(enumerate(state.totals_now()))
    verdict = _verdict(state, position) if not position.get("partial") else Verdict(None)
    before = state.games
    answer: Answer = {"deal_points": points, "totals": totals, "winner": verdict.winner}
    if not position.get("partial"):
        settlement.settle(state, verdict)
        dealing.next_places(state)
        answer |= {"games": sum(state.games) - sum(before), "next_dealer": state.dealer}
    return answer


def _verdict(state: State, position: Case) -> Verdict:
    """Return how the deal ends: by its count, or by an announced capote."""
    if position.get("announced") is None:
        if not any(state.tricks) and "predictions" not in position:
            state.tricks = [int(seat in state.active) for seat in range(state.seats)]  # Every seat took a trick.
        return claims.decide(state)
    side = state.side[position["announced"]]
    swept = position.get("swept_final_phase") == side
    state.capote_by = position["announced"]
    state.left = 0
    state.last_trick = next(seat for seat in state.active if (state.side[seat] == side) == swept)
    claims.capote_decided(state)
    return state.verdict or Verdict(None)


def result(game: engine.Game, position: Case) -> Answer:
    """Return the winner or losers of a deal with these points, and its value in games and chips."""
    state = ready_to_count(game, position)
    state.songs = [0] * state.seats  # deal_points include them.
    state.tute_by = position.get("tute_by", -1) if position.get("tute_by") is not None else -1
    state.left = 0
    state.notes = state.notes | {name: position[name] for name in ("soloist", "partner") if name in position}
    bonus = 0 if position.get("bonus_declined") else state.rules.last_trick_bonus
    for side, points in position["deal_points"].items():
        first = game.sides[side][0]
        takes_bonus = state.last_trick >= 0 and state.side[state.last_trick] == side
        state.cards[first] = points - (bonus if takes_bonus else 0)
    if position.get("bonus_declined"):
        state.notes = state.notes | {"bonus_declined": True}
    state.tricks = [1 if seat in position.get("takers", state.active) else 0 for seat in range(state.seats)]
    verdict = claims.decide(state)
    settlement.settle(state, verdict)
    return {
        "winner": verdict.winner,
        "losers": list(verdict.losers),
        "games": sum(state.games),
        "chips": dict(enumerate(state.chips)),
    }


def payment(game: engine.Game, position: Case) -> Answer:
    """Return the chips paid after a deal, by seat."""
    state = begin(game, position)
    legality.set_trump(state, free_suit(position))
    pos.sang(state, position.get("songs", ()))
    state.left = 0
    for seat, points in position.get("deal_points", {}).items():
        state.cards[seat] = points - state.songs[seat]  # deal_points include the songs.
    state.pot = position.get("pot", 0)
    state.tute_by = -1 if position.get("tute_by") is None else position["tute_by"]
    notes = {
        name: position[name] for name in ("soloist", "partner", "bid", "displaced") if position.get(name) is not None
    }
    state.notes = state.notes | notes
    if "soloist_points" in position:
        state.cards[position["soloist"]] = position["soloist_points"]
    if position.get("displaced") is not None:
        state.active = tuple(position["soloist"] if seat == position["displaced"] else seat for seat in state.active)
    if "tricks_won" in position:
        state.active = tuple(sorted(position["tricks_won"]))
        state.notes = state.notes | {"playing": state.active}
        for seat, number in position["tricks_won"].items():
            state.tricks[seat] = number
    pot = state.pot
    verdict = claims.decide(state)
    chips = state.rules.payments(state, verdict)
    received = {seat: state.tricks[seat] * (pot // 4) for seat in state.active}
    return {
        "chips": dict(enumerate(chips)),
        "losers": list(verdict.losers),
        "received": received,
        "pot_after": state.pot,
    }


def match(game: engine.Game, position: Case) -> Answer:
    """Return the state of a match after a game or a deal: games, marks, who leaves, whether it is over."""
    state = begin(game, position)
    state.deal_no = 20  # Well into the match.
    if "games" in position:
        state.games = tuple(position["games"][side] for side in range(len(state.games)))
    if "cotos" in position:
        state.cotos = tuple(position["cotos"][side] for side in range(len(state.cotos)))
        state.coto_games, state.games = state.games, (0,) * len(state.games)
    if "games_played" in position:
        state.games_played = position["games_played"] - 1
    if "loss_marks" in position:
        state.marks = tuple(position["loss_marks"][seat] for seat in range(state.seats))
    state.clock = position.get("cards", 0)
    if "game_winner" in position:
        settlement.book_game(state, position["game_winner"], position.get("game_value", 1))
    verdict = None
    if "deal_losers" in position:
        verdict = Verdict(None, tuple(position["deal_losers"]))
    elif "revoke_by" in position:
        verdict = claims.revoke_verdict(state, position["revoke_by"])
    elif "accusation" in position:
        accusation = position["accusation"]
        verdict = claims.accusation_verdict(
            state, accusation["by"], position.get("revoke_by", accusation.get("against", -1)), accusation["proven"]
        )
    if verdict is not None:
        settlement.book_marks(state, verdict)
    over = settlement.match_over(state)
    return {
        "games": dict(enumerate(state.coto_games if "cotos" in position else state.games)),
        "cotos": dict(enumerate(state.cotos)),
        "loss_marks": dict(enumerate(state.marks)),
        "eliminated": [seat for seat, at in enumerate(state.left_at) if at],
        "over": over,
        "winners": list(settlement.match_winners(state)) if over else [],
        "match_losers": [seat for seat in range(state.seats) if state.marks[seat] >= (state.rules.max_losses or 99)]
        if over
        else [],
    }


def accusation(game: engine.Game, position: Case) -> Answer:
    """Return the accusations open to a seat, the seats asked before the count, and the cost of an accusation."""
    state = begin(game, position)
    claims.last_accusations(state)
    queue = list(state.queue)
    state.turn = position["seat"]
    state.revokers = tuple(position["revoked"])
    legal = [game.action_text(action) for action in claims.accusations(state, state.turn)]
    claims.accuse(state, game.parse_action(f"accuse {position['accuses']}"))
    verdict = state.verdict or Verdict()
    proven = verdict.why == "revoke"
    return {"legal": legal, "asked": queue, "proven": proven, "losers": list(verdict.losers), "marks": verdict.marks}


ANSWERS = (claim, auto_end, capote, last_trick_choice, scoring, result, payment, match, accusation)
