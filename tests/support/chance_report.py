"""Print the deals of fixed seeds, and one match of every game, as JSON: `python -m tests.support.chance_report`, with any Python.

It uses only the standard library and the engine: tests compare the reports of several interpreters.
"""

from __future__ import annotations

import hashlib
import json
import random

import engine
from engine.cards import chance

SEEDS: tuple[bytes | str | int, ...] = (0, 7, -1, "board", "7", b"", bytes(range(32)), b"\xff" * 40)


def report() -> dict[str, object]:
    """Return decks, draws and seeds for fixed keys, and a digest of the events of one random deal of every game."""
    keys = [chance.as_seed(seed) for seed in SEEDS]
    return {
        "keys": [key.hex() for key in keys],
        "decks": [chance.shuffle(key, deal, range(40)) for key in keys[:4] for deal in (1, 2, 400)],
        "decks52": [chance.shuffle(key, 1, range(52)) for key in keys[:2]],
        "small": [chance.shuffle(keys[0], deal, "abc") for deal in range(1, 9)],
        "picks": [
            chance.pick(key, label, n) for key in keys for label in ("dealer", "other") for n in (2, 3, 4, 5, 6, 7)
        ],
        "boards": [
            engine.board_seed(b"secret", key, "t1", board).hex() for key in ("brisca", "bato") for board in (1, 2)
        ],
        "bots": [engine.bot_seed(b"secret", "m1", sitting, seat) for sitting in (0, 1) for seat in range(4)],
        "matches": {key: digest(key) for key in engine.games()},
    }


def digest(key: str) -> str:
    """Return the SHA-256 of the record of one deal in which the first, the last and the middle action are chosen in turn."""
    state = engine.load(key).new_match(seed=f"report {key}", deals=1)
    rng = random.Random(5)
    for _ in range(400):
        if state.is_over:
            break
        legal = state.legal_actions()
        state.apply(legal[int(rng.random() * len(legal))])
    return hashlib.sha256(json.dumps(state.events, sort_keys=True).encode()).hexdigest()[:32]


if __name__ == "__main__":
    print(json.dumps(report()))
