"""A bot below a wrapper of ours that stands still while the bot lives.

A wrapper that collects its child can tell no more of its end than a byte, in which `exit(137)` and a SIGKILL are one. So it is stopped before
the bot's first instruction: whatever ends the bot, nobody collects it until its own status has been read.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal

from engine.sandbox.process import watch
from engine.sandbox.process.spawn import Child, Ended

_END_S = 1.0  # for a wrapper that is let go, to collect its bot and to end


class WrappedChild(Child):
    """A wrapper, as the nursery knows it, and the bot below it."""

    def __init__(self, wrapper: Child, pid: int, word: int) -> None:
        """Stop the wrapper of a process that waits to become the bot, and take over its descriptors. Raises OSError where that has ended.

        word: what the wrapper says of the bot's end can be read there.
        """
        super().__init__(wrapper.pid, wrapper.handle, wrapper.end)
        # Pending before the bot can begin, it stops the wrapper before its next instruction, whenever that comes.
        self.signal(signal.SIGSTOP)
        self._bot = os.pidfd_open(pid)
        self._bot_pid = pid
        self._word = os.dup(word)
        self._status: int | None = None
        self._ended: Ended | None = None

    @property
    def bot(self) -> int:
        """A handle of the bot."""
        return self._bot

    def kill(self) -> None:
        """End the bot; its wrapper then ends by itself. A bot whose wrapper went first would become a zombie of process 1."""
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._bot, signal.SIGKILL)

    def collect(self, timeout_s: float) -> Ended | None:
        """How the bot ended, or None if it has not within the time."""
        if self._ended is None and select.select([self._bot, self.end], [], [], timeout_s)[0]:
            self._ended = self._collect(timeout_s)
        return self._ended

    def _collect(self, timeout_s: float) -> Ended | None:
        if self._status is None:
            try:
                self._status = watch.exit_status(self._bot_pid)
            except OSError:  # the wrapper has been ended, and the bot with it
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
        return Ended(self._status, wrapper.peak_kib, wrapper.cpu_s, lost_with)

    def last_word(self) -> bytes:
        """What the wrapper of a bot that has been collected said of its end."""
        said = b""
        while piece := os.read(self._word, 4096):  # until it closed it by ending
            said += piece
        return said

    def close(self) -> None:
        """Give the descriptors back."""
        os.close(self._bot)
        os.close(self._word)
        super().close()
