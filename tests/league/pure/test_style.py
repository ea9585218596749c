"""The style of a bot, counted from records of real play and from records written by hand."""

from __future__ import annotations

import random
from typing import Any

import pytest

import engine
from league.pure.style import Style, count

HEAD = {"e": "match", "sides": [[0, 2], [1, 3]]}


def deal(cards: int, trump: str | None = "o") -> dict[str, Any]:
    return {"e": "deal", "trump": trump, "out": [], "hands": [["2o"] * cards for _ in range(4)]}


def trick(winner: int, *cards: str, leader: int = 0) -> list[dict[str, Any]]:
    played = [{"e": "play", "seat": (leader + turn) % 4, "card": card} for turn, card in enumerate(cards)]
    return [*played, {"e": "trick", "seat": winner}]


def score(why: str = "points", winner: int | None = 0) -> dict[str, Any]:
    return {"e": "score", "why": why, "winner": winner}


def test_songs_leads_of_trumps_and_all_tricks_are_counted_by_party() -> None:
    first = [*trick(2, "1o", "2c", "3o", "4c"), {"e": "song", "seat": 2, "suit": "c"}]
    second = trick(0, "1c", "2c", "3o", "4c", leader=2)

    ours, theirs = count([HEAD, deal(2), *first, *second, score()], (0, 1, 0, 1), 2)

    assert ours == Style(places=2, sung=1, capotes=2, leads=2, trump_leads=1)
    assert theirs == Style(places=2)
    assert ours + ours == Style(4, 2, 4, 4, 2)


@pytest.mark.parametrize(
    ("events", "capotes"),
    [
        ([deal(2), *trick(2, *["2o"] * 4), score("claim")], 0),
        ([deal(1), *trick(2, *["2o"] * 4), score()], 0),
        ([deal(2), *trick(2, *["2o"] * 4), *trick(1, *["2o"] * 4), score()], 0),
        ([deal(2), *trick(1, *["2o"] * 4), score("capote")], 2),
        ([deal(2), *trick(2, *["2o"] * 4), *trick(2, *["2o"] * 4), score("capote", None)], 2),
    ],
    ids=["cards are left", "one trick", "one is lost", "announced and made", "without a winner"],
)
def test_a_capote_is_all_tricks_or_one_that_was_announced(events, capotes) -> None:
    assert count([HEAD, *events], (0, 1, 0, 1), 2)[0].capotes == capotes


def test_what_was_cut_short_and_leads_before_there_is_a_trump_do_not_count() -> None:
    cut = [HEAD, deal(2), *trick(0, "2o", "2o", "2o", "2o")]
    assert count(cut, (0, 1, 0, 1), 2)[0] == Style()
    late = [HEAD, deal(2, None), *trick(0, *["2c"] * 4), {"e": "trump", "suit": "c"}, *trick(1, *["2c"] * 4), score()]
    assert count(late, (0, 1, 0, 1), 2)[0] == Style(places=2, leads=1, trump_leads=1)


@pytest.mark.parametrize("key", engine.games())
def test_of_every_game_each_seat_of_each_deal_is_one_place(key) -> None:
    game, rng = engine.load(key), random.Random(key)
    state = game.new_match(seed=key)
    while not state.is_over:
        state.apply(rng.choice(state.legal_actions()))
    record = engine.replay.make(state)
    styles = count(record["events"], range(state.seats), state.seats)
    deals = [event for event in record["events"] if event["e"] == "deal"]
    scored = sum(event["e"] == "score" for event in record["events"])
    assert sum(style.places for style in styles) == sum(state.seats - len(event["out"]) for event in deals[:scored])
    assert sum(style.sung for style in styles) <= sum(event["e"] == "song" for event in record["events"])
    assert all(0 <= style.trump_leads <= style.leads for style in styles)
