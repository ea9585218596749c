"""Random playouts against a loop that does next to nothing, in turn."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from statistics import median
from typing import Any

import engine

FLOOR = "x = (x * 1103515245 + 12345) & 0x7fffffff"
ROUNDS = 5


def floor(rounds: int) -> int:
    """The floor: so many rounds of `FLOOR`."""
    x = 1
    for _ in range(rounds):
        x = (x * 1103515245 + 12345) & 0x7FFFFFFF
    return x


def playouts(game: engine.Game, seconds: float, record: bool, seed: int) -> tuple[int, int, float]:
    """(decisions, matches, seconds) of random play for about so many seconds."""
    draw = random.Random(seed).random
    decisions = matches = 0
    began = time.perf_counter()
    while True:
        state = game.new_match(seed=seed + matches, deals=game.board_deals or 1, record=record)
        while not state.is_over:
            legal = state.legal_actions()
            state.apply(legal[int(draw() * len(legal))])
            decisions += 1
        matches += 1
        spent = time.perf_counter() - began
        if spent >= seconds:
            return decisions, matches, spent


def _rate(work: Callable[[], int]) -> float:
    began = time.perf_counter()
    return work() / (time.perf_counter() - began)


def measure(key: str, seconds: float) -> dict[str, Any]:
    """The rates of one game at its default table."""
    game = engine.load(key)
    slice_s = seconds / ROUNDS / 2.5
    playouts(game, slice_s / 4, False, 0)
    count = int(_rate(lambda: 0 * floor(100_000) + 100_000) * slice_s / 2)
    plain, recorded, floors, lengths = [], [], [], []
    for number in range(ROUNDS):
        floors.append(_rate(lambda: 0 * floor(count) + count))
        decisions, matches, spent = playouts(game, slice_s, False, number * 100_000)
        plain.append(decisions / spent)
        lengths.append(decisions / matches)
        decisions, _, spent = playouts(game, slice_s, True, number * 100_000)
        recorded.append(decisions / spent)
    return {
        "game": key,
        "players": game.players,
        "per_s": median(plain),
        "recorded_per_s": median(recorded),
        "floor_per_s": median(floors),
        "ratio": median(f / p for f, p in zip(floors, plain, strict=True)),
        "recorded_ratio": median(f / r for f, r in zip(floors, recorded, strict=True)),
        "decisions_per_match": median(lengths),
    }
