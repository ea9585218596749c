"""A small league that has been played, and callers: nobody, the owner Alice, the stranger Charlie, the operator."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from django.core.cache import cache

from league.domain.people import players, tokens
from league.domain.ratings import ratings
from league.domain.tournaments import progress, tournaments
from league.models import BotVersion, Match, Player, Pool, Tournament
from tests.league.api.client import Api
from tests.support import league as made
from tests.support import rows


@pytest.fixture(autouse=True)
def _fresh_limits():
    """Rate limits are counted in the cache, which outlives a test."""
    cache.clear()


@pytest.fixture
def alice(db, request: pytest.FixtureRequest) -> Player:
    """Owns the bots and tournaments that the tests are about."""
    if "league" in request.fixturenames:
        league: League = request.getfixturevalue("league")
        return league.alice
    return players.create("alice", now=made.NOW)


@pytest.fixture
def charlie(db) -> Player:
    """Owns nothing of that."""
    return players.create("charlie", now=made.NOW)


@pytest.fixture
def operator(db) -> Player:
    """Create a member of staff."""
    player = players.create("olga", now=made.NOW)
    player.user.is_staff = True
    player.user.save()
    return player


def api_of(player: Player) -> Api:
    """The API with a token of `player`."""
    return Api(tokens.create(player, "test")[1])


@pytest.fixture
def nobody(db) -> Api:
    """Without a token."""
    return Api()


@pytest.fixture
def as_alice(alice) -> Api:
    """Return a client with Alice's token."""
    return api_of(alice)


@pytest.fixture
def as_charlie(charlie) -> Api:
    """Return a client with Charlie's token."""
    return api_of(charlie)


@pytest.fixture
def as_operator(operator) -> Api:
    """Return a client with the operator's token."""
    return api_of(operator)


@dataclass
class League:
    """A league in which Alice's rufo met Berto's luna and Dora's sol in the cup; rufo made a fault; `next_cup` is open."""

    alice: Player
    rufo: BotVersion
    luna: BotVersion
    sol: BotVersion
    validating: BotVersion
    cup: Tournament
    faulty: Match
    next_cup: Tournament
    pool: Pool


@pytest.fixture
def league(db) -> League:
    """A played tournament of three bots, two boards a match, and an open one."""
    return rows.once(played)


def played() -> League:
    """Make that league in the present database."""
    alice = players.create("alice", now=made.NOW)
    berto = players.create("berto", now=made.NOW)
    dora = players.create("dora", now=made.NOW)
    rufo, luna, sol = made.accepted(alice, "rufo"), made.accepted(berto, "luna"), made.accepted(dora, "sol")
    validating = made.uploaded(alice, "rufo")
    cup = made.started(alice, [rufo, luna, sol])
    faulty = None
    for match in cup.matches.order_by("id"):
        if faulty is None and match.parties.filter(version=rufo).exists():
            faulty = made.crash(match, rufo)
        else:
            made.play(match)
    progress.advance(cup, now=made.NOW)
    ratings.refresh(cup.pool, now=made.NOW)
    open_one = tournaments.create(alice, "Next cup", "corriente", versions=[rufo], now=made.NOW)
    assert faulty is not None
    return League(alice, rufo, luna, sol, validating, cup, faulty, open_one, cup.pool)
