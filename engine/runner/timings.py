"""Times of the decisions of a sitting, summed up: what its pages show and an audit needs, in a fraction of the bytes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

KINDS = ("cpu", "wall", "latency")


def summed(timings: Mapping[str, Any], *, players: int, move_s: float) -> dict[str, Any]:
    """`timings` of a record (a column a decision) as sums; what is summed up already is returned as it is.

    Lists by seat: `asked`, how many decisions; `cpu`, `wall`, `latency`, the microseconds of all of them; `slowest`, [step, cpu, wall,
    latency] of the one that used most CPU, None of a seat that was not asked; all of these times to three digits. `over`: [step, cpu],
    exactly, of each decision that used more than `move_s` seconds of CPU: these alone changed the bank that the bot was told, so that its
    lines can still be rebuilt byte for byte.
    """
    if "asked" in timings:
        return dict(timings)
    found: dict[str, Any] = {"unit": "us", "asked": [0] * players, **{kind: [0] * players for kind in KINDS}}
    slowest: list[list[int] | None] = [None] * players
    over = []
    for step, seat, *times in zip(*(timings[name] for name in ("steps", "seats", *KINDS)), strict=True):
        found["asked"][seat] += 1
        for kind, time in zip(KINDS, times, strict=True):
            found[kind][seat] += time
        worst = slowest[seat]
        if worst is None or times[0] > worst[1]:
            slowest[seat] = [step, *times]
        if times[0] / 1e6 > move_s:
            over.append([step, times[0]])
    for kind in KINDS:
        found[kind] = [_three_digits(time) for time in found[kind]]
    slowest = [worst and [worst[0], *map(_three_digits, worst[1:])] for worst in slowest]
    return found | {"slowest": slowest, "over": over}


def _three_digits(time: int) -> int:
    """More say nothing: the same decision takes another time each time."""
    return int(float(f"{time:.2e}"))


def used_us(timings: Mapping[str, Any]) -> dict[int, int]:
    """Microseconds of CPU by step, at least of each decision that changed a bank."""
    pairs = timings["over"] if "asked" in timings else zip(timings["steps"], timings["cpu"], strict=True)
    return dict(pairs)
