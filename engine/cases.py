"""Worked cases of the rules book (schema `tute-cases/2`), answered by the engine.

Each kind sets up the position that a case describes and asks the engine; nothing here knows a rule. A case of a kind that the engine cannot
answer is a failure, not a gap to be passed over.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import engine
from engine import actions as act
from engine import position as pos
from engine.cards import NO_SUIT
from engine.errors import EngineError
from engine.parts import announcing, auctions, counting, dealing, exchanging, legality, results, settling, tricks
from engine.parts.outcome import Verdict
from engine.state import State

SCHEMA = "tute-cases/2"
Case = Mapping[str, Any]
Answer = dict[str, Any]


@dataclass(frozen=True)
class Result:
    """One case, asked. `problem` is empty where it holds, otherwise a sentence with what was expected and what the engine says."""

    path: str
    game: str
    case: str
    kind: str
    problem: str

    @property
    def holds(self) -> bool:
        return not self.problem


def run(path: Path) -> Iterator[Result]:
    """The results of every case of a file, or of every .yaml file of a folder. Raises EngineError for a file that is no case file."""
    files = sorted(path.glob("*.yaml")) if path.is_dir() else [path]
    if not files:
        raise EngineError(f"{path}: no .yaml file of worked cases is there")
    for file in files:
        for game, case in read(file):
            yield Result(str(file), game, str(case.get("id")), str(case.get("kind")), problem(game, case))


def read(file: Path) -> Iterator[tuple[str, Case]]:
    """(game, case) for each case of a file."""
    import yaml  # the command line's dependency; the rules themselves need none

    try:
        data = yaml.safe_load(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise EngineError(f"{file}: cannot be read as YAML: {error}") from None
    if not isinstance(data, dict) or data.get("schema") != SCHEMA or not isinstance(data.get("cases"), list):
        raise EngineError(
            f"{file}: not a file of worked cases: it needs 'schema: {SCHEMA}', 'variant' and a list 'cases'"
        )
    for case in data["cases"]:
        yield data["variant"], case


def problem(game: str, case: Case) -> str:
    """What is wrong between a case and the engine; empty where every key of `expect` holds."""
    kind = case.get("kind")
    if kind not in ANSWERS:
        return f"the engine has no answer to cases of kind {kind!r}"
    try:
        given = dict(case["given"])
        expect = case["expect"]
        options = dict(case.get("options") or {})
        table = engine.load(game, players=given.get("players"), **options)
        said = ANSWERS[kind](table, given | {"asked": expect})
    except (EngineError, KeyError, TypeError, IndexError, ValueError) as error:
        return f"cannot be asked: {error!r}"
    wrong = [
        f"{name}: expected {_shown(wanted)}, the engine says {_shown(said.get(name, 'nothing'))}"
        for name, wanted in expect.items()
        if name not in said or not _same(said[name], wanted, name)
    ]
    return "; ".join(wrong)


def _same(said: Any, wanted: Any, name: str) -> bool:
    """Equality, where sets have no order and seats that a mapping of numbers leaves out have nothing."""
    if isinstance(wanted, Mapping) and isinstance(said, Mapping) and all(type(key) is int for key in wanted):
        said = {key: value for key, value in said.items() if key in wanted or value}
    return bool(_plain(said, name) == _plain(wanted, name))


def _plain(value: Any, name: str) -> Any:
    if name in ("legal", "hand", "losers", "winners", "eliminated", "active", "match_losers") and isinstance(
        value, (list, tuple)
    ):
        return sorted(value, key=str)
    if isinstance(value, Mapping):
        return {str(key): _plain(inner, str(key)) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(inner, "") for inner in value]
    return value


def _shown(value: Any) -> str:
    return repr(sorted(value, key=str)) if isinstance(value, set) else repr(value)


# ---- positions shared by several kinds


def _begin(game: engine.Game, given: Case) -> State:
    dealer = given["sitting_out"][0] if given.get("sitting_out") else None
    state = pos.blank(game, mano=given.get("mano", 0), dealer=dealer, deal_no=given.get("deal_no", 1))
    if "trump" in given:
        pos.set_trump(state, given["trump"])
    return state


def _after_trick(game: engine.Game, given: Case) -> State:
    state = _begin(game, given)
    seat = given["seat"]
    pos.give_hand(state, seat, given["hand"])
    pos.won_trick(
        state, given.get("trick_winner"), stock=given.get("stock", 0), table_songs=given.get("trick_table_songs", ())
    )
    if "side_tricks" in given:
        state.tricks[seat] = given["side_tricks"]
        if given.get("trick_winner") is not None and given["trick_winner"] != seat:
            state.tricks[given["trick_winner"]] = 0
    pos.sang(state, given.get("sung", ()), window=given.get("window_sung", ()))
    pos.sang(state, given.get("trick_table_songs", ()), table=True)
    state.window_songs = tuple((pos.split(t)[0], int(pos.split(t)[1][:2])) for t in given.get("window_sung", ()))
    if given.get("drawn"):
        state.drawn = [-1] * state.seats
        state.drawn[seat] = game.pack.parse(given["drawn"])
    state.notes = state.notes | {name: given[name] for name in ("soloist", "partner") if name in given}
    return state


def _counted(game: engine.Game, given: Case) -> State:
    """All that a count needs: captured points, songs, last trick, tute."""
    state = _begin(game, given)
    if "carried" in given:
        state.totals = tuple(given["carried"].get(side, 0) for side in range(len(state.totals)))
    if "card_points" in given:
        pos.book(state, given["card_points"])
    if "captured" in given:
        pos.book(state, _captured(game, given))
    state.left = 0 if given.get("last_trick") is not None else pos.FULL
    if given.get("last_trick") is not None:
        state.last_trick = given["last_trick"]
    if state.trump == NO_SUIT:
        legality.set_trump(state, _free_suit(given))
    pos.sang(state, given.get("songs", ()))
    pos.sang(state, given.get("table_songs", ()), table=True)
    if given.get("tute_by") is not None:
        state.tute_by = given["tute_by"]
    state.reached = tuple(given.get("reached_order", ()))
    if "predictions" in given:
        state.notes = state.notes | {"predictions": dict(given["predictions"])}
        for seat, number in given["tricks_won"].items():
            state.tricks[seat] = number
    return state


def _free_suit(given: Case) -> int:
    """A trump for counts that name none: a suit in which no 20 was sung, so that a 40 can be told from it."""
    twenties = {
        text[-1] for text in (*given.get("songs", ()), *given.get("table_songs", ())) if not text.endswith("40")
    }
    return next((i for i, suit in enumerate("oceb") if suit not in twenties), 0)


def _captured(game: engine.Game, given: Case) -> dict[int, int]:
    pack = game.pack
    named = [card for cards in given["captured"].values() if cards != "rest" for card in cards]
    left = [*named, given.get("undrawn")]
    rest = [pack.text(card) for card in pack.cards if pack.text(card) not in left]
    return {
        side: sum(game.card_points[pack.parse(card)] for card in (rest if cards == "rest" else cards))
        for side, cards in given["captured"].items()
    }


# ---- one function a kind


def deal(game: engine.Game, given: Case) -> Answer:
    state = pos.blank(game, deal_no=given.get("deal_no", 1) - 1, dealer=None)
    state.dealer = (game.players - 1 - 1) % game.players if state.deal_no else state.dealer
    dealing.start(state)
    return pos.shape(state)


def setup(game: engine.Game, given: Case) -> Answer:
    deal_no = given["deal_no"]
    state = pos.blank(game, deal_no=deal_no)
    state.left_at = tuple(1 if seat in given.get("eliminated", ()) else 0 for seat in range(game.players))
    if deal_no == 1:
        if given.get("drawn_mano") is not None:
            state.dealer = dealing.left_of(state, given["drawn_mano"])
    else:
        state.mano = given["previous_mano"]
        dealing.next_places(state)
    dealing.seat_the_deal(state)
    dealing.clear(state)
    dealing.deal_cards(state)
    if deal_no == 1 and given.get("holder_2o") is not None:
        two = game.pack.parse("2o")
        for seat in range(game.players):
            tricks.take(state, seat, two)
        tricks.give(state, given["holder_2o"], two)
        dealing.coins_first(state)
    return {
        "mano": state.mano,
        "dealer": state.dealer,
        "trump": state.suit_text(state.trump),
        "active": sorted(state.active),
    }


def exchange_round(game: engine.Game, given: Case) -> Answer:
    state = _begin(game, given)
    state.deal_no = given.get("deal_no", 2)
    for seat, cards in given["hands"].items():
        pos.give_hand(state, seat, cards)
    pos.lay_out(state, shown=given["centre_card"])
    first = len(state.events)
    if state.rules.first_deal == "coins_2o" and state.deal_no == 1:
        dealing.coins_first(state)
    state.stage = len(game.stages)
    exchanging.stage(state)
    while state.phase is exchanging.PHASE:
        declines = state.turn in given.get("declines", ())
        state.apply(act.PASS if declines else state.legal_actions()[0])
    done = [event for event in state.events[first:] if event["e"] == "exchange"]
    hidden = any("takes" not in engine.redact([event], None)[0] for event in done)
    swaps = [{"seat": e["seat"], "gives": e["gives"], "takes": e["takes"]} for e in done]
    return {"swaps": swaps, "centre_after": state.card_text(state.shown), "hidden": hidden, "mano": state.mano}


def legal_move(game: engine.Game, given: Case) -> Answer:
    state = _begin(game, given)
    state.n = given.get("stock", 0)
    seat = given["seat"]
    if given.get("pending"):
        state.pending = pos.split(given["pending"])[0]
        state.notes = state.notes | {"pending_card": game.pack.parse(pos.split(given["pending"])[1])}
    state.turn = seat
    tricks.lead(state)
    pos.play_trick(state, given["trick"], lead=given.get("lead"))
    if state.turn != seat:
        raise EngineError(f"after {given['trick']} it is the turn of seat {state.turn}, not {seat}")
    pos.give_hand(state, seat, given["hand"])
    return {"legal": [game.pack.text(action) for action in state.legal_actions() if action < act.PLAY_END]}


def trick_winner(game: engine.Game, given: Case) -> Answer:
    state = _begin(game, given)
    seats = [pos.split(play)[0] for play in given["trick"]]
    pos.sit(state, seats)
    pos.play_trick(state, given["trick"])
    return {"winner": state.last_trick, "points": state.cards[state.last_trick]}


def trace(game: engine.Game, given: Case) -> Answer:
    state = _begin(game, given)
    state.turn = pos.split(given["trick"][0])[0]
    tricks.lead(state)
    states = []
    for play in given["trick"]:
        pos.put_card(state, play)
        states.append(f"{state.suit_text(state.lead)} {state.suit_text(state.trump)}")
    return {"states": states, "winner": state.last_trick, "next_trump": state.suit_text(state.trump)}


def table_song(game: engine.Game, given: Case) -> Answer:
    state = _begin(game, given)
    state.notes = state.notes | {"table_pairs": given.get("pairs_before", 0)}
    pos.play_trick(state, given["trick"])
    made = [song for song in state.songs_made if song[3]]
    return {
        "winner": state.last_trick,
        "pairs": [game.pack.suits[suit] for _, suit, _, _ in made],
        "points": sum(points for _, _, points, _ in made),
        "trump_after": state.suit_text(state.trump),
    }


def declaration(game: engine.Game, given: Case) -> Answer:
    state = _after_trick(game, given)
    return {"legal": [_declared(state, action) for action in state.declarations(given["seat"])]}


def _declared(state: State, action: int) -> str:
    if action >= act.TUTE:
        return "tute" + act.TUTE_RANKS[action - act.TUTE]
    suit = action - act.SING
    points = announcing.song_value(state, suit)
    return "40" if points == 40 else f"{points}{state.suit_text(suit)}"


def exchange(game: engine.Game, given: Case) -> Answer:
    state = _after_trick(game, given)
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
        exchanging.exchange(state, action)
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
    state = _begin(game, given)
    seat, winner = given["seat"], given["trick_winner"]
    pos.set_trump(state, given["shown_card"][-1])
    pos.give_hand(state, seat, given["hand"])
    pos.won_trick(state, winner, stock=given["stock"])
    pos.lay_out(state, shown=given["shown_card"], stock=given.get("stock_cards", ()), n=given["stock"])
    state.pending, card = pos.split(given["pending"])
    state.notes = state.notes | {"pending_card": game.pack.parse(card)}
    exchanging.trick_won(state)
    if given["step"] == "last_draw":
        tricks.draw(state)
    return {"after": _laid(state, seat), "other_draws": state.card_text(state.drawn[1 - seat]) if state.drawn else None}


def draw(game: engine.Game, given: Case) -> Answer:
    state = _begin(game, given)
    pos.won_trick(state, given["trick_winner"], stock=given["stock"])
    pos.lay_out(state, shown=given["shown_card"], stock=given["stock_cards"], n=given["stock"])
    tricks.draw(state)
    drawn = {seat: state.card_text(card) for seat, card in enumerate(state.drawn or ()) if card >= 0}
    return {"drawn": drawn, "stock_after": state.n, "shown_card_after": state.card_text(state.shown)}


def claim(game: engine.Game, given: Case) -> Answer:
    state = _counted(game, given)
    seat = given["seat"]
    pos.won_trick(state, seat)
    state.ask(seat, None)
    allowed = announcing.may_claim(state, seat, state.rules.claim_window)
    counting.claim(state)
    return {"allowed": allowed, "winner": state.verdict.winner if state.verdict else None}


def auto_end(game: engine.Game, given: Case) -> Answer:
    state = _counted(game, given)
    seat = game.sides[given["scorer"]][0]
    over = counting.reached_by(state, seat)
    return {"over": over, "winner": state.verdict.winner if over and state.verdict else None}


def capote(game: engine.Game, given: Case) -> Answer:
    if given["question"] == "may_announce":
        state = _begin(game, given)
        pos.won_trick(state, given["order"][0])
        if given["tricks_since_stock_end"] == 0 and given.get("announced") is None and given["stock"] == 0:
            announcing.ask_capote(state)
        while state.phase is announcing.CAPOTE and state.turn != given["seat"]:
            state.apply(act.PASS)
        return {"allowed": state.phase is announcing.CAPOTE and act.CAPOTE in state.legal_actions()}
    state = _begin(game, given)
    state.capote_by = given["announced"]
    left = len(state.active) * int(state.rules.hand_size)
    for number, winner in enumerate(given["trick_winners"], 1):
        state.left = left - number * state.size
        state.last_trick = winner
        if counting.capote_decided(state):
            return {"winner": state.verdict.winner if state.verdict else None, "ends_after": number}
    return {"winner": None, "ends_after": None}


def scoring(game: engine.Game, given: Case) -> Answer:
    state = _counted(game, given)
    points = dict(enumerate(state.side_points()))
    totals = dict(enumerate(state.totals_now()))
    verdict = counting.decide(state) if not given.get("partial") else Verdict(None)
    before = state.games
    answer: Answer = {"deal_points": points, "totals": totals, "winner": verdict.winner}
    if not given.get("partial"):
        settling.settle(state, verdict)
        dealing.next_places(state)
        answer |= {"games": sum(state.games) - sum(before), "next_dealer": state.dealer}
    return answer


def result(game: engine.Game, given: Case) -> Answer:
    state = _counted(game, given)
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
    verdict = counting.decide(state)
    settling.settle(state, verdict)
    return {
        "winner": verdict.winner,
        "losers": list(verdict.losers),
        "games": sum(state.games),
        "chips": dict(enumerate(state.chips)),
    }


def auction(game: engine.Game, given: Case) -> Answer:
    state = _begin(game, given)
    for seat in state.active:
        state.hands[seat][0] = 1  # calls do not look at cards
    opening = auctions.stages(state.rules)[0]
    state.stage = len(game.stages)
    deal = state.deal_no
    state.left = 0
    opening(state)
    asked = state.phase
    for text in given["calls"]:
        seat, what = pos.split(text)
        if state.turn != seat:
            raise EngineError(f"{text!r}: it is seat {state.turn} that speaks")
        state.apply(game.parse_action(f"bid {what}" if what.isdigit() else what))
        if state.deal_no != deal or state.is_over:
            break
    ended = next((event for event in state.events if event["e"] == "score"), None)
    over = ended is not None or state.phase is not asked
    if over and given.get("censor_bid") is not None:
        auctions.take_over(state, state.dealer, given["censor_bid"])
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
        answer |= _open_auction(state, given)
    return answer


def _open_auction(state: State, given: Case) -> Answer:
    legal = [state.game.action_text(action) for action in state.legal_actions()]
    numbers = [int(text.split()[1]) for text in legal if text.startswith("bid ")]
    return {
        "to_call": state.turn,
        "legal": legal,
        "may_pass": "pass" in legal,
        "lowest_bid": min(numbers, default=None),
        # a case names some bids that are legal and some that are not: those of its list that the engine puts there too
        "legal_bids": [bid for bid in given["asked"].get("legal_bids", ()) if bid in numbers],
        "illegal_bids": [bid for bid in given["asked"].get("illegal_bids", ()) if bid not in numbers],
    }


def partner(game: engine.Game, given: Case) -> Answer:
    state = _begin(game, given)
    for seat, cards in given["hands"].items():
        pos.give_hand(state, seat, cards)
    state.notes = state.notes | {"soloist": given["soloist"]}
    state.stage = len(game.stages)
    auctions.call_card(state)
    action = game.parse_action("call " + given["called_card"])
    allowed = action in state.legal_actions()
    if allowed:
        state.apply(action)
    return {"allowed": allowed, "partner": state.notes.get("partner")}


def prediction(game: engine.Game, given: Case) -> Answer:
    state = _begin(game, given)
    cards = [game.pack.text(card) for card in game.pack.cards]
    for seat in state.active:
        pos.give_hand(state, seat, cards[: given["hand_size"]])
    state.notes = state.notes | {"predictions": dict(given["predictions"])}
    state.ask(given["seat"], auctions.PREDICT)
    return {"legal": [action - act.PREDICT for action in state.legal_actions()]}


def discard_draw(game: engine.Game, given: Case) -> Answer:
    state = _begin(game, given)
    cards = list(game.pack.cards)
    for seat in given["playing"]:
        state.hands[seat] = game.pack.hand(cards[4 * seat : 4 * seat + 4])
    state.stock = cards[-given["face_down"] :]
    state.active = tuple(seat for seat in state.active if seat in given["playing"])
    state.stage = len(game.stages)
    received: dict[int, int] = {}
    auctions.change_cards(state)
    while state.phase is auctions.CHANGE:
        seat, before = state.turn, len(state.stock)
        number = given["discards"][seat]
        state.apply(act.discard(state.hand_of(seat)[:number]))
        received[seat] = before - len(state.stock)
    return {"received": received, "face_down_after": len(state.stock)}


def deal_sequence(game: engine.Game, given: Case) -> Answer:
    sizes = auctions.deal_sizes(game.rules, game.players)
    state = pos.blank(game, deal_no=len(sizes) - 1)
    dealing.start(state)
    return {"hand_sizes": sizes, "last_has_trump": state.trump != NO_SUIT}


def last_trick_choice(game: engine.Game, given: Case) -> Answer:
    answer = {}
    for name, action in (("if_taken", act.TAKE), ("if_declined", act.DECLINE)):
        state = _begin(game, given)
        pos.book(state, given["points_before_bonus"])
        state.left = 0
        state.last_trick = given["last_trick"]
        counting.last_trick(state)
        state.apply(action)
        score = next(event for event in state.events if event["e"] == "score")
        answer[name] = {"losers": score["losers"]}
    return answer


def payment(game: engine.Game, given: Case) -> Answer:
    state = _begin(game, given)
    legality.set_trump(state, _free_suit(given))
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
    verdict = counting.decide(state)
    chips = state.rules.payments(state, verdict)
    received = {seat: state.tricks[seat] * (pot // 4) for seat in state.active}
    return {
        "chips": dict(enumerate(chips)),
        "losers": list(verdict.losers),
        "received": received,
        "pot_after": state.pot,
    }


def match(game: engine.Game, given: Case) -> Answer:
    state = _begin(game, given)
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
        settling.book_game(state, given["game_winner"], given.get("game_value", 1))
    verdict = None
    if "deal_losers" in given:
        verdict = Verdict(None, tuple(given["deal_losers"]))
    elif "revoke_by" in given:
        verdict = counting.revoke_verdict(state, given["revoke_by"])
    elif "accusation" in given:
        accusation = given["accusation"]
        verdict = counting.accusation_verdict(
            accusation["by"], given.get("revoke_by", accusation.get("against", -1)), accusation["proven"]
        )
    if verdict is not None:
        settling.book_marks(state, verdict)
    over = settling.match_over(state)
    return {
        "games": dict(enumerate(state.coto_games if "cotos" in given else state.games)),
        "cotos": dict(enumerate(state.cotos)),
        "loss_marks": dict(enumerate(state.marks)),
        "eliminated": [seat for seat, at in enumerate(state.left_at) if at],
        "over": over,
        "winners": list(settling.match_winners(state)) if over else [],
        "match_losers": [seat for seat in range(state.seats) if state.marks[seat] >= (state.rules.max_losses or 99)]
        if over
        else [],
    }


def observation(game: engine.Game, given: Case) -> Answer:
    found = re.fullmatch(r"dealer \(seat (\d)\) shows (\w\w) and takes it up", given["event"])
    if found is None:
        raise EngineError(f"no position is known for the event {given['event']!r}")
    seat, card = int(found[1]), found[2]
    state = pos.blank(game)
    pos.set_trump(state, card[1])
    pos.give_hand(state, seat, [card])
    state.shown, state.holder = game.pack.parse(card), seat
    seen = [state.observation(other) for other in range(game.players) if other != seat]
    public = {(view["trump"], view["shown"], view["holder"]) for view in seen}
    if len(public) != 1:
        raise EngineError("seats see different public facts")
    trump, shown, holder = public.pop()
    hidden = [card for view in seen for card in view["hand"]]
    return {"public": [f"trump is {trump}", f"{shown} is in seat {holder}'s hand until played"], "private": hidden}


ANSWERS: dict[str, Callable[[engine.Game, Case], Answer]] = {
    function.__name__: function
    for function in (
        deal,
        setup,
        exchange_round,
        legal_move,
        trick_winner,
        trace,
        table_song,
        declaration,
        exchange,
        exchange_step,
        draw,
        auction,
        partner,
        prediction,
        discard_draw,
        deal_sequence,
        last_trick_choice,
        payment,
        claim,
        auto_end,
        capote,
        scoring,
        result,
        match,
        observation,
    )
}
