"""The SDK's tables of rules agree with the engine for every game, table and mixture of options."""

from __future__ import annotations

import random

import pytest

import engine
from bots import tables
from engine.game import declared, games
from engine.rules.resolving import at_table, choices
from tests.bots.harness import tute_bot
from tests.support.tables import covering, values


def test_the_tables_of_the_sdk_are_fresh() -> None:
    content = tables.SDK.read_text(encoding="utf-8")
    assert content == tables.rewritten(content), "run: make texts"


def test_counting_plays_by_the_rule_of_the_engine() -> None:
    assert tables.FOLLOWING.read_bytes() == tables.RULE.read_bytes(), "run: make texts"


@pytest.mark.parametrize("key", games())
def test_the_sdk_knows_every_game_at_every_table(key: str) -> None:
    for players in declared(key).players:
        game = engine.load(key, players=players)
        rules = tute_bot.rules(key, players, {})
        assert rules == tables.carried(game.rules)
        assert set(tute_bot.pack(rules["deck"], rules["rank_order"])) == {game.pack.texts[c] for c in game.pack.cards}


@pytest.mark.parametrize("key", games())
def test_the_sdk_knows_what_options_imply(key: str) -> None:
    """Every value of every option, and random mixtures of them."""
    rng = random.Random(key)
    mixed = [mixture(rng, key, rng.choice(declared(key).players)) for _ in range(60)]
    for players, options in [(table.players, dict(table.options)) for table in covering() if table.key == key] + mixed:
        try:
            rules_of_engine = at_table(declared(key), options, players)
        except engine.OptionError:
            continue
        rules = tute_bot.rules(key, players, options)
        assert {name: rules[name] for name in tables.CARRIED} == tables.carried(rules_of_engine), options


def mixture(rng: random.Random, key: str, players: int) -> tuple[int, dict[str, object]]:
    """Draw options: each with an even chance, each of its values as likely as the others."""
    by_name = choices(declared(key), players)
    return players, {name: rng.choice(values(choice)) for name, choice in by_name.items() if rng.random() < 0.5}
