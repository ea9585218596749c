"""The boards of a study: a variant of a game between two bots, in matches of some boards each (engine.lab has the report).

`tute lab` and the league's workers play the same matches with the same cards and seeds, so equal studies have equal digests.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from engine.game import Game
    from engine.runner import MatchResult, MatchSpec

BOARDS = 32  # Boards per match: enough that starting the bots costs little, few enough that every core has work.
NAME = "lab"  # Of the match and its table; the cards are derived from it.
SEED = "lab"
PAIRS = (("champion", "counting"), ("counting", "greedy"))  # The first pair that plays the game is the default.

Facts = Callable[[dict[str, Any]], Any]  # What is stored of each replay, as plain data.


def part_of(spec: MatchSpec, boards: Sequence[int]) -> MatchSpec:
    """Return the match with some of the boards. The one with the first board keeps its name; the others are named by their boards."""
    name = spec.match_id if boards[0] == spec.boards[0] else f"{spec.match_id}, boards {boards[0]} to {boards[-1]}"
    return replace(spec, match_id=name, boards=boards)


def parts_of(spec: MatchSpec) -> list[MatchSpec]:
    """Split a match with all boards into matches of `BOARDS`."""
    boards = list(spec.boards)
    return [part_of(spec, boards[first : first + BOARDS]) for first in range(0, len(boards), BOARDS)]


def plain_boards(result: MatchResult, facts: Facts | None = None) -> list[dict[str, Any]]:
    """Return the boards of a match as plain data, each sitting with its facts if asked for."""
    return [
        {
            "number": board.number,
            "complete": board.complete,
            "scores": board.scores,
            "sittings": [
                {
                    "seating": list(sitting.seating),
                    "scores": sitting.scores,
                    "fault": sitting.fault.kind if sitting.fault else None,
                    **({"facts": facts(sitting.replay)} if facts is not None and not sitting.fault else {}),
                }
                for sitting in board.sittings
            ],
        }
        for board in result.boards
    ]


def inputs_of(version: str, bots: Sequence[tuple[str, str]], seed: str) -> dict[str, Any]:
    """Return what the boards of a study follow from besides its rules. version: of the engine; bots: name and hash of each."""
    return {"engine": version, "bots": [{"name": name, "sha256": digest} for name, digest in bots], "seed": seed}


def key_of(game: Game, inputs: Mapping[str, Any]) -> str:
    """Return the key of a study: equal rules and inputs have equal keys."""
    rules = [game.key, game.revision, game.players, dict(game.options)]
    return sha256(json.dumps([inputs, rules], sort_keys=True).encode()).hexdigest()[:24]
