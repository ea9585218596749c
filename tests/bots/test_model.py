"""Counting's own model of the play chooses only cards that the engine allows, in every game at every table."""

from __future__ import annotations

import sys
from typing import Any

import pytest

import engine
from engine.cards.actions import PLAY_END
from engine.game import declared, games
from tests.bots.harness import house, play

house("counting")  # its modules are on the path from here on
Model = sys.modules["playout"].Model
Numbering = sys.modules["deals"].Numbering
TABLES = [(key, {"players": players}) for key in games() for players in declared(key).players] + [
    ("partnership", {"undertrump": True}),
    ("partnership", {"beat_after_trumped": True}),
    ("partnership", {"beat_after_trumped": True, "undertrump": True}),
    ("guinote", {"players": 4, "partner_exempt": "trump_only"}),
    ("remate", {"no_load": False}),
    ("variable_trump", {"coins_start": True}),
]


@pytest.mark.parametrize(("key", "options"), TABLES)
def test_the_model_chooses_legal_cards(key: str, options: dict[str, Any]) -> None:
    decisions = 0

    def check(state: engine.State, seats: list) -> None:
        """Check that the model's cards for the seat to act are legal."""
        nonlocal decisions
        seated = seats[state.current_seat]
        for event in seated.tell(state):
            seated.view.see(event)
        view = seated.view
        legal = {
            state.game.action_text(action).removeprefix("play ")
            for action in state.legal_actions()
            if action < PLAY_END
        }
        if not legal or not view.hand:
            return
        cards = Numbering(view)
        for aim in (1, -1):
            card = chosen(view, cards, aim)
            decisions += 1
            assert cards.text[card] in legal, (view.table, view.trump, view.hand)

    game = engine.load(key, **options)
    for seed in range(4):
        play(game, [house("random")] * game.players, seed, deals=1, watch=check)
    assert decisions > 10


def chosen(view: Any, cards: Any, aim: int) -> int:
    """Return the card with which the model leads or follows."""
    model = Model(view, cards.suit, [aim] * view.seats)
    hand, trump = cards.masks(view.hand), model.trump
    live = cards.masks([*view.hand, *view.unseen])
    rule = model.open_rule if view.stock else model.empty_rule
    if not view.table:
        return model.lead(view.seat, hand, live, trump, rule)
    seat, best = view.best or view.table[0]
    last = len(view.table) == model.size - 1
    laid = [(who, cards.number[text]) for who, text in view.table]
    return model.follow(
        view.seat,
        hand,
        live,
        trump,
        cards.suit[view.led],
        cards.number[best],
        seat,
        view.trick_points,
        last,
        rule,
        laid,
    )
