"""An attack and the ways in which it must end."""

from __future__ import annotations

from dataclasses import dataclass

CONTAINED = frozenset({None})


@dataclass(frozen=True, kw_only=True)
class Attack:
    """One hostile bot.

    source: Python that runs after the first request; ends: the fault kinds it may end in, None for "it obtained
    nothing and plays on"; detail: a part of the fault's text; budget_s, wall_s: CPU and wall seconds for its first
    answer (None: plenty); cpu_s: total CPU limit; pause_s: how long it lies frozen after its answer; padding: bytes
    added to the first request.
    """

    name: str
    source: str
    ends: frozenset[str | None] = CONTAINED
    detail: str = ""
    budget_s: float | None = None
    wall_s: float | None = None
    cpu_s: int = 30
    pause_s: float = 0.0
    padding: int = 0
