"""The limits of a bot, and its clock.

The clock counts the bot's CPU time during its turns. Each decision has `move_s`; time beyond that comes out of a bank of `bank_s` that lasts
for the whole pass. A wall-clock limit stops a bot that sleeps or waits.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace

from engine.runner.faults import Fault

STRIKES = 3  # Answers of a pass that may be late, if this host's clocks could explain it.
LEAST_NOISE_S = 0.005  # CPU seconds that any host may add to any decision.
LENIENT = 2.0  # Factor on the limits of a match for runs where speed does not count.


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Limits of a bot. Seconds are CPU seconds of all its threads, unless the name says wall. Raise ValueError for impossible values."""

    start_s: float = 5.0  # From the start of the process to its `ready`.
    move_s: float = 0.5  # For every decision.
    bank_s: float = 3.0  # Shared by the decisions of one pass.
    wall_factor: float = 4.0  # Wall-clock limit of an answer: wall_factor * CPU budget + wall_extra_s.
    wall_extra_s: float = 2.0  # Keeps a busy host from costing a fast bot its match.
    memory_mb: int = 256
    threads: int = 16
    line_kib: int = 64  # Longest answer.
    stderr_kib: int = 16  # Stored part of the error output.

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
        """Return the limits that are sent to a bot."""
        return {"start_s": self.start_s, "move_s": self.move_s, "bank_s": self.bank_s, "memory_mb": self.memory_mb}

    def wall_s(self, cpu_s: float) -> float:
        """Return the wall-clock limit for a CPU budget."""
        return self.wall_factor * cpu_s + self.wall_extra_s

    def lenient(self) -> Limits:
        """Return the limits of a run that checks answers, not speed, and may share its machine."""
        start_s, move_s, bank_s = (LENIENT * seconds for seconds in (self.start_s, self.move_s, self.bank_s))
        return replace(self, start_s=start_s, move_s=move_s, bank_s=bank_s)

    def total_cpu_s(self, decisions: int) -> float:
        """Return the CPU seconds that a whole pass may use, for a backstop set once by the kernel."""
        return self.start_s + self.bank_s + decisions * self.move_s


@dataclass(frozen=True)
class Noise:
    """The inaccuracy of a host's clocks.

    cpu: CPU time of the slowest round of equal work over that of the median round, less 1; stop_s: the most CPU seconds that a busy process seemed to
    use after it had been stopped; late_s: the longest delay in seconds with which the host woke us.
    """

    cpu: float = 0.0
    stop_s: float = 0.0
    late_s: float = 0.0

    def upper_s(self, budget_s: float) -> float:
        """Return the most CPU seconds that this host may show for an answer that takes at most `budget_s`."""
        return budget_s * (1.0 + self.cpu) + LEAST_NOISE_S


QUIET = Noise()  # An exact host.


class Clock:
    """The time that one bot has left in one pass.

    The limits are soft: an answer that exceeds them by no more than the error of this host's clocks is a strike. A pass may have `STRIKES` strikes.
    """

    __slots__ = ("bank", "bank_s", "left_s", "limits", "move_s", "noise", "pass_s", "strikes", "upper_s", "wall_s")

    def __init__(self, limits: Limits, noise: Noise = QUIET, pass_s: float = math.inf) -> None:
        """pass_s: wall-clock seconds that all answers of the pass may take together."""
        self.limits = limits
        self.pass_s = self.left_s = pass_s
        self.move_s = limits.move_s
        self.noise = noise
        self.strikes = 0
        self._fill(limits.bank_s)

    def _fill(self, bank_s: float) -> None:
        """Set the bank and the values derived from it, which every request uses and which seldom change."""
        self.bank_s = bank_s
        self.bank = f"{bank_s:.3f}"  # The bank as it is sent to the bot.
        self.upper_s = self.noise.upper_s(self.move_s + bank_s)  # CPU seconds after which an answer is certainly late.
        self.wall_s = min(self.limits.wall_s(self.move_s + bank_s), self.left_s)

    def wait(self, wall_s: float) -> None:
        """Deduct the wall-clock time of an answer from what the pass has left."""
        self.left_s -= wall_s
        if self.left_s < self.wall_s:
            self.wall_s = max(0.0, self.left_s)

    def spend(self, cpu_s: float) -> None:
        """Count the CPU time of an answer. Raise Fault: timeout."""
        if cpu_s > self.move_s + self.bank_s:
            self.strikes += 1
            if self.strikes > STRIKES:
                raise Fault(
                    "timeout",
                    f"used {cpu_s:.3f} s of CPU for one answer (limit {self.move_s + self.bank_s:.3f} s); {STRIKES} answers before it were late by as"
                    " little and were accepted, because the clock of this host may be that inaccurate",
                )
        self.book(cpu_s)

    def book(self, cpu_s: float) -> None:
        """Deduct the time beyond `move_s` from the bank."""
        if cpu_s > self.move_s:
            self._fill(max(0.0, self.bank_s - (cpu_s - self.move_s)))
