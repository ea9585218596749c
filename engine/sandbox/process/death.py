"""Determine why a bot's process ended: turn an exit status and other evidence into a typed fault.

A bot ran out of memory if its end is a failure and one of these holds:

* the last lines of its error output name a failed allocation, as Python, Node, Rust, Go and C++ programs print it;
* the kernel killed it for the memory of its control group;
* its peak memory, by the kernel's account, is at least 90% of the limit.

The platform is to blame only on evidence: the kernel reports that it killed processes for lack of memory while the bot ran, or a process of ours was
killed and took the bot with it. Everything else is the bot's fault, even an unexplained SIGKILL: bots would imitate any end that we excuse and cannot
distinguish.
"""

from __future__ import annotations

import re
import signal
from dataclasses import dataclass

from engine.sandbox.errors import BotFault, BrokenOff, SandboxError
from engine.sandbox.policy import KIB, MIB, Policy

_ALLOCATION_FAILED = re.compile(
    rb"^((numpy\._core\._exceptions\._Array)?MemoryError\b|.*\bstd::bad_alloc\b|.*JavaScript heap out of memory"
    rb"|.*(fatal error|runtime): .*out of memory|.*java\.lang\.OutOfMemoryError.*"
    rb"|.*memory allocation of \d+ bytes failed|.*: Cannot allocate memory|.*System\.OutOfMemoryException:)",
    re.MULTILINE,
)
_LAST_LINES = 4096
_NEAR_THE_LIMIT = 0.9


@dataclass(frozen=True)
class End:
    """The end of a process.

    code: exit status, or minus the signal; peak_kib: most resident memory, KiB; cpu_s: CPU seconds of its whole life; stderr: its stored error
    output; group_was_full: the kernel killed it at the memory limit of its control group; host_was_full: the kernel has killed processes for lack of
    memory since the bot began; lost_with: as in ``spawn.ExitReport``; headless: its first thread had ended while others continued, so we killed it.
    """

    code: int
    peak_kib: int
    cpu_s: float
    stderr: bytes
    group_was_full: bool = False
    host_was_full: bool = False
    lost_with: str = ""
    headless: bool = False

    @property
    def how(self) -> str:
        """The end in words for the bot's author: "exit status 3" or "signal SIGSEGV"."""
        if self.code >= 0:
            return f"exit status {self.code}"
        try:
            return f"signal {signal.Signals(-self.code).name}"
        except ValueError:
            return f"signal {-self.code}"


def out_of_memory(end: End, policy: Policy) -> str | None:
    """Return the evidence that the bot ended for lack of memory, or None."""
    if end.code == 0:
        return None
    if end.group_was_full:
        return "the kernel ended it at the limit of its control group"
    match = _ALLOCATION_FAILED.search(end.stderr[-_LAST_LINES:])
    if match:
        return match[0].decode(errors="replace")[:200]
    if end.peak_kib * KIB >= _NEAR_THE_LIMIT * policy.memory_bytes:
        return f"it held {end.peak_kib * KIB // MIB} MiB"
    return None


def fault(end: End, policy: Policy) -> BotFault:
    """Return the fault of a bot that ended too early. Raise SandboxError on evidence that it is not to blame."""
    if end.lost_with:
        raise SandboxError(f"{end.lost_with} was killed from outside, and the bot with it; see the kernel log (dmesg)")
    if end.headless:
        return BotFault("crash", "ended its first thread and continued without it")
    memory = out_of_memory(end, policy)
    if memory:
        return BotFault("memory", f"ended by {end.how}: {memory} (limit {policy.memory_mb} MiB)")
    if -end.code in (signal.SIGXCPU, signal.SIGKILL) and end.cpu_s >= policy.cpu_s:
        return BotFault("timeout", f"used {end.cpu_s:.1f} s of CPU in all (limit {policy.cpu_s} s)")
    if end.code == -signal.SIGKILL and end.host_was_full:
        raise BrokenOff(
            "a bot was killed while the kernel killed processes for lack of memory on the host; see the kernel log (dmesg) and give "
            "the workers more memory"
        )
    if end.code == -signal.SIGSYS:
        return BotFault("crash", "ended by signal SIGSYS: a system call of another machine")
    return BotFault("crash", f"ended by {end.how}")
