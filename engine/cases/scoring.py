"""Cases of results: what a deal is worth, who is paid, when a match is over. One function a kind, named as it."""

from __future__ import annotations

import engine
from engine.cards import actions as act
from engine.cases.positions import Answer, Case, begin, counted, free_suit
from engine.match import position as pos
from engine.match import steps
from engine.match.opening import dealing
from engine.match.scoring import claims, settlement
from engine.match.state import State
from engine.match.trick import legality, songs, windows
from engine.rules.verdict import Verdict


def claim(game: engine.Game, given: Case) -> Answer:
    """Whether a seat may claim to have the target, and who wins the game by it."""
    state = counted(game, given)
    seat = given["seat"]
    pos.won_trick(state, seat)
    state.ask(seat, None)
    # after the last trick nobody is to play, so nobody can claim
    allowed = songs.may_claim(state, seat, state.rules.claim_window) and not given["last_trick_played"]
    if allowed:
        claims.claim(state)
    return {"allowed": allowed, "winner": state.verdict.winner if state.verdict else None}


def auto_end(game: engine.Game, given: Case) -> Answer:
    """Whether the side that has just scored has reached the target and thereby ended the game."""
    state = counted(game, given)
    seat = game.sides[given["scorer"]][0]
    over = claims.reached_by(state, seat) == steps.DECIDED
    return {"over": over, "winner": state.verdict.winner if over and state.verdict else None}


def capote(game: engine.Game, given: Case) -> Answer:
    """Whether a seat may promise all tricks, or how such a promise ended."""
    state = begin(game, given)
    if given["question"] == "may_announce":
        return {"allowed": _may_announce(state, given)}
    state.capote_by = given["announced"]
    left = len(state.active) * int(state.rules.hand_size)
    for number, winner in enumerate(given.get("trick_winners", ()), 1):
        state.left = left - number * state.size
        state.last_trick = winner
        if claims.capote_decided(state):
            return {"winner": state.verdict.winner if state.verdict else None, "ends_after": number}
    return {"winner": None, "ends_after": None}


def _may_announce(state: State, given: Case) -> bool:
    """Whether a seat (the first that is asked, unless the case names one) may promise all tricks now."""
    first = given.get("order", [state.mano])[0]
    seat = given.get("seat", first)
    pos.won_trick(state, first)
    if not given.get("tricks_since_stock_end") and not given.get("stock") and given["announced"] is None:
        windows.ask_capote(state)
    while state.phase is windows.CAPOTE and state.turn != seat:
        state.apply(act.PASS)
    return state.phase is windows.CAPOTE and act.CAPOTE in state.legal_actions()


def last_trick_choice(game: engine.Game, given: Case) -> Answer:
    """How a deal ends if the winner of the last trick takes its bonus, and if it declines it."""
    answer = {}
    for name, action in (("if_taken", act.TAKE), ("if_declined", act.DECLINE)):
        state = begin(game, given)
        pos.book(state, given["points_before_bonus"])
        state.left = 0
        state.last_trick = given["last_trick"]
        claims.last_trick(state)
        state.apply(action)
        score = next(event for event in state.events if event["e"] == "score")
        answer[name] = {"winner": score["winner"], "losers": score["losers"]}
    return answer


def scoring(game: engine.Game, given: Case) -> Answer:
    """The count of a deal: points, totals, winner, games won, next dealer."""
    state = counted(game, given)
    points = dict(enumerate(state.side_points()))
    totals = dict(enumerate(state.totals_now()))
    verdict = _verdict(state, given) if not given.get("partial") else Verdict(None)
    before = state.games
    answer: Answer = {"deal_points": points, "totals": totals, "winner": verdict.winner}
    if not given.get("partial"):
        settlement.settle(state, verdict)
        dealing.next_places(state)
        answer |= {"games": sum(state.games) - sum(before), "next_dealer": state.dealer}
    return answer


def _verdict(state: State, given: Case) -> Verdict:
    """How the deal ends: by its count, or by a capote that was announced."""
    if given.get("announced") is None:
        if not any(state.tricks) and "predictions" not in given:
            state.tricks = [int(seat in state.active) for seat in range(state.seats)]  # nobody went without
        return claims.decide(state)
    side = state.side[given["announced"]]
    swept = given.get("swept_final_phase") == side
    state.capote_by = given["announced"]
    state.left = 0
    state.last_trick = next(seat for seat in state.active if (state.side[seat] == side) == swept)
    claims.capote_decided(state)
    return state.verdict or Verdict(None)


def result(game: engine.Game, given: Case) -> Answer:
    """Who wins or loses a deal of these points, and what that is worth in games and chips."""
    state = counted(game, given)
    state.songs = [0] * state.seats  # deal_points hold them
    state.tute_by = given.get("tute_by", -1) if given.get("tute_by") is not None else -1
    state.left = 0
    state.notes = state.notes | {name: given[name] for name in ("soloist", "partner") if name in given}
    bonus = 0 if given.get("bonus_declined") else state.rules.last_trick_bonus
    for side, points in given["deal_points"].items():
        first = game.sides[side][0]
        mine = state.last_trick >= 0 and state.side[state.last_trick] == side
        state.cards[first] = points - (bonus if mine else 0)
    if given.get("bonus_declined"):
        state.notes = state.notes | {"bonus_declined": True}
    state.tricks = [1 if seat in given.get("takers", state.active) else 0 for seat in range(state.seats)]
    verdict = claims.decide(state)
    settlement.settle(state, verdict)
    return {
        "winner": verdict.winner,
        "losers": list(verdict.losers),
        "games": sum(state.games),
        "chips": dict(enumerate(state.chips)),
    }


def payment(game: engine.Game, given: Case) -> Answer:
    """Chips paid after a deal, by seat."""
    state = begin(game, given)
    legality.set_trump(state, free_suit(given))
    pos.sang(state, given.get("songs", ()))
    state.left = 0
    for seat, points in given.get("deal_points", {}).items():
        state.cards[seat] = points - state.songs[seat]  # deal_points hold the songs
    state.pot = given.get("pot", 0)
    state.tute_by = -1 if given.get("tute_by") is None else given["tute_by"]
    notes = {name: given[name] for name in ("soloist", "partner", "bid", "displaced") if given.get(name) is not None}
    state.notes = state.notes | notes
    if "soloist_points" in given:
        state.cards[given["soloist"]] = given["soloist_points"]
    if given.get("displaced") is not None:
        state.active = tuple(given["soloist"] if seat == given["displaced"] else seat for seat in state.active)
    if "tricks_won" in given:
        state.active = tuple(sorted(given["tricks_won"]))
        state.notes = state.notes | {"playing": state.active}
        for seat, number in given["tricks_won"].items():
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


def match(game: engine.Game, given: Case) -> Answer:
    """Where a match stands after a game or a deal: games, marks, who has to leave, whether it is over."""
    state = begin(game, given)
    state.deal_no = 20  # well into the match
    if "games" in given:
        state.games = tuple(given["games"][side] for side in range(len(state.games)))
    if "cotos" in given:
        state.cotos = tuple(given["cotos"][side] for side in range(len(state.cotos)))
        state.coto_games, state.games = state.games, (0,) * len(state.games)
    if "games_played" in given:
        state.games_played = given["games_played"] - 1
    if "loss_marks" in given:
        state.marks = tuple(given["loss_marks"][seat] for seat in range(state.seats))
    if "game_winner" in given:
        settlement.book_game(state, given["game_winner"], given.get("game_value", 1))
    verdict = None
    if "deal_losers" in given:
        verdict = Verdict(None, tuple(given["deal_losers"]))
    elif "revoke_by" in given:
        verdict = claims.revoke_verdict(state, given["revoke_by"])
    elif "accusation" in given:
        accusation = given["accusation"]
        verdict = claims.accusation_verdict(
            accusation["by"], given.get("revoke_by", accusation.get("against", -1)), accusation["proven"]
        )
    if verdict is not None:
        settlement.book_marks(state, verdict)
    over = settlement.match_over(state)
    return {
        "games": dict(enumerate(state.coto_games if "cotos" in given else state.games)),
        "cotos": dict(enumerate(state.cotos)),
        "loss_marks": dict(enumerate(state.marks)),
        "eliminated": [seat for seat, at in enumerate(state.left_at) if at],
        "over": over,
        "winners": list(settlement.match_winners(state)) if over else [],
        "match_losers": [seat for seat in range(state.seats) if state.marks[seat] >= (state.rules.max_losses or 99)]
        if over
        else [],
    }


ANSWERS = (claim, auto_end, capote, last_trick_choice, scoring, result, payment, match)
