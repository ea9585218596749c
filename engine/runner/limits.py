"""How much a bot may use, and its clock.

The clock counts the CPU time of the bot while it is asked. Each decision has `move_s`; what a decision takes beyond that comes out of a
bank of `bank_s` that lasts for the whole pass. A wall-clock cap ends a bot that sleeps or waits.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace

from engine.runner.faults import Fault

STRIKES = 3  # answers of a pass that may be late by no more than the host's own noise
LEAST_NOISE_S = 0.005  # of CPU time: what any host may add to any decision
LENIENT = 2.0  # times the limits of a match, of a run that is no race


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
        """The limits that a bot is told."""
        return {"start_s": self.start_s, "move_s": self.move_s, "bank_s": self.bank_s, "memory_mb": self.memory_mb}

    def wall_s(self, cpu_s: float) -> float:
        """The wall-clock cap that goes with a CPU budget."""
        return self.wall_factor * cpu_s + self.wall_extra_s

    def lenient(self) -> Limits:
        """Those of a run that is no race and may share its machine: only what it answers counts."""
        start_s, move_s, bank_s = (LENIENT * seconds for seconds in (self.start_s, self.move_s, self.bank_s))
        return replace(self, start_s=start_s, move_s=move_s, bank_s=bank_s)

    def total_cpu_s(self, decisions: int) -> float:
        """What a whole pass may use at most, for a backstop set once by the kernel."""
        return self.start_s + self.bank_s + decisions * self.move_s


@dataclass(frozen=True)
class Noise:
    """How far the clocks of a host may be wrong.

    cpu: by which share more CPU time than in the median the same work took in the slowest round; stop_s: most CPU seconds that a busy process
    seemed to use after it had been stopped; late_s: by how many seconds the host woke us too late at worst.
    """

    cpu: float = 0.0
    stop_s: float = 0.0
    late_s: float = 0.0

    def upper_s(self, budget_s: float) -> float:
        """The CPU seconds up to which an answer that should take `budget_s` at most may be the host's doing."""
        return budget_s * (1.0 + self.cpu) + LEAST_NOISE_S


QUIET = Noise()  # of a host that is exact


class Clock:
    """The time that one bot has left in one pass.

    The limits are soft: what an answer takes beyond them, within what this host's clocks may be wrong by, is a strike. `STRIKES` of them in a
    pass are passed over.
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
        """Set the bank, and what follows from it; kept, because every request asks for it and it changes seldom."""
        self.bank_s = bank_s
        self.bank = f"{bank_s:.3f}"  # as the bot is told
        self.upper_s = self.noise.upper_s(self.move_s + bank_s)  # CPU seconds after which an answer is certainly late
        self.wall_s = min(self.limits.wall_s(self.move_s + bank_s), self.left_s)

    def wait(self, wall_s: float) -> None:
        """An answer took this long by the wall clock: it goes off what the pass has left."""
        self.left_s -= wall_s
        if self.left_s < self.wall_s:
            self.wall_s = max(0.0, self.left_s)

    def spend(self, cpu_s: float) -> None:
        """An answer took this long. Raises Fault: timeout."""
        if cpu_s > self.move_s + self.bank_s:
            self.strikes += 1
            if self.strikes > STRIKES:
                raise Fault(
                    "timeout",
                    f"used {cpu_s:.3f} s of CPU for one answer (limit {self.move_s + self.bank_s:.3f} s); {STRIKES} answers before it were late by as"
                    " little and were let pass, since the clock of this host may be wrong by so much",
                )
        self.book(cpu_s)

    def book(self, cpu_s: float) -> None:
        """Take what is beyond the move from the bank."""
        if cpu_s > self.move_s:
            self._fill(max(0.0, self.bank_s - (cpu_s - self.move_s)))
