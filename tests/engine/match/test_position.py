"""Positions set up by hand are ordinary states."""

from __future__ import annotations

import pytest

import engine
from engine.errors import EngineError
from engine.match import position as pos


def test_a_blank_deal() -> None:
    state = pos.blank(engine.load("cabrero", players=5), mano=2)
    assert (state.mano, state.dealer, state.active) == (2, 1, (2, 3, 4, 0, 1))
    assert [len(state.hand_of(seat)) for seat in range(5)] == [0] * 5
    state = pos.blank(engine.load("cabrero", players=6), mano=2)
    assert (state.dealer, state.active, state.out) == (1, (2, 3, 4, 5, 0), (1,))


@pytest.mark.parametrize("text", ["", "7o", "x:7o", ":7o", "-1:7o"])
def test_what_is_no_play_is_refused(text: str) -> None:
    with pytest.raises(EngineError, match="is not of the form seat:card"):
        pos.split(text)


def test_a_card_out_of_turn_is_refused() -> None:
    state = pos.blank(engine.load("partnership"))
    pos.set_trump(state, "b")
    with pytest.raises(EngineError, match="it is the turn of seat 1"):
        pos.play_trick(state, ["0:1o", "2:3o"])


def test_a_trick_laid_by_hand_plays_on() -> None:
    """Cards laid down are counted, and the next seat has its obligations."""
    state = pos.blank(engine.load("partnership"))
    pos.set_trump(state, "b")
    pos.play_trick(state, ["0:4o", "1:1o"])
    pos.give_hand(state, 2, ["3o", "2b"])
    pos.give_hand(state, 3, ["2c", "Rb"])
    assert [state.game.action_text(a) for a in state.legal_actions()] == ["play 3o"]
    state.apply(state.game.parse_action("play 3o"))
    state.apply(state.game.parse_action("play Rb"))
    assert (state.last_trick, state.cards) == (3, [0, 0, 0, 25])


def test_the_trump_before_a_trick_of_moving_trumps_is_worked_out() -> None:
    state = pos.blank(engine.load("variable_trump"))
    pos.set_trump(state, "c")
    pos.play_trick(state, ["0:4c", "1:7o"], lead="o")
    assert (state.suit_text(state.lead), state.suit_text(state.trump)) == ("o", "c")
    impossible = pos.blank(engine.load("variable_trump"))
    pos.set_trump(impossible, "e")
    with pytest.raises(EngineError, match="no trump before the plays"):
        pos.play_trick(impossible, ["0:4c", "1:7o"], lead="o")


def test_songs_are_booked() -> None:
    state = pos.blank(engine.load("partnership"))
    pos.set_trump(state, "b")
    pos.sang(state, ["0:20c", "1:40"], window=["1:40"])
    assert state.songs == [20, 40, 0, 0]
    assert state.window_songs == ((1, 40),)
    pos.book(state, {0: 70, 1: 50})
    assert state.side_points() == [90, 90]


def test_unknown_cards_are_refused() -> None:
    with pytest.raises(EngineError, match="unknown card '2b'"):
        pos.give_hand(pos.blank(engine.load("subastado")), 0, ["2b"])


def test_the_shape_of_a_deal_tells_of_any_shown_card_on_the_table() -> None:
    game = engine.load("two_player")
    state = pos.blank(game)
    assert pos.shape(state)["shown_card_drawn"] is None
    for card in game.pack.texts:
        pos.lay_out(state, shown_card=card, stock=("1o", "3o"), n=3)
        pos.give_hand(state, state.mano, ["7c", "Rc"])
        assert pos.shape(state) == {
            "hand_size": 2,
            "face_down": 2,
            "stock": 3,
            "shown_card_drawn": True,
            "tricks": pos.FULL // 2,
        }
        state.holder = 0
        assert pos.shape(state)["shown_card_drawn"] is None
        state.holder = -1
