"""What the referee measured of a bot in one sitting, for its owner."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from statistics import median
from typing import Any

SLOWEST = 20  # decisions of a sitting that are listed; the log of the match has all


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
    """The decisions of one bot in a sitting: how many, the middle and the greatest of each time in milliseconds, and the slowest of them."""

    asked: int
    middle: tuple[float, float, float]
    greatest: tuple[float, float, float]
    slowest: list[Decision]


def times(record: dict[str, Any], seats: Collection[int]) -> Times | None:
    """Of the decisions at these seats; None where none is in the record."""
    kept = record.get("timings", {})
    columns = [kept.get(name, []) for name in ("steps", "seats", "cpu", "wall", "latency")]
    actions = record.get("actions", [])
    found = [
        Decision(step, seat, actions[step] if step < len(actions) else "", cpu / 1000, wall / 1000, latency / 1000)
        for step, seat, cpu, wall, latency in zip(*columns, strict=False)
        if seat in seats
    ]
    if not found:
        return None
    by_kind = [[getattr(one, name) for one in found] for name in ("cpu", "wall", "latency")]
    return Times(
        len(found),
        (median(by_kind[0]), median(by_kind[1]), median(by_kind[2])),
        (max(by_kind[0]), max(by_kind[1]), max(by_kind[2])),
        sorted(found, key=lambda one: (-one.cpu, one.step))[:SLOWEST],
    )
