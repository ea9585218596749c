"""The rules compiled by mypyc and the same rules as Python source play the same matches."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from engine import compiling

ROOT = Path(__file__).parents[2]
PLAY = """
import hashlib, json, random, sys
sys.path.insert(0, sys.argv[1])
import engine
sums = {"compiled": engine.COMPILED}
for key in engine.games():
    digest = hashlib.sha256()
    for seed in range(6):
        game = engine.load(key)
        state = game.new_match(seed=seed, deals=2, record=seed % 2 == 0)
        draw = random.Random(seed)
        while not state.is_over:
            legal = state.legal_actions()
            action = draw.choice(legal)
            digest.update(f"{legal}{action}{state.current_seat}".encode())
            state.apply(action)
        digest.update(json.dumps([state.scores(), state.log]).encode())
        state = game.new_match(seed=seed, deals=2, record=False)
        for quick in (False, True):
            sums_of = [engine.playout(state, number, quick=quick) for number in range(10)]
            sums_of.append(engine.play_many(game, 5, seed, deals=2, quick=quick))
            digest.update(repr(sums_of).encode())
        try:
            state.apply(0)
        except engine.IllegalAction as refused:
            digest.update(str(refused).encode())
    sums[key] = digest.hexdigest()
    if engine.COMPILED:  # thousands of matches by both ways: as Python source that would take minutes
        for seed in range(1500):
            assert engine.play_many(game, 1, seed, deals=1, quick=True) == engine.play_many(game, 1, seed, deals=1, quick=False)
print(json.dumps(sums))
"""


def play(folder: Path) -> dict[str, object]:
    env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [sys.executable, "-c", PLAY, str(folder)], capture_output=True, text=True, check=True, env=env, cwd=folder
    )
    sums: dict[str, object] = json.loads(done.stdout)
    return sums


@pytest.mark.timeout(1200)  # the compiler takes a minute of a free core
def test_compiled_and_pure_rules_play_the_same_matches(tmp_path: Path) -> None:
    if shutil.which("cc") is None and shutil.which("gcc") is None:
        pytest.skip("no C compiler on PATH, so there is nothing to compare: install gcc")
    folders = {}
    for name in ("pure", "compiled"):
        folders[name] = tmp_path / name
        shutil.copytree(ROOT / "engine", folders[name] / "engine", ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    compiling.build(folders["compiled"])

    pure, compiled = play(folders["pure"]), play(folders["compiled"])

    assert pure.pop("compiled") is False
    assert compiled.pop("compiled") is True
    assert compiled == pure


def test_remove_takes_the_compiled_modules_away(tmp_path: Path) -> None:
    (tmp_path / "engine" / "match").mkdir(parents=True)
    for name in (
        "abc__mypyc.cpython-311-x.so",
        "engine/match/state.cpython-311-x.so",
        "engine/match/tricks.cpython-311-x.so",
    ):
        (tmp_path / name).touch()
    assert compiling.remove(tmp_path) == 3
    assert not list(tmp_path.rglob("*.so"))
