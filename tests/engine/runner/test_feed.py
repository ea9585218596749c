"""Every seat gets each event that it may see once, in order, however often it is asked."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

import engine
from engine.runner import feed, protocol
from tests.support import playing

NOTICE = {"e": "fault", "seat": 1, "fault": "timeout"}


def events_for(events: list[dict[str, Any]], seat: int, board: int) -> list[dict[str, Any]]:
    """Return the record of a sitting as a seat gets it: a deal names its board."""
    return [
        {"e": "deal", "board": board, **event} if event["e"] == "deal" else event
        for event in engine.redact(events, seat)
    ]


@pytest.mark.parametrize(
    ("key", "options"),
    [
        ("partnership", {}),  # all see alike but the deal
        ("guinote", {}),
        (
            "bato",
            {"players": 6, "stock_exhausted": "reshuffle_out_hands", "dealer_takes_shown": True},
        ),  # draws in secret
        ("podrida", {}),
    ],
)
@pytest.mark.parametrize("often", [0.02, 0.3, 1.0])
def test_seats_are_told_what_they_may_see(key: str, options: dict[str, Any], often: float) -> None:
    game = engine.load(key, **options)
    rng = random.Random(f"{key} {often}")
    sent: list[list[str]] = [[] for _ in range(game.players)]
    due: list[list[dict[str, Any]]] = [[] for _ in range(game.players)]
    told_by = feed.Feed(game.players)
    for board in (3, 4, 5):
        state = game.new_match(seed=board, deals=2)
        opening = feed.opening(state.events, board, game.players)
        for seat, texts in enumerate(opening):
            assert [json.loads(text) for text in texts] == events_for(state.events, seat, board)
        told_by.begin(state, board, opening)
        for _ in playing.play(state, f"{key} {board}"):
            for seat in range(game.players):
                if rng.random() < often:
                    sent[seat] += told_by.take(seat)
        for seat in range(game.players):
            due[seat] += events_for(state.events, seat, board)
        if board == 4:  # In the middle, before the seats have all events of this sitting
            told_by.announce(NOTICE)
            for events in due:
                events.append(NOTICE)
    for seat in range(game.players):
        sent[seat] += told_by.take(seat)
        assert told_by.take(seat) == []
        assert [json.loads(text) for text in sent[seat]] == due[seat]
        assert sent[seat] == [protocol.encode(json.loads(text)) for text in sent[seat]], (
            "the texts are those of the encoder"
        )
