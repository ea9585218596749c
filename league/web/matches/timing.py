"""Time measurements of a bot in one sitting, for its owner."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from engine.runner.timings import KINDS, summed
from league.web.common.words import action_name


@dataclass(frozen=True)
class TimedDecision:
    """One decision, times in milliseconds. `latency`: from the first byte of the request to the end of the answer."""

    step: int
    seat: int
    action: str
    cpu: float
    wall: float
    latency: float


@dataclass(frozen=True)
class Times:
    """The decisions of one bot in a sitting: their number, the mean times in milliseconds, and the slowest decision of each seat."""

    decisions: int
    mean: tuple[float, ...]
    slowest: list[TimedDecision]


def times(record: dict[str, Any], seats: Collection[int]) -> Times | None:
    """Sum up the decisions of these seats. Return None if the record has no times."""
    if not record.get("timings"):
        return None
    sums = summed(record["timings"], players=record["players"], move_s=0.0)
    decisions = sum(sums["asked"][seat] for seat in seats)
    if not decisions:
        return None
    actions = record.get("actions", [])
    slowest = []
    for seat in seats:
        if sums["slowest"][seat] is not None:
            step, cpu, wall, latency = sums["slowest"][seat]
            action = action_name(actions[step]) if step < len(actions) else ""
            slowest.append(TimedDecision(step, seat, action, cpu / 1000, wall / 1000, latency / 1000))
    mean = tuple(sum(sums[kind][seat] for seat in seats) / decisions / 1000 for kind in KINDS)
    return Times(decisions, mean, sorted(slowest, key=lambda decision: (-decision.cpu, decision.step)))
