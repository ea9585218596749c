"""Decisions of the house bot `greedy`, and those of a kit's bot on the same requests."""

from __future__ import annotations

import json
import random
import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import engine
from engine.cli.builds import ready
from engine.game import declared
from engine.packages.archive import read_path
from engine.runner import bot_spec
from tests.bots.harness import ROOT, house, tute_bot
from tests.support import languages

KITS = ROOT / "bots" / "kits"
# Tables whose options change what greedy asks.
OPTIONS: dict[str, list[dict[str, Any]]] = {
    "partnership": [{"rank_order": "13RSC76542", "beat_after_trumped": True}],
    "corriente": [{"exchange": "immediate", "hand_size": 8}, {"claim_mode": "none", "match_games": 2}],
    "cabrero": [{"players": 4, "illegal_move": "accuse", "max_losses": 2}],
    "two_player": [{"hand_size": 10}],
    "podrida": [{"preset": "podrida52"}],
    "gana_pierde_3": [{"result": "cabron_loses"}],
    "codillo": [{"result": "soloist_side_best_single", "hand_songs": "soloist_side"}],
    "subastado": [{"players": 4, "censor": True, "auction_rounds": "open"}],
    "bato": [{"settlement": "loss_marks", "passed_may_join": False}],
    "arrastrado": [{"auction": "pot_contract"}],
    "guinote": [{"players": 3, "form": "stock6", "hide_arrastre_twenty": True}],
}
SEEDS = 8
CONVERSATION = ("corriente", "{}", 1)  # The match of `test.jsonl` in each kit.


def tables(key: str) -> list[dict[str, Any]]:
    """Return the options of the tables of a game: every number of players, and some forms."""
    return [*({"players": players} for players in declared(key).players), *OPTIONS.get(key, [])]


def in_c() -> list[str]:
    return [str(_built("cc", "c", "bot.c", "-Wall", "-Wextra", "-Werror", "-O2"))]


def in_cpp() -> list[str]:
    return [str(_built("c++", "cpp", "bot.cpp", "-Wall", "-Werror", "-O2", "-std=c++20"))]


def in_javascript() -> list[str]:
    return [languages.find("node"), str(KITS / "javascript" / "bot.mjs")]


def in_rust() -> list[str]:
    return [str(_built("rustc", "rust", "bot.rs", "--edition", "2021", "-O", "-D", "warnings"))]


def in_go() -> list[str]:
    return [str(_built("go", "go", "bot.go", "build"))]


def in_java() -> list[str]:
    return [*languages.JAVA, str(_built("javac", "java", "Bot.java", *languages.STRICT_JAVA)), "Bot"]


def in_typescript() -> list[str]:
    languages.find("tsc")
    state_dir = ROOT / "var" / "test"
    bot = bot_spec(ready(read_path(KITS / "typescript"), state_dir), state_dir / "packages")
    return [languages.find("node"), str(bot.path / bot.entry)]


LANGUAGES: dict[str, Callable[[], list[str]]] = {
    "c": in_c,
    "cpp": in_cpp,
    "go": in_go,
    "java": in_java,
    "javascript": in_javascript,
    "rust": in_rust,
    "typescript": in_typescript,
}


def _built(tool: str, kit: str, source: str, *options: str) -> Path:
    folder = KITS / kit
    beside = tuple(path for path in folder.iterdir() if path.name != source)
    return languages.build(tool, *options, source=folder / source, beside=beside)


@cache
def recorded(key: str, options: str, seed: int) -> tuple[list[str], list[dict[str, Any]]]:
    """Return the requests to one seat and greedy's answers. Half of the matches have greedy at every seat, the others chance at the other seats."""
    game = engine.load(key, **json.loads(options))
    dice = random.Random(seed)
    own = seed % game.players
    state = game.new_match(seed=seed, deals=min(3, game.board_deals or 3))
    sessions = {}
    requests: list[str] = []
    answers: list[dict[str, Any]] = []
    reported = [0] * game.players

    for seat in range(game.players) if seed % 2 else (own,):
        hello = {
            "type": "hello", "protocol": 1, "game": key, "revision": 1, "options": game.options, "seats": game.players,
            "seat": seat, "sides": [list(side) for side in game.sides], "boards": 1, "limits": {}, "seed": 1,
        }  # fmt: skip
        sessions[seat] = tute_bot.Session(house("greedy")())
        sessions[seat].answer(hello)
        if seat == own:
            requests.append(json.dumps(hello))
    while not state.is_over:
        actions, seat = state.legal_actions(), state.current_seat
        choice = dice.choice(
            [a for a in actions if game.action_text(a).split()[0] not in ("claim", "accuse")] or actions
        )
        if seat in sessions and len(actions) > 1:
            legal = [game.action_text(action) for action in actions]
            events = engine.redact(state.events[reported[seat] :], seat)
            reported[seat] = len(state.events)
            request = {"type": "act", "id": reported[seat], "events": events, "legal": legal, "bank_s": 3}
            answer = sessions[seat].answer(request)
            choice = actions[legal.index(answer["do"])]
            if seat == own:
                requests.append(json.dumps(request))
                answers.append(answer)
        state.apply(choice)
    return requests, answers


def compare(command: list[str], forms: list[dict[str, Any]], key: str) -> tuple[int, list[str]]:
    """Return how often greedy decided at some tables of a game, and each decision in which a program differs."""
    matches = [recorded(key, json.dumps(form), seed) for form in forms for seed in range(SEEDS)]
    lines = "".join(line + "\n" for requests, _ in matches for line in requests)
    process = subprocess.run(command, input=lines, capture_output=True, text=True, timeout=300, check=True)
    answers = [json.loads(line) for line in process.stdout.splitlines()]
    decisions, different, place = 0, [], 0
    for number, (requests, expected) in enumerate(matches):
        assert answers[place]["type"] == "ready"
        for step, right in enumerate(expected, 1):
            decisions += 1
            if (answer := answers[place + step]["do"]) != right["do"]:
                different.append(f"{key} {forms[number // SEEDS]}: {answer!r} for {right['do']!r} at {requests[step]}")
        place += len(requests)
    assert place == len(answers)
    return decisions, different


def write_conversation() -> None:
    """Write the requests and answers that lie in each kit."""
    requests, answers = recorded(*CONVERSATION)
    (KITS / "c" / "test.jsonl").write_text("".join(line + "\n" for line in requests))
    lines = (json.dumps({"id": answer["id"], "do": answer["do"]}, separators=(",", ":")) for answer in answers)
    (KITS / "c" / "answers.jsonl").write_text("".join(line + "\n" for line in lines))


if __name__ == "__main__":
    write_conversation()
