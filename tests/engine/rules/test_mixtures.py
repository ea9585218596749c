"""Every mixture of options has a name by which the same rules come back: in a replay, in the line that greets a bot, in the league's pool."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import engine
from engine.rules.parameters import Rules
from engine.runner import rebuild
from tests.support import playing
from tests.support.mixtures import mixtures

MANY = settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])
FEW = settings(MANY, max_examples=60)
TOLD = {"boards": [1], "limits": {}, "seeds": dict.fromkeys(range(10), 7)}
LOSSES = [
    ("codillo", {"settlement": "loss_marks", "match_end": "losses"}),
    ("bato", {"settlement": "loss_marks", "match_end": "losses"}),
    ("remate", {"settlement": "loss_marks", "match_end": "elimination"}),
]


@pytest.mark.parametrize(("key", "options"), LOSSES)
def test_options_that_imply_each_other_are_not_both_forgotten(key: str, options: dict[str, Any]) -> None:
    game = engine.load(key, **options)
    assert game.options
    assert engine.load(key, players=game.players, **game.options).rules == game.rules


@pytest.mark.parametrize(
    ("key", "settlement", "ending"),
    [("codillo", "loss_marks", "losses"), ("bato", "loss_marks", "losses"), ("remate", "loss_marks", "elimination")],
)
def test_equal_rules_have_equal_options(key: str, settlement: str, ending: str) -> None:
    both = engine.load(key, settlement=settlement, match_end=ending)
    by_settlement = engine.load(key, settlement=settlement)
    by_ending = engine.load(key, match_end=ending)
    assert both.rules == by_settlement.rules == by_ending.rules
    assert both.options == by_settlement.options == by_ending.options


def test_an_option_with_its_usual_value_may_be_needed() -> None:
    """Loss marks imply that losses end the match, unless somebody says otherwise."""
    for key in ("bato", "codillo"):
        game = engine.load(key, settlement="loss_marks", match_end="deals")
        assert game.options == {"settlement": "loss_marks", "match_end": "deals"}
        assert engine.load(key, **game.options).rules == game.rules


@pytest.mark.parametrize("players", [3, 4, 5, 6, 7])
def test_what_options_all_says_can_be_loaded(players: int) -> None:
    game = engine.load("podrida", players=players, preset="podrida52")
    assert engine.load("podrida", players=players, **game.options_all).rules == game.rules


def rules_of(game: engine.Game, options: dict[str, Any]) -> Rules | None:
    """Return the rules by other options at the same table; None if they do not go together."""
    try:
        return engine.load(game.key, players=game.players, **options).rules
    except engine.OptionError:
        return None


def check(game: engine.Game) -> None:
    """Check that a game's options bring the same rules back, and that none of them can be left out."""
    again = engine.load(game.key, players=game.players, **json.loads(json.dumps(game.options)))
    assert again.rules == game.rules
    assert again.options == game.options
    in_full = engine.load(game.key, players=game.players, **json.loads(json.dumps(game.options_all)))
    assert in_full.rules == game.rules
    assert in_full.options == game.options
    for name in game.options:
        fewer = {other: value for other, value in game.options.items() if other != name}
        assert rules_of(game, fewer) != game.rules


@pytest.mark.slow
@MANY
@given(mixtures())
def test_options_name_the_rules(game: engine.Game) -> None:
    check(game)


@pytest.mark.soak
@pytest.mark.timeout(3600)
@settings(MANY, max_examples=20_000)
@given(mixtures())
def test_options_name_the_rules_in_many_mixtures(game: engine.Game) -> None:
    check(game)


@FEW
@given(mixtures(), st.integers(0, 10**6))
def test_the_replay_of_a_match_verifies(game: engine.Game, seed: int) -> None:
    state = playing.finished(game, seed, deals=1, limit=400)
    engine.replay.verify(json.loads(json.dumps(engine.replay.make(state))))


@FEW
@given(mixtures())
def test_a_bot_is_told_the_same_rules(game: engine.Game) -> None:
    message = json.loads(rebuild.hello(TOLD, game, 0))
    assert engine.load(message["game"], players=message["seats"], **message["options"]).rules == game.rules
