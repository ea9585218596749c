"""Positions shared by several kinds of cases."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import engine
from engine.cards.pack import NO_SUIT
from engine.match import position as pos
from engine.match.state import State
from engine.match.trick import legality

Case = Mapping[str, Any]
Answer = dict[str, Any]


def begin(game: engine.Game, position: Case) -> State:
    """Start a deal with seats and trump fixed and no card played."""
    dealer = position["sitting_out"][0] if position.get("sitting_out") else None
    state = pos.blank(game, mano=position.get("mano", 0), dealer=dealer, deal_no=position.get("deal_no", 1))
    if "trump" in position:
        pos.set_trump(state, position["trump"])
    return state


def after_trick(game: engine.Game, position: Case) -> State:
    """Return a deal just after a trick: hand, songs and tricks so far, drawn card, soloist."""
    state = begin(game, position)
    seat = position["seat"]
    pos.give_hand(state, seat, position["hand"])
    pos.won_trick(
        state,
        position.get("trick_winner"),
        stock=position.get("stock", 0),
        table_songs=position.get("trick_table_songs", ()),
    )
    if "side_tricks" in position:
        state.tricks[seat] = position["side_tricks"]
        if position.get("trick_winner") is not None and position["trick_winner"] != seat:
            state.tricks[position["trick_winner"]] = 0
    pos.sang(state, position.get("sung", ()), window=position.get("window_sung", ()))
    pos.sang(state, position.get("trick_table_songs", ()), table=True)
    state.window_songs = tuple((pos.split(t)[0], int(pos.split(t)[1][:2])) for t in position.get("window_sung", ()))
    if position.get("drawn"):
        state.drawn = [-1] * state.seats
        state.drawn[seat] = game.pack.parse(position["drawn"])
    state.notes = state.notes | {name: position[name] for name in ("soloist", "partner") if name in position}
    return state


def ready_to_count(game: engine.Game, position: Case) -> State:
    """Return a deal ready to be counted: captured points, songs, last trick, tute."""
    state = begin(game, position)
    if "carried" in position:
        state.totals = tuple(position["carried"].get(side, 0) for side in range(len(state.totals)))
    if "card_points" in position:
        pos.book(state, position["card_points"])
    if "captured" in position:
        pos.book(state, _captured(game, position))
    state.left = 0 if position.get("last_trick") is not None else pos.FULL
    if position.get("last_trick") is not None:
        state.last_trick = position["last_trick"]
    if state.trump == NO_SUIT:
        legality.set_trump(state, free_suit(position))
    pos.sang(state, position.get("songs", ()))
    pos.sang(state, position.get("table_songs", ()), table=True)
    if position.get("tute_by") is not None:
        state.tute_by = position["tute_by"]
    state.reached = tuple(position.get("reached_order", ()))
    if "predictions" in position:
        state.notes = state.notes | {"predictions": dict(position["predictions"])}
        for seat, number in position.get("tricks_won", {}).items():
            state.tricks[seat] = number
    return state


def free_suit(position: Case) -> int:
    """Return a trump suit for a case that names none: a suit without a sung 20, to distinguish it from a 40."""
    twenties = {
        text[-1] for text in (*position.get("songs", ()), *position.get("table_songs", ())) if not text.endswith("40")
    }
    return next((i for i, suit in enumerate("oceb") if suit not in twenties), 0)


def _captured(game: engine.Game, position: Case) -> dict[int, int]:
    pack = game.pack
    listed = [card for cards in position["captured"].values() if cards != "rest" for card in cards]
    elsewhere = [*listed, position.get("undrawn")]
    rest = [pack.text(card) for card in pack.cards if pack.text(card) not in elsewhere]
    return {
        side: sum(game.card_points[pack.parse(card)] for card in (rest if cards == "rest" else cards))
        for side, cards in position["captured"].items()
    }
