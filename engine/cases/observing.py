"""Cases of what seats see: carry out an event and describe it as everybody and as a single seat sees it in the record.

`public` is what everybody learns, in the sentences below; `private` is the cards that only the seat of the event sees.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import engine
from engine.cards import actions as act
from engine.cases.positions import Answer, Case
from engine.errors import EngineError
from engine.match import position as pos
from engine.match.opening import auctions
from engine.match.redaction import EventRecord, redact
from engine.match.state import State
from engine.match.trick import exchanges, songs, tricks, windows

OPEN = 10  # Cards in the stock, for events that happen while it is open.
HIDDEN = ("card", "cards", "takes")  # Fields of an event that contain cards.
Views = tuple[list[str], list[str]]  # Public sentences, private cards.


def observation(game: engine.Game, position: Case) -> Answer:
    """Return what everybody learns from an event, and what only its seat sees."""
    for pattern, answer in EVENTS.values():
        if match := re.fullmatch(pattern, position["event"]):
            public, private = answer(game, *match.groups())
            return {"public": public, "private": private}
    raise EngineError(f"unknown event {position['event']!r}; events are: {'; '.join(EVENTS)}")


# ---- Events


def _takes_up(game: engine.Game, seat: str, card: str) -> Views:
    state = pos.blank(game)
    pos.set_trump(state, card[1])
    pos.give_hand(state, int(seat), [card])
    state.shown, state.holder = game.pack.parse(card), int(seat)
    trump, shown_card, holder = _agreed(state, int(seat))
    return [f"trump is {trump}", _held(shown_card, holder)], _hands_of_others(state, int(seat))


def _turned_up(game: engine.Game, card: str) -> Views:
    state = pos.blank(game)
    pos.set_trump(state, card[1])
    pos.lay_out(state, shown_card=card, n=OPEN)
    trump, shown_card, _ = _agreed(state, -1)
    return [f"trump is {trump}", f"{shown_card} is the shown card"], _hands_of_others(state, -1)


def _exchanges(game: engine.Game, seat: str, gives: str, takes: str) -> Views:
    state = _with_stock(game, gives[1])
    if state.rules.exchange == "none":
        raise EngineError(f"{game.key} has no exchange at this table")
    pos.lay_out(state, shown_card=takes)
    pos.give_hand(state, int(seat), [gives])
    state.ask(int(seat), None)
    exchanges.exchange(state, game.parse_action(f"exchange {gives}"))
    return _views(state, int(seat))


def _lays(game: engine.Game, seat: str, card: str) -> Views:
    return _exchanges(game, seat, card, "3" + card[1])


def _draws(game: engine.Game, seat: str, card: str, *, is_shown: bool = False) -> Views:
    state = _with_stock(game, card[1])
    others = [text for text in map(game.pack.text, game.pack.cards) if text != card][: state.size]
    if is_shown:
        pos.won_trick(state, state.next[int(seat)], stock=state.size)
        pos.lay_out(state, shown_card=card, stock=others[1:])
    else:
        pos.won_trick(state, int(seat), stock=OPEN)
        pos.lay_out(state, shown_card=others[0], stock=[card, *others[1:]])
    tricks.draw(state)
    return _views(state, int(seat), "draw")


def _draws_the_shown_card(game: engine.Game, seat: str, card: str) -> Views:
    return _draws(game, seat, card, is_shown=True)


def _sings(game: engine.Game, seat: str, points: str, suit: str) -> Views:
    state = pos.blank(game)
    letters = game.pack.suits
    # The record does not show the suit of a 40, so any suit will do as trump.
    trump = letters[0] if not suit or suit != letters[0] else letters[1]
    pos.set_trump(state, trump)
    pos.won_trick(state, int(seat))
    songs.sing(state, int(seat), game.pack.parse_suit(suit or trump))
    return _views(state, int(seat), "song")


def _plays(game: engine.Game, leader: str, trump: str, led: str, seat: str, card: str) -> Views:
    state = _with_stock(game, led[1] if trump else next(suit for suit in game.pack.suits if suit not in led + card))
    state.turn = int(leader)
    tricks.lead(state)
    pos.put_card(state, f"{leader}:{led}")
    if state.turn != int(seat):
        raise EngineError(f"after seat {leader} it is the turn of seat {state.turn}, not {seat}")
    public = [f"seat {leader} has played {led}", f"seat {seat} has played {card}"]
    return public + [f"seat {seat} has no {suit}" for suit in game.pack.suits if _void(state, card, suit, led)], []


def _void(state: State, card: str, suit: str, led: str) -> bool:
    """Return True if the seat that played `card` cannot have held a card of `suit`."""
    could = [
        text for text in map(state.game.pack.text, state.game.pack.cards) if text[1] == suit and text not in (card, led)
    ]
    for other in could:
        trial = state.clone()
        pos.give_hand(trial, trial.turn, [card, other])
        if trial.game.pack.parse(card) in trial.legal_actions():
            return False
    return True


def _announces_capote(game: engine.Game, seat: str) -> Views:
    state = pos.blank(game)
    pos.won_trick(state, int(seat))
    windows.ask_capote(state)
    state.apply(act.CAPOTE)
    return _views(state, int(seat), "capote")


def _predicts(game: engine.Game, seat: str, number: str) -> Views:
    state = pos.blank(game)
    for other in state.active:
        pos.give_hand(state, other, [game.pack.text(card) for card in game.pack.cards][:10])
    state.notes = state.notes | {"predictions": {}}
    state.ask(int(seat), auctions.PREDICT)
    state.apply(act.PREDICT + int(number))
    return _views(state, int(seat), "predict")


SEAT, CARD = r"seat (\d)", r"(\w\w)"
Event = Callable[..., Views]
EVENTS: dict[str, tuple[str, Event]] = {
    "dealer (seat N) shows CARD and takes it up": (rf"dealer \(seat (\d)\) shows {CARD} and takes it up", _takes_up),
    "CARD is turned up": (rf"{CARD} is turned up", _turned_up),
    "seat N lays CARD": (rf"{SEAT} lays {CARD}", _lays),
    "seat N exchanges CARD for CARD": (rf"{SEAT} exchanges {CARD} for {CARD}", _exchanges),
    "seat N draws CARD": (rf"{SEAT} draws {CARD}", _draws),
    "seat N draws the shown card CARD": (rf"{SEAT} draws the shown card {CARD}", _draws_the_shown_card),
    "seat N sings 20c": (rf"{SEAT} sings (20|40)(\w?)", _sings),
    "seat N leads CARD, seat N plays CARD": (rf"{SEAT} leads (trump )?{CARD}, {SEAT} plays {CARD}", _plays),
    "seat N announces capote": (rf"{SEAT} announces capote", _announces_capote),
    "seat N predicts 2": (rf"{SEAT} predicts (\d+)", _predicts),
}  # fmt: skip


# ---- Their description


def _views(state: State, seat: int, kind: str = "") -> Views:
    """Return what a spectator sees of the first event of this kind and seat, and the cards that only the seat sees."""
    event = next(event for event in state.events if event.get("seat") == seat and kind in ("", event["e"]))
    [public] = redact([event], None)
    private = [field for name in HIDDEN if name in event and name not in public for field in _listed(event[name])]
    return SENTENCES[event["e"]](public), private


def _listed(value: Any) -> list[str]:
    return list(value) if isinstance(value, list) else [value]


def _held(card: str, seat: int) -> str:
    return f"{card} is in seat {seat}'s hand until played"


def _of_a_draw(event: EventRecord) -> list[str]:
    return [_held(event["card"], event["seat"])] if "card" in event else [f"seat {event['seat']} has drawn a card"]


def _of_a_song(event: EventRecord) -> list[str]:
    suit = event.get("suit", "") if event["points"] == 20 else ""
    return [f"seat {event['seat']} has sung {event['points']}{suit}"] + [
        _held(card, event["seat"]) for card in event.get("cards", ())
    ]


def _of_an_exchange(event: EventRecord) -> list[str]:
    return [f"{event['gives']} is the shown card"] + (
        [_held(event["takes"], event["seat"])] if "takes" in event else []
    )


SENTENCES: dict[str, Callable[[EventRecord], list[str]]] = {
    "notice": lambda event: [f"{event['card']} lies before seat {event['seat']}"],
    "exchange": _of_an_exchange,
    "draw": _of_a_draw,
    "song": _of_a_song,
    "capote": lambda event: [f"seat {event['seat']} has announced capote"],
    "predict": lambda event: [f"seat {event['seat']} has predicted {event['tricks']}"],
}


def _with_stock(game: engine.Game, trump: str) -> State:
    """Start a deal with an open stock, if the game has one."""
    state = pos.blank(game)
    pos.set_trump(state, trump)
    state.n = OPEN if state.rules.draw != "none" else 0
    return state


def _agreed(state: State, seat: int) -> tuple[str, str, int]:
    """Return the trump, the shown card and its holder. All other seats must see the same."""
    views = [state.observation(other) for other in range(state.seats) if other != seat]
    public = {(view["trump"], view["shown"], view["holder"]) for view in views}
    if len(public) != 1:
        raise EngineError("seats see different public facts")
    return public.pop()


def _hands_of_others(state: State, seat: int) -> list[str]:
    return [card for other in range(state.seats) if other != seat for card in state.observation(other)["hand"]]


ANSWERS = (observation,)
