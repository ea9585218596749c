"""Matches that were played once and must go the same way for ever, or until the revision of a game changes."""

from __future__ import annotations

import json

import pytest

import engine
from tests.engine import golden

WRITE = "write it with: python -m tests.engine.golden"  # `make texts` writes missing ones, too


@pytest.mark.parametrize("key", engine.games())
def test_every_game_has_golden_replays_of_all_its_tables(key: str) -> None:
    assert golden.path(key).exists(), f"{golden.path(key)} is missing; {WRITE} {key}"
    entries = json.loads(golden.path(key).read_text(encoding="utf-8"))
    tables = [(entry["players"], entry["options"]) for entry in entries]
    assert tables == [(game.players, game.options) for game in golden.games_to_play(key)], f"out of date; {WRITE} {key}"


def test_no_golden_replay_is_left_over() -> None:
    assert {file.stem for file in golden.FOLDER.glob("*.json")} <= {*engine.games(), "chance"}


@pytest.mark.parametrize("key", [key for key in engine.games() if golden.path(key).exists()])
def test_golden_replays_go_as_they_went(key: str) -> None:
    for entry in json.loads(golden.path(key).read_text(encoding="utf-8")):
        game = engine.load(key, players=entry["players"], **entry["options"])
        meant = f"if the change of rules is meant, raise the revision of {key} and {WRITE} {key}"
        assert entry["revision"] == game.revision, meant
        state = game.new_match(seed=bytes.fromhex(entry["seed"]), deals=entry["deals"], suits=entry["suits"])
        digits = golden.sums(state, entry["actions"].split(","))
        steps = len(entry["sums"]) // 4
        wrong = [
            step for step in range(steps) if digits[4 * step : 4 * step + 4] != entry["sums"][4 * step : 4 * step + 4]
        ]
        assert not wrong, f"{game}: the events of step {wrong[0]} differ; {meant}"
        assert state.is_over
        assert state.scores() == entry["scores"], meant
        assert {name: engine.replay.make(state)[name] for name in golden.HEADER} == {
            name: entry[name] for name in golden.HEADER
        }
