"""Players for every test of the league."""

from __future__ import annotations

import pytest

from league.domain import players
from league.models import Player
from tests.support.league import NOW


@pytest.fixture
def ana(db) -> Player:
    """Owns bots."""
    return players.create("ana", password="a long password", now=NOW)


@pytest.fixture
def berto(db) -> Player:
    """Owns other bots."""
    return players.create("berto", password="another long password", now=NOW)
