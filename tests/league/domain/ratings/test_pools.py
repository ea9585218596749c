"""A pool names the rules that its matches are played by, whatever options it was asked for with."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings

import engine
from league.domain.ratings import pools
from tests.support.mixtures import mixtures


@pytest.mark.slow
@pytest.mark.django_db
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(mixtures())
def test_a_pool_names_the_rules(game: engine.Game) -> None:
    pool = pools.pool(game.key, game.players, game.options)
    pool.options = json.loads(json.dumps(pool.options))
    assert pools.game_of(pool).rules == game.rules
    assert pools.pool(game.key, game.players, game.options).pk == pool.pk
