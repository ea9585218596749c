"""The SDK's tables of rules agree with the engine for every game, table and mixture of options."""

from __future__ import annotations

import random

import pytest

import engine
from bots import tables
from engine.game import declared, games
from engine.rules.resolving import choices
from tests.bots.harness import tute_bot
from tests.support.tables import covering, values


def test_the_tables_of_the_sdk_are_fresh() -> None:
    there = tables.SDK.read_text(encoding="utf-8")
    assert there == tables.rewritten(there), "run: make texts"


def test_counting_plays_by_the_rule_of_the_engine() -> None:
    assert tables.FOLLOWING.read_bytes() == tables.RULE.read_bytes(), "run: make texts"


@pytest.mark.parametrize("key", games())
def test_the_sdk_knows_every_game_at_every_table(key: str) -> None:
    for players in declared(key).players:
        game = engine.load(key, players=players)
        mine = tute_bot.rules(key, players, {})
        assert mine == tables.carried(game.rules)
        assert set(tute_bot.pack(mine["deck"], mine["rank_order"])) == {game.pack.texts[c] for c in game.pack.cards}


@pytest.mark.parametrize("key", games())
def test_the_sdk_knows_what_options_imply(key: str) -> None:
    """Every value of every option, and random mixtures of them."""
    rng = random.Random(key)
    mixed = [mixture(rng, key, rng.choice(declared(key).players)) for _ in range(60)]
    for players, options in [(one.players, dict(one.options)) for one in covering() if one.key == key] + mixed:
        try:
            game = engine.load(key, players=players, **options)
        except engine.OptionError:
            continue
        mine = tute_bot.rules(key, players, options)
        assert {name: mine[name] for name in tables.CARRIED} == tables.carried(game.rules), options


def mixture(rng: random.Random, key: str, players: int) -> tuple[int, dict[str, object]]:
    """Each option with an even chance, each of its values as likely as the others."""
    there = choices(declared(key), players)
    return players, {name: rng.choice(values(choice)) for name, choice in there.items() if rng.random() < 0.5}
