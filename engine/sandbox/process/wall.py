"""The wall-clock cap of an answer, fair to a bot on a busy machine."""

from __future__ import annotations

from engine.sandbox.errors import SandboxError
from engine.sandbox.process import watch

_LATE_S = 2 * watch.SAMPLE_S  # between two looks: this worker was kept from looking
_TOO_LONG = 10  # times the cap, and at least ...
_AT_LEAST_S = 60.0


class Wall:
    """How much of the cap is left.

    The clock does not run:

    * while this worker itself was not running (stopped, or without a processor): a look that comes late counts as one in time;
    * while the bot wanted to compute and waited for a processor, by the kernel's account;
    * while the kernel held it, as it does with who reads a file that has to come from a disk: for one more cap at most, since a bot
      can read files in order to wait.

    So a bot is cut off that sleeps or waits for nothing, and none for the load of the machine.
    """

    def __init__(self, pid: int, cap_s: float, began: float) -> None:
        """began: of the monotonic clock."""
        self._pid = pid
        self._cap_s = cap_s
        self._began = self._seen = began
        self._counted = 0.0
        self._waits: watch.Waits | None = None

    def left(self, now: float) -> float:
        """Seconds. Raises SandboxError once the machine has kept the bot waiting beyond all measure."""
        step = now - self._seen
        if step >= _LATE_S:
            step = watch.SAMPLE_S
        self._counted += step
        self._seen = now
        if self._waits is None:
            self._waits = watch.Waits(self._pid)  # not before the first look: quick answers need none
        else:
            self._waits.look(step)
        left = self._cap_s - self._counted
        if left > 0:
            return left
        left += self._waits.seconds() + self.held_s()
        elapsed = now - self._began
        if left > 0 and elapsed > max(_TOO_LONG * self._cap_s, _AT_LEAST_S):
            raise SandboxError(
                f"this machine is overloaded: a bot waited for a processor for most of {elapsed:.0f} s. "
                "Run fewer workers here, or nothing beside them."
            )
        return left

    def skip(self, seconds: float) -> None:
        """Leave out a time in which the bot was frozen."""
        self._began += seconds
        self._seen += seconds

    def held_s(self) -> float:
        """Seconds in which the kernel held it, as far as they lengthen the cap.

        The bank of a pass counts them all the same (`counted`): a bot can bring them about.
        """
        return 0.0 if self._waits is None else min(self._waits.disk_s(), self._cap_s)

    def counted(self, now: float) -> float:
        """Seconds of it that count, by the same rules."""
        if self._waits is None:  # answered before the first look
            return min(now - self._began, watch.SAMPLE_S)
        self._counted += min(now - self._seen, watch.SAMPLE_S)
        self._seen = now
        return max(0.0, self._counted - self._waits.seconds())
