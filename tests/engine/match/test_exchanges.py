"""The exchange before the first lead: first the holder of the 7, then that of the 2, be they one seat or two."""

from __future__ import annotations

import pytest

import engine
from engine.match import flow
from engine.match import position as pos
from engine.match.trick import exchanges
from engine.search import playouts

ANY_CARD = "13RSC6542"  # the 7 may take any shown card, so it may want the same one as the 2


def before_the_lead(hand: list[str], shown_card: str) -> engine.State:
    game = engine.load("guinote", players=3, form="full", exchange_seven=ANY_CARD)
    state = pos.blank(game, deal_no=2)
    pos.set_trump(state, shown_card[1])
    pos.give_hand(state, state.mano, hand)
    pos.lay_out(state, shown_card=shown_card)
    state.stage = len(game.stages)
    flow.run(state, exchanges.stage(state))
    return state


def legal(state: engine.State) -> list[str]:
    return [state.game.action_text(action) for action in state.legal_actions()]


@pytest.mark.parametrize("shown_card", ["6o", "5o", "4o"])
def test_a_seat_that_holds_both_is_asked_for_the_seven_first(shown_card: str) -> None:
    state = before_the_lead(["7o", "2o"], shown_card)
    assert legal(state) == ["exchange 7o", "pass"]

    state.apply(state.game.parse_action("exchange 7o"))

    assert legal(state) == ["exchange 2o", "pass"]


def test_a_seat_that_keeps_its_seven_may_still_give_its_two() -> None:
    state = before_the_lead(["7o", "2o"], "6o")
    state.apply(state.game.parse_action("pass"))

    assert legal(state) == ["exchange 2o", "pass"]
    state.apply(state.game.parse_action("pass"))

    assert state.phase is None


def test_a_two_that_lies_there_by_an_exchange_stays() -> None:
    """Otherwise the 7 and the 2 could take each other for ever."""
    state = before_the_lead(["7o", "2o"], "6o")
    state.apply(state.game.parse_action("exchange 7o"))
    state.apply(state.game.parse_action("exchange 2o"))  # the 7 is in the hand again, and the 2 is shown

    assert state.phase is None


def test_a_two_that_was_turned_up_is_taken() -> None:
    state = before_the_lead(["7o"], "2o")

    assert legal(state) == ["exchange 7o", "pass"]


def test_a_playout_in_machine_words_asks_in_the_same_order() -> None:
    game = engine.load("guinote", players=3, form="full", exchange_seven=ANY_CARD)
    for seed in range(300):
        assert playouts.play_many(game, 1, seed, deals=2, quick=True) == playouts.play_many(
            game, 1, seed, deals=2, quick=False
        )
