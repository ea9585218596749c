"""The calls that turn a view of the SDK into deals and states."""

from __future__ import annotations

import pytest

import engine
from tests.bots.harness import play, tute_bot


class Searcher(tute_bot.Bot):
    """A bot that plays at random, and at each decision deals the hidden cards and checks the state."""

    looked = 0

    def act(self, view: tute_bot.View, legal: list[str]) -> str:
        deals = view.deals()
        dice = engine.Dice(view.seed + len(view.played))
        for _ in range(2):
            state = view.to_state(deals.deal(dice))
            game = state.game
            assert state.current_seat == view.seat
            assert [game.action_text(action) for action in state.legal_actions()] == legal
            assert [len(state.hand_of(seat)) for seat in range(view.seats)] == view.counts
            dealt = {game.pack.texts[card] for seat in range(view.seats) for card in state.hand_of(seat)}
            assert all(proved <= dealt for proved in view.known)
            for seat in range(view.seats):
                assert seat == view.seat or all(view.may_hold(seat, game.pack.texts[c]) for c in state.hand_of(seat))
            assert len(engine.playout(state, 1)) == view.seats
            Searcher.looked += 1
        return self.random.choice([a for a in legal if a.split()[0] not in ("claim", "accuse", "capote")] or legal)


@pytest.mark.parametrize("key", engine.games())
def test_every_decision_of_a_view_can_be_played_on_from(key: str) -> None:
    game = engine.load(key)
    before = Searcher.looked
    play(game, [Searcher] * game.players, 5, deals=3)
    assert Searcher.looked > before
