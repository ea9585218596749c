"""Playouts on bit masks and by `apply` are the same; playouts look at no card of deals to come."""

from __future__ import annotations

import pytest

import engine
from engine import batch
from engine.chance import Dice

OPTIONS: dict[str, list[dict[str, object]]] = {
    "partnership": [{"undertrump": True}, {"beat_after_trumped": True}, {"hand_songs": "winning_side"}],
    "guinote": [{"partner_exempt": "trump_only"}, {"undertrump": True}, {"claim_mode": "claim"}],
    "corriente": [{"illegal_move": "lose_game"}, {"exchange": "immediate"}],
}
TABLES = [
    (key, {"players": players, **options})
    for key in engine.games()
    for players in engine.game.declared(key).players
    for options in ({}, *(OPTIONS.get(key, []) if players == engine.game.declared(key).players[0] else ()))
]


@pytest.mark.parametrize(("key", "options"), TABLES)
def test_the_quick_way_and_apply_score_the_same(key: str, options: dict[str, object]) -> None:
    state = engine.load(key, **options).new_match(seed=key, deals=2, record=False)
    draw = Dice(3)
    for number in range(12):
        before = state.hand_of(0)
        assert engine.playout(state, number) == batch.playout(state, number, quick=False)
        assert state.hand_of(0) == before
        for _ in range(3):
            if not state.is_over:
                legal = state.legal_actions()
                state.apply(legal[draw.below(len(legal))])


def test_play_many_sums_scores_and_repeats() -> None:
    game = engine.load("partnership")
    totals = engine.play_many(game, 50, 7, deals=1)
    assert totals == engine.play_many(game, 50, 7, deals=1) != engine.play_many(game, 50, 8, deals=1)
    assert totals[0] == totals[2]
    assert totals[1] == totals[3]
    assert sum(totals[:2]) >= 50 * 130


def test_playouts_shuffle_deals_to_come_anew() -> None:
    game = engine.load("two_player")
    state = game.new_match(seed=1, deals=2, record=False)
    while state.deal_no == 1:
        state.apply(state.legal_actions()[0])
    last = state.clone()
    scores = set()
    trial = game.new_match(seed=1, deals=2, record=False)
    while trial.left > 2:
        trial.apply(trial.legal_actions()[0])
    for seed in range(30):
        scores.add(tuple(engine.playout(trial, seed)))
    assert len(scores) > 10
    assert not last.is_over


def test_dice_are_fair_enough_and_in_range() -> None:
    dice = Dice(1)
    seen = [dice.below(6) for _ in range(6000)]
    assert set(seen) == set(range(6))
    assert all(850 < seen.count(face) < 1150 for face in range(6))
    assert sorted(dice.shuffle(range(40))) == list(range(40))
