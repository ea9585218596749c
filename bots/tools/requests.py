"""Turns a replay into the request lines that one seat was sent, to put them to a bot on the desk again.

    python -m bots.tools.requests replay.json --seat 2 > requests.jsonl
    python my_bot.py --replay requests.jsonl

FILE is a replay as the site gives it (one JSON object) or a log of `tute play --log` (one replay a line; choose with
--number). The actions are run through the engine again, so the requests hold exactly what the seat may know. The answers that
were given stand between them as lines with "do", and `--replay` shows where your bot now answers differently.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import engine


def requests(replay: dict[str, Any], seat: int) -> Iterator[dict[str, Any]]:
    """Hello, then act and the answer given for each decision of the seat, then end. Raises ValueError for a bad replay or seat."""
    if not isinstance(replay, dict) or replay.get("format") != engine.replay.FORMAT:
        raise ValueError(f"not a {engine.replay.FORMAT} object")
    options = dict(replay.get("options") or {})
    game = engine.load(replay["game"], **{**options, "players": replay["players"]})
    if not 0 <= seat < game.players:
        raise ValueError(f"seat {seat} is not at this table: seats are 0 to {game.players - 1}")
    board = replay.get("meta", {}).get("board", 1)
    state = game.new_match(seed=bytes.fromhex(replay["seed"]), deals=replay.get("deals"), suits=replay.get("suits"))
    yield {
        "type": "hello", "protocol": 1, "game": game.key, "revision": game.revision, "options": options,
        "seats": game.players, "seat": seat, "sides": [list(side) for side in game.sides], "boards": 1,
        "limits": {"start_s": 5, "move_s": 0.5, "bank_s": 3, "memory_mb": 256}, "seed": 0,
    }  # fmt: skip
    told = asked = 0
    for text in replay["actions"]:
        legal = [game.action_text(action) for action in state.legal_actions()]
        if state.current_seat == seat and len(legal) > 1:
            asked += 1
            events = [
                {**e, "board": board} if e["e"] == "deal" else e for e in engine.redact(state.events[told:], seat)
            ]
            told = len(state.events)
            yield {"type": "act", "id": asked, "events": events, "legal": legal, "bank_s": 3}
            yield {"id": asked, "do": text}
        state.apply(game.parse_action(text))
    yield {"type": "end", "events": engine.redact(state.events[told:], seat), "result": {"scores": state.scores()}}


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line. 0, or 2 with a message for a file that is no replay."""
    parser = argparse.ArgumentParser(prog="python -m bots.tools.requests", description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("file", type=Path, help="a replay (.json) or a log of tute play (.jsonl)")
    parser.add_argument("--seat", type=int, required=True, help="whose requests, 0 is the first seat")
    parser.add_argument("--number", type=int, default=1, help="which replay of a log, from 1")
    given = parser.parse_args(arguments)
    try:
        text = given.file.read_text(encoding="utf-8")
        try:
            replays = [json.loads(text)]
        except json.JSONDecodeError:
            replays = [json.loads(line) for line in text.splitlines() if line.strip()]
        if not 1 <= given.number <= len(replays):
            raise ValueError(f"there are {len(replays)} replays in it, so --number must be 1 to {len(replays)}")
        for line in requests(replays[given.number - 1], given.seat):
            print(json.dumps(line))
    except (OSError, ValueError, KeyError, TypeError) as error:
        print(f"{given.file} cannot be turned into requests: {error!r}. Give a tute-replay/1 file.", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
