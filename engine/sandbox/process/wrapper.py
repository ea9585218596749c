"""A bot below a wrapper of ours that is stopped while the bot lives.

A wrapper that collects its child can report only one byte of the child's end, in which `exit(137)` and a SIGKILL look the same. So the wrapper is
stopped before the bot's first instruction: however the bot ends, nobody collects it until its own status has been read.
"""

from __future__ import annotations

import contextlib
import os
import signal

from engine.sandbox.process import watch
from engine.sandbox.process.spawn import ChildProcess, ExitReport
from engine.sandbox.process.waiting import readable

_END_S = 1.0  # Time in which a continued wrapper collects its bot and ends.


class WrappedChild(ChildProcess):
    """A wrapper, as the forkserver knows it, and the bot below it."""

    def __init__(self, wrapper: ChildProcess, pid: int, word: int) -> None:
        """Stop the wrapper of a process that waits to become the bot, and take over its descriptors. Raise OSError if the process has ended.

        word: the descriptor on which the wrapper reports the bot's end.
        """
        super().__init__(wrapper.pid, wrapper.handle, wrapper.end)
        # The signal is pending before the bot can begin, so it stops the wrapper before its next instruction.
        self.signal(signal.SIGSTOP)
        self._bot = os.pidfd_open(pid)
        self._bot_pid = pid
        self._word = os.dup(word)
        self._status: int | None = None
        self._ended: ExitReport | None = None

    @property
    def bot(self) -> int:
        """A handle of the bot."""
        return self._bot

    def kill(self) -> None:
        """Kill the bot; its wrapper then ends by itself. If the wrapper ended first, the bot would become a zombie under process 1."""
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._bot, signal.SIGKILL)

    def collect(self, timeout_s: float) -> ExitReport | None:
        """Return how the bot ended, or None if it still runs after `timeout_s`."""
        if self._ended is None and readable([self._bot, self.end], timeout_s):
            self._ended = self._collect(timeout_s)
        return self._ended

    def _collect(self, timeout_s: float) -> ExitReport | None:
        if self._status is None:
            try:
                self._status = watch.exit_status(self._bot_pid)
            except OSError:  # The wrapper was killed, and the bot with it.
                self._status = int(signal.SIGKILL)
        self.signal(signal.SIGCONT)
        wrapper, forced = super().collect(_END_S), False
        if wrapper is None:
            forced = True
            self.signal(signal.SIGKILL)
            wrapper = super().collect(timeout_s)
        if wrapper is None:
            return None
        lost_with = wrapper.lost_with
        if not forced and os.WIFSIGNALED(wrapper.status):
            lost_with = lost_with or "the program between worker and bot"
        return ExitReport(self._status, wrapper.peak_kib, wrapper.cpu_s, lost_with)

    def last_word(self) -> bytes:
        """Return what the wrapper reported about the bot's end. Call it after `collect`."""
        output = b""
        while piece := os.read(self._word, 4096):  # Until the wrapper closes it by ending.
            output += piece
        return output

    def close(self) -> None:
        """Close the descriptors."""
        os.close(self._bot)
        os.close(self._word)
        super().close()
