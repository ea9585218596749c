"""The kits in other languages and the template of `tute bot new` speak the protocol in real processes."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import engine
from tests.bots.harness import ROOT, SDK
from tests.support import languages

KITS = ROOT / "bots" / "kits"


def play_seat(command: list[str], key: str, environment: dict[str, str] | None = None) -> int:
    """Play one sitting with the process at seat 0 and first legal actions elsewhere. Check that its decisions are legal; return their number."""
    game = engine.load(key)
    state = game.new_match(seed=4, deals=2)
    hello = {
        "type": "hello", "protocol": 1, "game": key, "revision": 1, "options": {}, "seats": game.players, "seat": 0,
        "sides": [list(side) for side in game.sides], "boards": 1, "limits": {}, "seed": 1,
    }  # fmt: skip
    bot = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)

    def ask(message: dict) -> dict:
        bot.stdin.write(json.dumps(message, separators=(",", ":")).encode() + b"\n")
        bot.stdin.flush()
        return json.loads(bot.stdout.readline())

    assert ask(hello)["type"] == "ready"
    reported = decisions = 0
    while not state.is_over:
        actions = state.legal_actions()
        choice = actions[0]
        if state.current_seat == 0 and len(actions) > 1:
            decisions += 1
            legal = [game.action_text(a) for a in actions]
            events = engine.redact(state.events[reported:], 0)
            reported = len(state.events)
            answer = ask({"type": "act", "id": decisions, "events": events, "legal": legal, "bank_s": 3})
            assert answer["id"] == decisions
            choice = actions[legal.index(answer["do"])]
        state.apply(choice)
    bot.stdin.close()
    bot.stdout.close()
    assert bot.wait(timeout=30) == 0
    return decisions


@pytest.mark.parametrize("key", ["partnership", "corriente", "cabrero"])
def test_kit_in_c(key: str) -> None:
    kit = KITS / "c"
    program = languages.build(
        "cc", "-Wall", "-Wextra", "-Werror", "-O2", source=kit / "bot.c", beside=(kit / "tute.h", kit / "sense.h")
    )

    assert play_seat([str(program)], key) > 5


@pytest.mark.parametrize("key", ["partnership", "corriente", "cabrero"])
def test_kit_in_javascript(key: str) -> None:
    assert play_seat([languages.find("node"), str(KITS / "javascript" / "bot.mjs")], key) > 5


@pytest.mark.parametrize("key", ["partnership", "corriente", "cabrero", "subastado"])
def test_template(key: str) -> None:
    command = [sys.executable, str(SDK / "template" / "bot.py")]

    assert play_seat(command, key, {"PYTHONPATH": str(SDK)}) > 5


@pytest.mark.parametrize("manifest", sorted(ROOT.glob("bots/**/bot.toml")), ids=lambda path: path.parent.name)
def test_manifests(manifest: Path) -> None:
    table = tomllib.loads(manifest.read_text())

    assert set(table) <= {"name", "runtime", "entry", "games", "description", "deterministic", "build"}
    assert table.get("runtime", table.get("build")) in (
        "python",
        "node",
        "c",
        "c++",
        "rust",
        "go",
        "java",
        "typescript",
    )
    assert set(table["games"]) <= set(engine.games())
    assert not table["games"] or manifest.is_relative_to(ROOT / "bots" / "house"), "a kit plays all games"
    assert (manifest.parent / table["entry"]).is_file()
