"""A running bot: send it a line, read a line, and check that it does nothing in between."""

from __future__ import annotations

import contextlib
import math
import os
import select
import signal
import time
from collections.abc import Callable, Collection
from functools import partial
from time import monotonic
from typing import NamedTuple

from engine.sandbox.cgroups.attest import Expectation, attest
from engine.sandbox.errors import BotFault, BrokenOff, SandboxError, TurnStopped
from engine.sandbox.policy import MIB, Policy
from engine.sandbox.process import watch
from engine.sandbox.process.death import End, fault
from engine.sandbox.process.spawn import HANDSHAKE_S, Started
from engine.sandbox.process.tail import Tail
from engine.sandbox.process.waiting import readable
from engine.sandbox.process.wall import Wall

PONDERING_S = 0.002  # CPU time that a frozen bot may seem to use because of the kernel's accounting.
_SURELY_PONDERING_S = 0.05  # CPU time of a frozen bot that accounting cannot explain.
# Number of measurements between the two that a process may have: a host that is suspended while it stops a bot causes
# them.
_DOUBTS = 2
_CHUNK = 1 << 16
_IDLE_S = 0.05  # CPU seconds of a bot that has done next to nothing.
_SILENT_S = 2.0  # Wall time without an answer after which a bot that waits for its next line is not waited for.
_GRACE_S = 0.3  # Time between the end of a bot's output and the end of the bot.
_KILL_S = 10.0
_STOP_S = 10.0
_LAST_STDERR = MIB
_SAMPLE_S = watch.SAMPLE_S
_SAMPLE_MS = int(_SAMPLE_S * 1000)
_QUICK_SAMPLE_S = 0.25  # Time between two samples of a bot that answers at once: each costs as much as five answers.
_NOT_FLUSHED = "; it wrote nothing: stdout is not flushed (fflush(stdout) in C, Flush in Go), or it expects more input"
_NOTHING = memoryview(b"")
PASS = b"\n"  # The byte that opens the gate of a runtime.


class Reply(NamedTuple):
    """One line of a bot, without its newline, and its cost.

    cpu_s: CPU seconds since its last line, or since the start of the process, without those used while it was frozen; wall_s: seconds
    since the request.
    """

    line: bytes
    cpu_s: float
    wall_s: float


# Calling this takes a third of the time of calling the class.
_reply: Callable[[tuple[bytes, float, float]], Reply] = partial(tuple.__new__, Reply)


class BotProcess:
    """One confined process. Not for use by two threads at once. Use it as a context manager, or call ``close``.

    Faults of the bot raise BotFault; after it only ``stderr``, ``cpu`` and ``close`` make sense. Failures of the platform raise SandboxError.
    """

    def __init__(
        self,
        started: Started,
        policy: Policy,
        expected: Expectation,
        *,
        gated: bool,
        on_close: Callable[[], None],
    ) -> None:
        """Check a process that has become the bot. Raise BrokenOff if it is not confined as expected. gated: True if its runtime has a gate."""
        self.policy = policy
        self._longest = policy.line_bytes
        self.pid = started.pid
        self.user = expected.user
        self._child = started.child
        self._expected = expected
        self._on_close = on_close
        self._stdin, self._stdout, self._stderr = started.stdin, started.stdout, started.stderr
        self._handle = started.child.bot
        self._open = True
        self._unread = bytearray()
        self._unsent = _NOTHING
        self._kept = Tail(policy.stderr_kib * 1024)
        self._end: End | None = None
        self._cpu_s = 0.0
        self._clock = watch.clock(self.pid)
        self._tasks = -1
        self._frozen = False
        self._frozen_at = 0.0
        self._loading = self._held = gated
        self._doubts = 0
        self.pondering_s = PONDERING_S
        # Wall seconds counted for the last answer, without those in which this worker or the bot had no processor.
        self.counted_s = 0.0
        # Called during long turns; if it returns True, the turn ends with TurnStopped.
        self.stop: Callable[[], bool] | None = None
        # Called at the same times; a function that it returns runs while the bot is frozen and its clocks stand still.
        self.interlude: Callable[[], Callable[[], None] | None] | None = None
        self.interlude_s = 0.0  # Seconds that interludes took during the last answer.
        self._looked = monotonic()
        self._poll = select.poll()
        self._poll.register(self._stdout, select.POLLIN)
        self._poll.register(self._stderr, select.POLLIN)
        # The handle reports the bot's end even if another process holds its streams open.
        self._poll.register(self._handle, select.POLLIN)
        self._ready = self._poll.poll
        self._answered = [(self._stdout, select.POLLIN)]  # The poll result when an answer is there and nothing else.
        self._kills_before = watch.memory_kills()
        try:
            self._tasks = watch.open_tasks(self.pid)
            self.attest()
        except (OSError, SandboxError) as error:
            if not self._is_ending():
                self.close()
                stderr = self._kept.value().decode(errors="replace").strip()
                raise BrokenOff(f"{error}" + (f" Its last words: {stderr}" if stderr else "")) from error
            # The state of a process that is ending means nothing. The next request finds out how it ended.
            if not self._reap(_KILL_S, kill=False):
                self._reap(_KILL_S, kill=True, headless=True)
        self.start_cpu_s = self._mark = self.cpu()

    def __enter__(self) -> BotProcess:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # -- Observation ------------------------------------------------------------------------------------------

    def attest(self) -> None:
        """Check every restriction from outside. Raise SandboxError."""
        attest(self.pid, self._expected)

    def cpu(self) -> float:
        """Return the CPU seconds of all the bot's threads since its process began; after its end, the last known value."""
        if self._end is None:
            try:  # noqa: SIM105 - called twice a decision, and contextlib costs as much as the kernel's answer
                self._cpu_s = time.clock_gettime(self._clock)
            except OSError:
                pass  # The bot has just ended.
        return self._cpu_s

    def stderr(self) -> bytes:
        """Return the stored error output: beginning and end, at most policy.stderr_kib."""
        if self._stderr >= 0:
            self._drain_stderr(_LAST_STDERR)
        return self._kept.value()

    # -- Start --------------------------------------------------------------------------------------------------

    def stand(self) -> None:
        """Wait until the runtime is loaded and the bot waits at its gate, before the first instruction of its own code.

        Do nothing if there is no gate, or the bot has passed it. Raise BotFault if the bot ended on the way, SandboxError if this takes too long.
        """
        if not self._loading:
            return
        # Nearly all runtimes are loaded before the first sample.
        wall, left_s = Wall(self.pid, HANDSHAKE_S, monotonic()), _SAMPLE_S
        while not self._unread:
            if left_s <= 0:
                raise SandboxError(
                    f"a runtime was not loaded after {HANDSHAKE_S:g} s; the host is overloaded, run fewer workers"
                )
            self._wait(min(left_s, _SAMPLE_S))
            self._read()
            if not self._unread:
                left_s = wall.remaining_s(monotonic())
        self._unread.clear()
        self._loading = False

    def begin(self) -> None:
        """Let the bot pass its gate, if it waits at one. The first request does this, too. Raise what ``stand`` raises."""
        if not self._held:
            return
        self.stand()
        self._held = False
        with contextlib.suppress(ConnectionError):  # The next request finds out how the bot ended.
            os.write(self._stdin, PASS)

    # -- Conversation -------------------------------------------------------------------------------------------

    def ask(self, data: bytes, cpu_budget_s: float, wall_cap_s: float, max_bytes: int | None = None) -> Reply:
        """Send a request and return the answer; the bot is frozen afterwards.

        The CPU time since the bot's last answer must stay within the budget, the wall time within the cap. Wall time counts only while this worker
        could observe the bot and the bot had a processor. max_bytes: longest line, without its newline (default: the policy's). Raise BotFault;
        SandboxError if the machine is too busy to measure.
        """
        longest = self._longest if max_bytes is None else max_bytes
        self.begin()
        if self._unread or self._ready(0):
            self._refuse_unsolicited()
        self.counted_s = _SAMPLE_S  # A slower answer replaces this value.
        self.interlude_s = 0.0
        began = monotonic()
        try:
            written = os.write(self._stdin, data)
        except OSError:
            written = 0  # The pipe is full or closed; `_write` finds out which.
        if written != len(data):
            self._unsent = memoryview(data)[written:]
            self._write()
        if self._frozen:
            self._wake()
        # Nearly every answer arrives at once and in one piece; anything else goes through `_unread`.
        line = None
        if (
            self._ready(_SAMPLE_MS if cpu_budget_s > _SAMPLE_S < wall_cap_s else 1) == self._answered
            and not self._unsent
        ):
            line = os.read(self._stdout, _CHUNK)
            if line.find(b"\n") == (end := len(line) - 1) <= longest:
                line = line[:end]
            else:
                self._unread += line
                line = None
        if line is None:
            line = self._slow_line(longest, cpu_budget_s, wall_cap_s, began)
            began += self.interlude_s
        used = self._rest() - self._mark
        if used > cpu_budget_s:
            raise _over(used, cpu_budget_s)
        self._mark += used
        now = monotonic()
        if now - self._looked >= _QUICK_SAMPLE_S:
            self._look(now)
        return _reply((line, used, now - began))

    def send(self, data: bytes, deadline: float = 1.0) -> None:
        """Write a request. ``read_line`` writes the rest of a request that does not fit into a frozen bot's pipe.

        deadline: wall seconds within which a running bot must read the whole request. Raise BotFault: protocol for unsolicited output, disconnect,
        timeout, or the way in which the bot ended.
        """
        self.begin()
        self._refuse_unsolicited()
        self._unsent = memoryview(data)
        self._write()
        if self._unsent and not self._frozen:
            until = monotonic() + deadline
            while self._unsent:
                left_s = until - monotonic()
                if left_s <= 0:
                    raise BotFault("timeout", f"did not read its input within {deadline:g} s")
                self._wait(left_s)
                self._write()

    def read_line(self, cpu_budget_s: float, wall_cap_s: float, max_bytes: int | None = None) -> Reply:
        """Return the next line of a running bot, waiting like ``ask``; the bot is not frozen afterwards."""
        longest = self.policy.line_bytes if max_bytes is None else max_bytes
        self.begin()
        began = monotonic()
        line = self._slow_line(longest, cpu_budget_s, wall_cap_s, began)
        used = self.cpu() - self._mark
        self._mark += used
        return _reply((line, used, monotonic() - began))

    def _slow_line(self, longest: int, cpu_budget_s: float, wall_cap_s: float, began: float) -> bytes:
        searched = 0
        wall, silent_until = Wall(self.pid, wall_cap_s, began), began + _SILENT_S
        while True:
            at = self._unread.find(b"\n", searched)
            searched = len(self._unread)
            if (at if at >= 0 else searched) > longest:
                raise BotFault("output_flood", f"printed a line longer than {longest} bytes")
            used = self.cpu() - self._mark
            if used > cpu_budget_s:
                raise _over(used, cpu_budget_s, self._reading())
            if at >= 0:
                line = bytes(self._unread[:at])
                del self._unread[: at + 1]
                self.counted_s = wall.counted(monotonic())
                return line
            now = monotonic()
            left_s = wall.remaining_s(now)
            if left_s <= 0:
                raise BotFault("timeout", _late(wall_cap_s, used, wall.held_s()) + self._silence(used))
            if now >= silent_until:
                silent_until = now + _SILENT_S
                self._refuse_silence(used)
            self._heed_stop()
            if self.interlude is not None and (act := self.interlude()) is not None:
                wall.skip(self._do_meanwhile(act))
                continue
            if now - self._looked >= _SAMPLE_S:
                self._look(now)
            self._wait(min(left_s, cpu_budget_s - used, _SAMPLE_S))
            self._write()
            self._read()

    def _silence(self, used_s: float) -> str:
        """Return the likely cause if the bot has computed next to nothing and written no whole line."""
        if used_s > _IDLE_S:
            return ""
        if self._unread:
            return f"; it wrote {len(self._unread)} bytes without a newline at their end"
        return _NOT_FLUSHED

    def _heed_stop(self) -> None:
        if self.stop is not None and self.stop():
            raise TurnStopped

    def _reading(self) -> str:
        """Return what to say of a bot that used up its time while it was reading on."""
        return _NOT_FLUSHED if not self._unread and watch.reads_on(self.pid) else ""

    def _refuse_silence(self, used_s: float) -> None:
        """Raise BotFault if the bot has read all that was sent, and reads on without computing: then no answer can come.

        On a busy machine, or after a standstill, a bot may not have run yet, or may have answered between two steps of this worker.
        """
        if used_s > _IDLE_S or self._unsent or watch.unread(self._stdin) or not watch.reads_input(self.pid):
            return
        before = len(self._unread)
        self._read()
        if len(self._unread) == before:
            raise BotFault(
                "timeout",
                f"no answer: it waits for its next line ({used_s:.2f} s of CPU used)" + self._silence(used_s),
            )

    def _do_meanwhile(self, act: Callable[[], None]) -> float:
        """Run a function while the bot is frozen in the middle of its turn. Return the wall seconds spent."""
        began = monotonic()
        self._rest()
        self._await_stop()
        act()
        self._wake()
        took = monotonic() - began
        self.interlude_s += took
        return took

    def pin(self, cores: Collection[int]) -> None:
        """Let all threads of the bot run on these cores. Do nothing if the bot has ended. Raise OSError if pinning is not allowed."""
        watch.pin(self._tasks, cores)

    # -- Freezing -----------------------------------------------------------------------------------------------

    def freeze(self) -> None:
        """Stop all threads of the bot and wait until they have stopped; before its start, at the gate. Do nothing if it is frozen or has ended.

        A process that has just begun may be busy in the kernel for milliseconds before it reacts to the stop.
        """
        if not self._frozen:
            self.stand()
            self._rest()
            self._await_stop()
            self._frozen_at = self.cpu()

    def thaw(self) -> None:
        """Let the bot continue. Raise BotFault("pondering") if it has used CPU time while frozen."""
        if self._frozen:
            self._wake()

    def _rest(self) -> float:
        """Freeze the bot. Return the CPU time that it has used in total."""
        self._signal(signal.SIGSTOP)
        self._frozen = True
        if watch.several(self._tasks):
            self._await_stop()
        self._frozen_at = now = self.cpu()
        return now

    def _wake(self) -> None:
        """Let the bot continue if it was frozen. CPU time that it used meanwhile is not counted."""
        if not self._frozen:
            return
        used = self.cpu() - self._frozen_at
        if used > self.pondering_s:
            self._doubts += 1
            if used > _SURELY_PONDERING_S or self._doubts > _DOUBTS:
                raise BotFault("pondering", f"used {used * 1e3:.1f} ms of CPU while it was frozen")
        self._mark += used
        self._frozen = False
        self._signal(signal.SIGCONT)

    def _await_stop(self) -> None:
        """Wait until every thread has stopped.

        A single thread stops before its next instruction. If there are several, the thread that passes the signal on may wait milliseconds for a busy
        core while the others continue. The signal is repeated, so that no thread can wake the others permanently.
        """
        began, waits = monotonic(), None
        while not watch.all_stopped(self.pid):
            if waits is None:
                waits = watch.Waits(self.pid)
            if monotonic() > began + _STOP_S:
                self._refuse_to_wait(waits.seconds())
            time.sleep(0.0001)
            self._signal(signal.SIGSTOP)

    def _refuse_to_wait(self, waited_s: float) -> None:
        """Raise the error for a bot that has not stopped in time. waited_s: how long other processes kept it from a processor."""
        if waited_s > _STOP_S / 2:
            raise SandboxError(f"process {self.pid} does not stop within {_STOP_S:g} s; run fewer workers here")
        if watch.held_by_kernel(self.pid):
            raise BrokenOff(f"process {self.pid} does not stop within {_STOP_S:g} s; the kernel holds it")
        raise BotFault("pondering", f"did not stop within {_STOP_S:g} s")

    # -- End ----------------------------------------------------------------------------------------------------

    def close(self) -> None:
        """Kill and reap the bot and release everything. A second call does nothing. Raise SandboxError if the bot cannot be killed."""
        if not self._open:
            return
        self._reap(_KILL_S, kill=True)
        self._open = False
        self._drain_stderr(_LAST_STDERR)
        for fd in (self._stdin, self._stdout, self._stderr, self._tasks):
            if fd >= 0:
                os.close(fd)
        self._stdin = self._stdout = self._stderr = self._handle = self._tasks = -1
        self._child.close()
        self._on_close()

    def _signal(self, number: int) -> None:
        try:  # noqa: SIM105 - as in `cpu`
            signal.pidfd_send_signal(self._handle, number)
        except OSError:
            pass  # The bot has ended, or never had a handle.

    def _has_ended(self) -> bool:
        return self._end is not None or bool(readable([self._handle], 0))

    def _is_ending(self) -> bool:
        """Return True if the bot has ended, or if its first thread is about to end."""
        return self._has_ended() or watch.ending(self.pid)

    def _reap(self, timeout_s: float, *, kill: bool, headless: bool = False) -> bool:
        """Collect the process, killing it first if `kill`. Return True if it has ended."""
        if self._end is not None:
            return True
        if kill:
            self.cpu()
            self._child.kill()
        ended = self._child.collect(timeout_s)
        if ended is None:
            if kill:
                raise BrokenOff(f"process {self.pid} does not die of SIGKILL; the kernel holds it. Restart the host.")
            return False
        group = self._expected.group
        counted = group.cpu_s() if group else 0.0  # The group's time includes processes that nobody waited for.
        self._cpu_s = max(self._cpu_s, ended.cpu_s, counted)
        self._drain_stderr(_LAST_STDERR)
        self._end = End(
            os.waitstatus_to_exitcode(ended.status),
            ended.peak_kib,
            self._cpu_s,
            self._kept.value(),
            group_was_full=group is not None and group.out_of_memory(),
            host_was_full=watch.memory_kills() > self._kills_before,
            lost_with=ended.lost_with,
            headless=headless,
        )
        return True

    def _fault_of_end(self, without: BotFault) -> BotFault:
        """Return the fault of a bot whose pipe is closed: the way in which it died, or ``without`` if it is still alive."""
        self._reap(_KILL_S if watch.ending(self.pid) else _GRACE_S, kill=False)
        return fault(self._end, self.policy) if self._end else without

    # -- Poll loop ----------------------------------------------------------------------------------------------

    def _wait(self, seconds: float) -> None:
        """Wait until the bot can be read from (or written to, if input is left), at most ``seconds``; drain stderr."""
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
                if not self._has_ended():
                    return
                raise self._fault_of_end(BotFault("disconnect", "closed its input")) from None
            except ConnectionError:  # A pipe breaks; a socket may also be reset.
                self._unsent = _NOTHING
                raise self._fault_of_end(BotFault("disconnect", "closed its input")) from None

    def _read(self) -> None:
        ended = self._has_ended()  # Check this before reading, so that all of its output is there.
        try:
            data = os.read(self._stdout, _CHUNK)
        except BlockingIOError:
            if not ended:
                return
            data = b""
        if not data:
            raise self._fault_of_end(BotFault("disconnect", "closed its output"))
        self._unread += data

    def _refuse_unsolicited(self) -> None:
        if not self._unread:
            self._read()
        if self._unread:
            excerpt = bytes(self._unread[:80]).decode(errors="backslashreplace")
            raise BotFault("protocol", f"printed {excerpt!r} although nothing was asked")

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
        self._looked = now
        use = watch.look(self.pid)
        # When a program ends as a whole, its first thread may be gone some time before the others.
        if use.headless and self._reap(_GRACE_S, kill=False) and self._end:
            raise fault(self._end, self.policy)
        excess = watch.overuse(use, self.policy)
        if excess:
            raise excess


def _late(cap_s: float, used_s: float, held_s: float) -> str:
    kernel_time = f", {held_s:.2f} s in the kernel, such as waiting for a disk, not counted" if held_s else ""
    return f"no answer within {round(cap_s, 2):g} s of wall time ({used_s:.2f} s of CPU used{kernel_time})"


def _over(used_s: float, budget_s: float, why: str = "") -> BotFault:
    return BotFault("timeout", f"used {used_s:.2f} s of CPU for one answer {limit_text(budget_s)}{why}")


def limit_text(seconds: float) -> str:
    """Return a limit as people say it: "(limit 3.5 s)"."""
    return f"(limit {round(seconds, 2):g} s)"
