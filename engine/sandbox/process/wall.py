"""The wall-clock cap of an answer, fair to a bot on a busy machine."""

from __future__ import annotations

from engine.sandbox.errors import SandboxError
from engine.sandbox.process import watch

_LATE_S = 2 * watch.SAMPLE_S  # A longer time between two samples means that this worker could not run.
_TOO_LONG = 10  # A multiple of the cap, and at least _AT_LEAST_S.
_AT_LEAST_S = 60.0


class Wall:
    """The remaining time under the cap.

    The clock does not run:

    * while this worker itself could not run (stopped, or without a processor): a late look counts like a punctual one;
    * while the bot was ready to compute and waited for a processor, by the kernel's account;
    * while the kernel held it, as when it reads a file from a disk: for at most one more cap, because a bot can read files in order to
      wait.

    So the cap stops a bot that sleeps or waits for nothing, but never a bot that a busy machine has delayed.
    """

    def __init__(self, pid: int, cap_s: float, began: float) -> None:
        """began: when the wait began, by the monotonic clock."""
        self._pid = pid
        self._cap_s = cap_s
        self._began = self._seen = began
        self._counted = 0.0
        self._waits: watch.Waits | None = None

    def remaining_s(self, now: float) -> float:
        """Return the remaining seconds. Raise SandboxError if the machine has kept the bot waiting far too long."""
        step = now - self._seen
        if step >= _LATE_S:
            step = watch.SAMPLE_S
        self._counted += step
        self._seen = now
        if self._waits is None:
            self._waits = watch.Waits(self._pid)  # Created at the first look, because quick answers do not need it.
        else:
            self._waits.look(step)
        left_s = self._cap_s - self._counted
        if left_s > 0:
            return left_s
        left_s += self._waits.seconds() + self.held_s()
        elapsed = now - self._began
        if left_s > 0 and elapsed > max(_TOO_LONG * self._cap_s, _AT_LEAST_S):
            raise SandboxError(
                f"this machine is overloaded: a bot waited for a processor for most of {elapsed:.0f} s. "
                "Run fewer workers here, and no other programs."
            )
        return left_s

    def skip(self, seconds: float) -> None:
        """Exclude a time in which the bot was frozen."""
        self._began += seconds
        self._seen += seconds

    def held_s(self) -> float:
        """Return the seconds for which the kernel held the bot, as far as they extend the cap.

        The bank of a pass counts them nevertheless (`counted`), because a bot can cause them.
        """
        return 0.0 if self._waits is None else min(self._waits.disk_s(), self._cap_s)

    def counted(self, now: float) -> float:
        """Return the wall seconds that count so far, by the rules above."""
        if self._waits is None:  # The bot answered before the first look.
            return min(now - self._began, watch.SAMPLE_S)
        self._counted += min(now - self._seen, watch.SAMPLE_S)
        self._seen = now
        return max(0.0, self._counted - self._waits.seconds())
