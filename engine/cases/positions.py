"""Positions that several kinds of cases share."""

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


def begin(game: engine.Game, given: Case) -> State:
    """A deal in which the seats have their places and trump is fixed, and nobody has played."""
    dealer = given["sitting_out"][0] if given.get("sitting_out") else None
    state = pos.blank(game, mano=given.get("mano", 0), dealer=dealer, deal_no=given.get("deal_no", 1))
    if "trump" in given:
        pos.set_trump(state, given["trump"])
    return state


def after_trick(game: engine.Game, given: Case) -> State:
    """A deal in which a trick has just been won: hand, songs and tricks so far, card drawn, soloist."""
    state = begin(game, given)
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


def counted(game: engine.Game, given: Case) -> State:
    """All that a count needs: captured points, songs, last trick, tute."""
    state = begin(game, given)
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
        legality.set_trump(state, free_suit(given))
    pos.sang(state, given.get("songs", ()))
    pos.sang(state, given.get("table_songs", ()), table=True)
    if given.get("tute_by") is not None:
        state.tute_by = given["tute_by"]
    state.reached = tuple(given.get("reached_order", ()))
    if "predictions" in given:
        state.notes = state.notes | {"predictions": dict(given["predictions"])}
        for seat, number in given.get("tricks_won", {}).items():
            state.tricks[seat] = number
    return state


def free_suit(given: Case) -> int:
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
