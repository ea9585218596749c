"""The bot of each language kit decides exactly as the house bot `greedy`, in every game."""

from __future__ import annotations

import pytest

from engine.game import games
from tests.bots.greedy import LANGUAGES, compare, tables
from tests.support.parts import mostly_slow


@pytest.mark.parametrize("key", mostly_slow(games(), "partnership".__eq__))
@pytest.mark.parametrize("language", mostly_slow(LANGUAGES, "c".__eq__))
def test_a_kit_decides_as_greedy(language: str, key: str) -> None:
    decisions, different = compare(LANGUAGES[language](), tables(key), key)

    assert decisions > 50
    assert not different, different[0]
