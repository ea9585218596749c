"""Summaries of the decision times of a sitting: what pages and audits need, in a fraction of the bytes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

KINDS = ("cpu", "wall", "latency")
SPREAD = 5


def summed(timings: Mapping[str, Any], *, players: int, move_s: float) -> dict[str, Any]:
    """Summarise the `timings` of a record (one column per decision). A summary is returned unchanged.

    Lists by seat: `asked`, the number of decisions; `cpu`, `wall`, `latency`, total microseconds; `slowest`, [step, cpu, wall, latency] of the
    decision with the most CPU time, None for a seat without one; `spread`, [cpu, wall] of SPREAD decisions, each of which stands for an equal share
    when all are ordered by wall time. All times have three significant digits. `over`: exact [step, cpu] of each decision
    that used more than `move_s` seconds of CPU: only such decisions changed the bank, so the bot's lines can still be rebuilt byte for byte.
    """
    if "asked" in timings:
        return dict(timings)
    sums: dict[str, Any] = {"unit": "us", "asked": [0] * players, **{kind: [0] * players for kind in KINDS}}
    slowest: list[list[int] | None] = [None] * players
    pairs: list[list[list[int]]] = [[] for _ in range(players)]
    over = []
    for step, seat, *times in zip(*(timings[name] for name in ("steps", "seats", *KINDS)), strict=True):
        sums["asked"][seat] += 1
        for kind, time in zip(KINDS, times, strict=True):
            sums[kind][seat] += time
        pairs[seat].append([times[1], times[0]])
        worst = slowest[seat]
        if worst is None or times[0] > worst[1]:
            slowest[seat] = [step, *times]
        if times[0] / 1e6 > move_s:
            over.append([step, times[0]])
    for kind in KINDS:
        sums[kind] = [_three_digits(time) for time in sums[kind]]
    slowest = [worst and [worst[0], *map(_three_digits, worst[1:])] for worst in slowest]
    spread = [
        [[_three_digits(cpu), _three_digits(wall)] for wall, cpu in _spread(sorted(of_seat))] for of_seat in pairs
    ]
    return sums | {"slowest": slowest, "spread": spread, "over": over}


def _spread(ordered: list[list[int]]) -> list[list[int]]:
    """Return the items in the middle of SPREAD equal parts; all of them if there are no more."""
    if len(ordered) <= SPREAD:
        return ordered
    return [ordered[len(ordered) * (2 * part + 1) // (2 * SPREAD)] for part in range(SPREAD)]


def _three_digits(time: int) -> int:
    """Round to three significant digits: more would be noise."""
    return int(float(f"{time:.2e}"))


def used_us(timings: Mapping[str, Any]) -> dict[int, int]:
    """Return the CPU microseconds by step, at least for each decision that changed a bank."""
    pairs = timings["over"] if "asked" in timings else zip(timings["steps"], timings["cpu"], strict=True)
    return dict(pairs)
