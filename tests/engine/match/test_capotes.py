"""An announced capote decides the game: points, and a target reached by them, do not matter any more."""

from __future__ import annotations

import random

import pytest

import engine
from engine.cards import actions as act
from engine.search import playouts

TABLES: list[tuple[str, dict[str, object]]] = [
    ("habanero", {}),
    ("americano", {"capote": "announced"}),
    ("havanian", {"claim_from_deal": 1}),
]


@pytest.mark.parametrize(("key", "options"), [(key, options | {"claim_mode": "auto"}) for key, options in TABLES])
def test_a_target_reached_after_the_announcement_ends_nothing(key: str, options: dict[str, object]) -> None:
    game = engine.load(key, **options)
    announced = 0
    for seed in range(40):
        rng = random.Random(seed)
        state = game.new_match(seed=seed)
        while not state.is_over:
            legal = state.legal_actions()
            state.apply(act.CAPOTE if act.CAPOTE in legal else rng.choice(legal))
        promised = False
        for event in state.events:
            promised = event["e"] == "capote" or (promised and event["e"] != "deal")
            if promised and event["e"] == "score":
                announced += 1
                assert event["why"] == "capote"
    assert announced > 20


def test_a_playout_in_machine_words_agrees() -> None:
    game = engine.load("habanero", claim_mode="auto")
    for seed in range(300):
        assert playouts.play_many(game, 1, seed, quick=True) == playouts.play_many(game, 1, seed, quick=False)
