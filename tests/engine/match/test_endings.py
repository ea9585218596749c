"""Every deal ends: within a stated number of actions, however long the players put off their cards."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import engine
from engine.cards import actions as act
from tests.support.mixtures import mixtures

# A deal takes its cards, a pass of each seat in two windows a trick, eight songs and four exchanges of the shown card: below 250 actions in any game.
# An auction in steps of one has at most 230 bids, each after the passes of the others.
LONGEST_DEAL = 250
LONGEST_AUCTION = 230 * 2


def dawdle(state: engine.State) -> int:
    """Choose what puts the next card off: an exchange, a song, any other call, the lowest bid; an ending call only if nothing else is legal."""
    legal = state.legal_actions()

    def delay(action: int) -> tuple[int, int]:
        if act.EXCHANGE_SEVEN <= action < act.PASS:
            return 0, action
        if act.SING <= action < act.TUTE:
            return 1, action
        if act.ACCUSE <= action < act.BID:
            return 5, action
        if action >= act.TRUMP:
            return 2, action
        if (
            action >= act.PLAY_END
            and action not in (act.CLAIM, act.CAPOTE)
            and not act.TUTE <= action < act.EXCHANGE_SEVEN
        ):
            return 3, -action
        return (4, action) if action < act.PLAY_END else (5, action)

    return min(legal, key=delay)


def longest_deal(game: engine.Game, seed: int, deals: int) -> int:
    """Return the most actions of one deal when every seat dawdles."""
    state = game.new_match(seed=seed, deals=deals)
    longest = actions = 0
    deal = state.deal_no
    while not state.is_over and state.deal_no <= deals + 20:
        state.apply(dawdle(state))
        actions = actions + 1 if state.deal_no == deal else 0
        deal = state.deal_no
        longest = max(longest, actions)
        assert actions <= LONGEST_DEAL + LONGEST_AUCTION, (game, seed, state.events[-6:])
    return longest


@settings(max_examples=50)
@given(mixtures(), st.integers(0, 10**6))
def test_every_deal_of_any_mixture_ends(game: engine.Game, seed: int) -> None:
    assert longest_deal(game, seed, 2) > 0


@pytest.mark.parametrize(
    ("players", "options"),
    [
        (4, {"exchange_two": "7654"}),
        (2, {"exchange_two": "7654"}),
        (3, {"form": "stock6", "exchange_two": "7654"}),
        (3, {"exchange_seven": "13RSC6542"}),
    ],
)
def test_the_seven_and_the_two_do_not_take_each_other_for_ever(players: int, options: dict[str, str]) -> None:
    game = engine.load("guinote", players=players, **options)
    assert max(longest_deal(game, seed, 2) for seed in range(60)) < LONGEST_DEAL
