"""What the referee measured of a bot in one sitting, for its owner."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from engine.runner.timings import KINDS, summed


@dataclass(frozen=True)
class Decision:
    """One decision, times in milliseconds. `latency`: from the moment the referee began to write the request until it had read the answer."""

    step: int
    seat: int
    action: str
    cpu: float
    wall: float
    latency: float


@dataclass(frozen=True)
class Times:
    """The decisions of one bot in a sitting: how many, the mean of each time in milliseconds, and the slowest of each of its seats."""

    asked: int
    mean: tuple[float, ...]
    slowest: list[Decision]


def times(record: dict[str, Any], seats: Collection[int]) -> Times | None:
    """Of the decisions at these seats; None where none is in the record."""
    if not record.get("timings"):
        return None
    kept = summed(record["timings"], players=record["players"], move_s=0.0)
    asked = sum(kept["asked"][seat] for seat in seats)
    if not asked:
        return None
    actions = record.get("actions", [])
    found = []
    for seat in seats:
        if kept["slowest"][seat] is not None:
            step, cpu, wall, latency = kept["slowest"][seat]
            action = actions[step] if step < len(actions) else ""
            found.append(Decision(step, seat, action, cpu / 1000, wall / 1000, latency / 1000))
    mean = tuple(sum(kept[kind][seat] for seat in seats) / asked / 1000 for kind in KINDS)
    return Times(asked, mean, sorted(found, key=lambda one: (-one.cpu, one.step)))
