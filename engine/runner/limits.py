"""How much a bot may use, and its clock.

The clock counts the CPU time of the bot while it is asked. Each decision has `move_s`; what a decision takes beyond that comes out of a
bank of `bank_s` that lasts for the whole pass. A wall-clock cap ends a bot that sleeps or waits.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Seconds are CPU seconds of all threads of the bot, unless the name says wall. ValueError for values that make no sense."""

    start_s: float = 5.0  # from the start of the process to its `ready`
    move_s: float = 0.5  # every decision
    bank_s: float = 3.0  # shared by the decisions of one pass
    wall_factor: float = 4.0  # wall-clock cap of an answer: wall_factor * CPU budget + wall_extra_s
    wall_extra_s: float = 2.0  # so that a busy host does not cost a quick bot its match
    memory_mb: int = 256
    threads: int = 16
    line_kib: int = 64  # one answer
    stderr_kib: int = 16  # kept of any amount

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value < 0:
                raise ValueError(f"limit {field.name} must be a number of at least 0, not {value!r}")
            if field.name not in ("bank_s", "wall_extra_s") and value == 0:
                raise ValueError(f"limit {field.name} must be more than 0")
        if self.wall_factor < 1:
            raise ValueError(
                f"limit wall_factor must be at least 1, not {self.wall_factor!r}: wall time is never less than one thread's CPU time"
            )

    def public(self) -> dict[str, float | int]:
        """What a bot is told of them."""
        return {"start_s": self.start_s, "move_s": self.move_s, "bank_s": self.bank_s, "memory_mb": self.memory_mb}

    def wall_s(self, cpu_s: float) -> float:
        """The wall-clock cap that goes with a CPU budget."""
        return self.wall_factor * cpu_s + self.wall_extra_s

    def total_cpu_s(self, decisions: int) -> float:
        """What a whole pass may use at most, for a backstop set once by the kernel."""
        return self.start_s + self.bank_s + decisions * self.move_s


class Clock:
    """The time that one bot has left in one pass."""

    __slots__ = ("bank_s", "move_s")

    def __init__(self, limits: Limits) -> None:
        self.move_s = limits.move_s
        self.bank_s = limits.bank_s

    def budget_s(self) -> float:
        """CPU seconds that the next answer may take."""
        return self.move_s + self.bank_s

    def spend(self, cpu_s: float) -> None:
        """Book an answer that took this long."""
        over = cpu_s - self.move_s
        if over > 0:
            self.bank_s = max(0.0, self.bank_s - over)
