"""A running bot: ask it a line, read a line, and see that it does nothing in between."""

from __future__ import annotations

import contextlib
import math
import os
import select
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass

from . import watch
from .attest import Expectation, attest
from .death import End, fault
from .errors import BotFault, SandboxError
from .policy import MIB, Policy
from .spawn import Started
from .tail import Tail

PONDERING_S = 0.002  # CPU time a frozen bot may seem to use: the kernel's accounting, not thinking
_CHUNK = 1 << 16
_GRACE_S = 0.3  # between the end of a bot's output and the end of its process
_KILL_S = 10.0
_WRAPPER_S = 1.0
_STOP_S = 10.0
_LAST_STDERR = MIB


@dataclass(frozen=True, slots=True)
class Reply:
    """One line of a bot, without its newline, and what it took: CPU and wall seconds since ``read_line`` began."""

    line: bytes
    cpu_s: float
    wall_s: float


class BotProcess:
    """One confined process. Not for use by two threads at once. Use as a context manager, or call ``close``.

    Faults of the bot are raised as BotFault, after which only ``stderr``, ``cpu`` and ``close`` make sense; faults of
    ours as SandboxError.
    """

    def __init__(
        self, started: Started, policy: Policy, expected: Expectation, *, wrapped: bool, on_close: Callable[[], None]
    ) -> None:
        """wrapped: another program of ours stands between (namespaces), whose exit status tells the bot's."""
        self.policy = policy
        self.pid = started.pid
        self.user = expected.user
        self._child = started.child
        self._expected = expected
        self._wrapped = wrapped
        self._on_close = on_close
        self._stdin, self._stdout, self._stderr = started.stdin, started.stdout, started.stderr
        self._handle = -1
        self._open = True
        self._unread = bytearray()
        self._unsent = memoryview(b"")
        self._kept = Tail(policy.stderr_kib * 1024)
        self._end: End | None = None
        self._cpu_s = 0.0
        self._frozen = False
        self._frozen_at = 0.0
        self._next_look = 0.0
        self._poll = select.poll()
        self._poll.register(self._stdout, select.POLLIN)
        self._poll.register(self._stderr, select.POLLIN)
        try:
            self._handle = os.pidfd_open(self.pid)
            self.attest()
        except ProcessLookupError as error:
            # Nothing is left that could do harm. The bot's own end is found when it is asked; the wrapper's is ours.
            self._reap(_GRACE_S, kill=True)
            said = self.stderr().decode(errors="replace")
            if wrapped and said.startswith("bwrap: "):
                self.close()
                raise SandboxError(f"bubblewrap could not start the bot: {said}") from error
        except (OSError, SandboxError) as error:
            self.close()
            said = self._kept.value().decode(errors="replace").strip()
            raise SandboxError(f"{error}" + (f" Its last words: {said}" if said else "")) from error
        self.start_cpu_s = self.cpu()

    def __enter__(self) -> BotProcess:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # -- looking ------------------------------------------------------------------------------------------------

    def attest(self) -> None:
        """Check every restriction from outside. Raises SandboxError."""
        attest(self.pid, self._expected)

    def cpu(self) -> float:
        """CPU seconds of all its threads since the process began; the last known value once it has ended."""
        if self._end is None:
            with contextlib.suppress(OSError):
                self._cpu_s = watch.cpu_seconds(self.pid)
        return self._cpu_s

    def stderr(self) -> bytes:
        """What is kept of its error output: beginning and end, at most policy.stderr_kib."""
        if self._stderr >= 0:
            self._drain_stderr(_LAST_STDERR)
        return self._kept.value()

    # -- talking ------------------------------------------------------------------------------------------------

    def send(self, data: bytes, deadline: float = 1.0) -> None:
        """Write a request. What a frozen bot's pipe cannot take waits for ``read_line``.

        deadline: wall seconds within which a running bot must take it all.
        Raises BotFault: protocol for output that nobody asked for, disconnect, timeout, or how it ended.
        """
        self._refuse_unsolicited()
        self._unsent = memoryview(data)
        self._write()
        if self._unsent and not self._frozen:
            until = time.monotonic() + deadline
            while self._unsent:
                left = until - time.monotonic()
                if left <= 0:
                    raise BotFault("timeout", f"did not read its input within {deadline:g} s")
                self._wait(left)
                self._write()

    def read_line(self, cpu_budget_s: float, wall_cap_s: float, max_bytes: int | None = None) -> Reply:
        """The next line, while its CPU time from now stays within the budget and the wall time within the cap.

        max_bytes: longest line, without its newline (default: the policy's). Raises BotFault.
        """
        longest = self.policy.line_bytes if max_bytes is None else max_bytes
        began, cpu_began = time.monotonic(), self.cpu()
        searched = 0
        while True:
            at = self._unread.find(b"\n", searched)
            searched = len(self._unread)
            if (at if at >= 0 else searched) > longest:
                raise BotFault("output_flood", f"printed a line longer than {longest} bytes")
            now, used = time.monotonic(), self.cpu() - cpu_began
            if used > cpu_budget_s:
                raise BotFault("timeout", f"used {used:.3f} s of CPU without finishing (limit {cpu_budget_s:.3f} s)")
            if at >= 0:
                line = bytes(self._unread[:at])
                del self._unread[: at + 1]
                return Reply(line, used, now - began)
            left = wall_cap_s - (now - began)
            if left <= 0:
                raise BotFault(
                    "timeout", f"no answer within {wall_cap_s:.3f} s of wall time ({used:.3f} s of CPU used)"
                )
            self._look(now)
            self._wait(min(left, cpu_budget_s - used, watch.SAMPLE_S))
            self._write()
            self._read()

    def ask(self, data: bytes, cpu_budget_s: float, wall_cap_s: float) -> Reply:
        """One request and its answer of a bot that is frozen before and afterwards."""
        self.send(data)
        self.thaw()
        reply = self.read_line(cpu_budget_s, wall_cap_s)
        self.freeze()
        return reply

    # -- freezing -----------------------------------------------------------------------------------------------

    def freeze(self) -> None:
        """Stop all its threads. Harmless when it is frozen or has ended."""
        if not self._frozen:
            self._signal(signal.SIGSTOP)
            self._frozen = True
            self._await_stop()
            self._frozen_at = self.cpu()

    def _await_stop(self) -> None:
        """Until every thread has stopped. One alone meets the stop before its next step; of several, the one that is to
        pass it on may wait for a busy core for milliseconds, in which the others go on computing."""
        try:
            if watch.threads(self.pid) < 2:
                return
        except OSError:
            return
        until = time.monotonic() + _STOP_S
        while not watch.all_stopped(self.pid):
            if time.monotonic() > until:
                raise SandboxError(f"process {self.pid} does not stop within {_STOP_S:g} s; run fewer workers here")
            time.sleep(0.0001)

    def thaw(self) -> None:
        """Let it go on. Raises BotFault("pondering") if it has used CPU time while frozen."""
        if self._frozen:
            used = self.cpu() - self._frozen_at
            if used > PONDERING_S:
                raise BotFault("pondering", f"used {used * 1e3:.1f} ms of CPU while it was not asked")
            self._frozen = False
            self._signal(signal.SIGCONT)

    # -- ending -------------------------------------------------------------------------------------------------

    def close(self) -> None:
        """Kill it, reap it, give everything back. Harmless when repeated. Raises SandboxError if it cannot be killed."""
        if not self._open:
            return
        self._reap(_KILL_S, kill=True)
        self._open = False
        self._drain_stderr(_LAST_STDERR)
        for fd in (self._stdin, self._stdout, self._stderr, self._handle):
            if fd >= 0:
                os.close(fd)
        self._stdin = self._stdout = self._stderr = self._handle = -1
        self._child.close()
        self._on_close()

    def _signal(self, number: int) -> None:
        with contextlib.suppress(OSError):  # it has ended, or never had a handle
            signal.pidfd_send_signal(self._handle, number)

    def _reap(self, timeout_s: float, *, kill: bool) -> bool:
        """Collect the child's end, killing it first if told. Returns whether it has ended."""
        if self._end is not None:
            return True
        ended = None
        if kill:
            self.cpu()
            self._signal(signal.SIGKILL)
            if self._wrapped:
                # The wrapper is left a moment to collect the bot and end by itself: a bot whose wrapper went first
                # would become a zombie of process 1, which in many containers never collects any.
                ended = self._child.collect(_WRAPPER_S)
            if ended is None:
                self._child.signal(signal.SIGKILL)
        ended = ended or self._child.collect(timeout_s)
        if ended is None:
            if kill:
                raise SandboxError(
                    f"process {self.pid} does not die of SIGKILL; the kernel holds it. Restart the host."
                )
            return False
        code = os.waitstatus_to_exitcode(ended.status)
        if self._wrapped and code > 128:
            code = 128 - code  # the wrapper reports a signal as 128 + its number
        self._cpu_s = max(self._cpu_s, ended.cpu_s)
        self._drain_stderr(_LAST_STDERR)
        self._end = End(code, ended.peak_kib, self._cpu_s, self._kept.value())
        return True

    def _lost(self, without: BotFault) -> BotFault:
        """The fault of a bot whose pipe has ended: how it died, or ``without`` if it lives on."""
        if self._reap(_GRACE_S, kill=False):
            assert self._end is not None
            return fault(self._end, self.policy)
        return without

    # -- the poll loop ------------------------------------------------------------------------------------------

    def _wait(self, seconds: float) -> None:
        """Until something can be read (or written, if anything waits to be), at most ``seconds``; drains stderr."""
        if self._unsent:
            self._poll.register(self._stdin, select.POLLOUT)
        try:
            ready = self._poll.poll(max(1, math.ceil(seconds * 1000)))
        finally:
            if self._unsent:
                self._poll.unregister(self._stdin)
        if any(fd == self._stderr for fd, _ in ready):
            self._drain_stderr(_CHUNK)

    def _write(self) -> None:
        while self._unsent:
            try:
                self._unsent = self._unsent[os.write(self._stdin, self._unsent) :]
            except BlockingIOError:
                return
            except BrokenPipeError:
                self._unsent = memoryview(b"")
                raise self._lost(BotFault("disconnect", "closed its input")) from None

    def _read(self) -> None:
        try:
            data = os.read(self._stdout, _CHUNK)
        except BlockingIOError:
            return
        if not data:
            raise self._lost(BotFault("disconnect", "closed its output"))
        self._unread += data

    def _refuse_unsolicited(self) -> None:
        if not self._unread:
            self._read()
        if self._unread:
            shown = bytes(self._unread[:80]).decode(errors="backslashreplace")
            raise BotFault("protocol", f"printed {shown!r} although nothing was asked")

    def _drain_stderr(self, most: int) -> None:
        while most > 0 and self._stderr >= 0:
            try:
                data = os.read(self._stderr, _CHUNK)
            except BlockingIOError:
                return
            if not data:
                self._poll.unregister(self._stderr)
                os.close(self._stderr)
                self._stderr = -1
                return
            self._kept.feed(data)
            most -= len(data)

    def _look(self, now: float) -> None:
        if now >= self._next_look:
            self._next_look = now + watch.SAMPLE_S
            excess = watch.overuse(watch.look(self.pid), self.policy)
            if excess:
                raise excess
