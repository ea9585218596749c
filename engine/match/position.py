"""Positions set up by hand, for worked cases, for tests, and for "what if".

A position is an ordinary `State`; everything that you do not set is empty or zero. Cards are texts, suits letters, "seat:card" one play.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from engine.cards import chance
from engine.cards.pack import NO_SUIT
from engine.errors import EngineError
from engine.match.hands import give, take
from engine.match.opening import dealing
from engine.match.state import State
from engine.match.trick import legality, tricks
from engine.rules.terms import Terms

FULL: Final = 400  # more plays than any deal has, so the deal never ends by itself


def blank(game: Terms, *, mano: int = 0, dealer: int | None = None, deal_no: int = 1) -> State:
    """Return a deal without cards: the seats in their places, nobody has played. The dealer is by default the seat before mano."""
    state = State(game, chance.as_seed("position"), None, True, (0, 1, 2, 3))
    state.dealer = (mano - 1) % game.players if dealer is None else dealer
    state.deal_no = deal_no
    state.game_deal = deal_no
    dealing.seat_the_deal(state)
    state.begin_deal()
    state.own_turn = game.has_own_turn
    state.left = FULL
    return state


def split(play: str) -> tuple[int, str]:
    """Return '2:7o' as (2, '7o'). Raises EngineError unless the text is a seat, a colon and more."""
    seat, colon, rest = play.partition(":")
    if not colon or not seat.isdigit():
        raise EngineError(f"{play!r} is not of the form seat:card, e.g. '2:7o'")
    return int(seat), rest


def sit(state: State, seats: Sequence[int]) -> None:
    """Let only these seats play, in this order."""
    ring = list(state.next)
    for seat, following in zip(seats, (*seats[1:], seats[0]), strict=True):
        ring[seat] = following
    state.next = tuple(ring)
    state.size = len(seats)


def give_hand(state: State, seat: int, cards: Sequence[str]) -> None:
    """Put these cards, and no others, into a hand."""
    state.hands[seat] = state.game.pack.hand(state.game.pack.parse(card) for card in cards)
    if seat == state.turn:
        state.hand = state.hands[seat]
    state.legal = None


def set_trump(state: State, suit: str | None) -> None:
    """Set trump; None for a deal without trumps."""
    legality.set_trump(state, NO_SUIT if suit is None else state.game.pack.parse_suit(suit))


def play_trick(state: State, plays: Sequence[str], *, lead: str | None = None) -> None:
    """Put plays on the table, whatever the hands are. `state.trump` is the trump after them, as in the worked cases.

    If trumps move during a trick, the trump before it is worked out from `lead` and the present trump.
    """
    if not plays:
        state.legal = None
        return
    if state.rules.on_trump is None:
        _put(state, plays)
        return
    now = state.trump
    for before in range(4):
        trial = state.clone()
        legality.set_trump(trial, before)
        _put(trial, plays)
        if trial.trump == now and (lead is None or trial.suit_text(trial.lead) == lead):
            legality.set_trump(state, before)
            _put(state, plays)
            return
    raise EngineError(f"no trump before the plays {list(plays)} leads to trump {state.suit_text(now)} and lead {lead}")


def _put(state: State, plays: Sequence[str]) -> None:
    state.turn = split(plays[0])[0]
    tricks.lead(state)
    for play in plays:
        put_card(state, play)


def put_card(state: State, play: str) -> None:
    """Put one card on the table, whatever the seat holds. The seat must be on turn."""
    seat, text = split(play)
    card = state.game.pack.parse(text)
    if seat != state.turn:
        raise EngineError(f"{play!r}: it is the turn of seat {state.turn}")
    state.ask(seat, None)
    take(state, seat, card)
    give(state, seat, card)
    state.extra = ()
    state.legal = (card,)
    state.apply(card)


def won_trick(state: State, seat: int | None, *, stock: int = 0, table_songs: Sequence[str] = ()) -> None:
    """Set the seat that has just completed a trick (None: no trick yet) and the number of cards still to be drawn."""
    state.n = stock
    if seat is None:
        return
    state.last_trick = state.winner = seat
    state.tricks[seat] = max(1, state.tricks[seat])
    state.notes = state.notes | {"table_song": bool(table_songs)}


def sang(state: State, songs: Sequence[str], *, window: Sequence[str] = (), table: bool = False) -> None:
    """Score songs of the deal ('0:20c', '2:40'). `window` names those that were sung in the window that is open."""
    for text in songs:
        seat, what = split(text)
        suit = state.trump if what in ("40",) else state.game.pack.parse_suit(what[2:])
        if table and what == "40" and state.rules.table_songs == "forced_first_40":
            suit = NO_SUIT
        points = int(what[:2])
        state.songs[seat] += points
        state.songs_made += ((seat, suit, points, table),)
        state.sung |= 1 << suit
        if what != "40" and not table and suit != state.trump:
            state.twenties |= 1 << seat
    state.window_songs = tuple((split(text)[0], int(split(text)[1][:2])) for text in window)


def book(state: State, points: Mapping[int, int]) -> None:
    """Set the captured card points of each side, all on its first seat."""
    for side, number in points.items():
        state.cards[state.game.sides[side][0]] = number


def lay_out(state: State, *, shown_card: str | None, stock: Sequence[str] = (), n: int | None = None) -> None:
    """Set the shown card and the face-down cards of the stock, top first."""
    pack = state.game.pack
    state.shown = -1 if shown_card is None else pack.parse(shown_card)
    state.stock = [pack.parse(card) for card in reversed(stock)]
    if n is not None:
        state.n = n


def shape(state: State) -> dict[str, Any]:
    """Return the shape of a fresh deal: hand_size, face_down, stock, shown_card_drawn, tricks."""
    on_table = state.shown >= 0 and state.holder < 0
    return {
        "hand_size": len(state.hand_of(state.active[0])),
        "face_down": len(state.stock),
        "stock": state.n,
        "shown_card_drawn": bool(state.rules.shown_card_drawn) if on_table else None,
        "tricks": state.left // state.size,
    }


__all__ = [
    "blank",
    "book",
    "give_hand",
    "lay_out",
    "play_trick",
    "put_card",
    "sang",
    "set_trump",
    "shape",
    "sit",
    "split",
    "won_trick",
]
