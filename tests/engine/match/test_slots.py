"""The slots of a match: the list of slots and the clone are generated from one table."""

from __future__ import annotations

import random

import pytest

import engine
from tests.support import slots


def test_what_is_made_of_the_table_of_slots_is_fresh() -> None:
    text = slots.DATA.read_text(encoding="utf-8")
    assert slots.fresh(text) == text, "run python -m tests.support.slots"


def test_a_new_slot_gets_into_both_made_parts() -> None:
    text = slots.DATA.read_text(encoding="utf-8")
    grown = text.replace(
        "        self.pot = 0\n", "        self.pot = 0\n        self.jar: OwnList = []\n        self.lid = 0\n"
    )
    code = slots.fresh(grown)
    assert '"jar"' in code
    assert "        new.jar = self.jar[:]\n" in code
    assert "        new.lid = self.lid\n" in code
    assert code.count("self.jar") == 2


def test_a_slot_with_two_beginnings_is_refused() -> None:
    text = slots.DATA.read_text(encoding="utf-8")
    with pytest.raises(ValueError, match="the slot pot has two beginnings"):
        slots.fresh(text.replace("        self.pot = 0\n", "        self.pot = 0\n        self.pot = 0\n"))


@pytest.mark.parametrize("key", engine.games())
def test_playing_a_clone_leaves_the_original_alone(key: str) -> None:
    rng = random.Random(key)
    state = engine.load(key).new_match(seed=3, deals=2)
    for _ in range(200):
        if state.is_over:
            break
        before = [(view["hand"], view["trick"], view["cards"]) for view in map(state.observation, range(state.seats))]
        legal = state.legal_actions()
        other = state.clone()
        for _ in range(12):
            if not other.is_over:
                other.apply(rng.choice(other.legal_actions()))
        assert state.legal_actions() == legal
        now = [(view["hand"], view["trick"], view["cards"]) for view in map(state.observation, range(state.seats))]
        assert now == before
        state.apply(rng.choice(legal))
