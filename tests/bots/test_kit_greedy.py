"""The bot of each language kit decides exactly as the house bot `greedy`, in every game."""

from __future__ import annotations

import json
import subprocess

import pytest

from engine.game import games
from tests.bots.greedy import CONVERSATION, KITS, LANGUAGES, compare, recorded, tables
from tests.support.parts import mostly_slow


@pytest.mark.parametrize("key", mostly_slow(games(), "partnership".__eq__))
@pytest.mark.parametrize("language", mostly_slow(LANGUAGES, "c".__eq__))
def test_a_kit_decides_as_greedy(language: str, key: str) -> None:
    decisions, different = compare(LANGUAGES[language](), tables(key), key)

    assert decisions >= 50
    assert not different, different[0]


@pytest.mark.parametrize("language", mostly_slow(LANGUAGES, "c".__eq__))
def test_the_recorded_match_of_a_kit_is_its_test(language: str) -> None:
    requests, answers = ((KITS / language / name).read_text().splitlines() for name in ("test.jsonl", "answers.jsonl"))
    lines = "".join(line + "\n" for line in requests)
    process = subprocess.run(LANGUAGES[language](), input=lines, capture_output=True, text=True, check=True, timeout=60)

    assert process.stdout.splitlines()[1:] == answers
    assert (requests, list(map(json.loads, answers))) == recorded(*CONVERSATION), "run: python -m tests.bots.greedy"
