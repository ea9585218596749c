"""What the kernel says of a running bot: CPU time, memory and threads."""

from __future__ import annotations

import time
from pathlib import Path

from .errors import BotFault
from .policy import KIB, MIB, Policy

SAMPLE_S = 0.05  # between two looks at the memory of a running bot
_SLACK_MIB = 16  # the main stack and page tables, which the kernel's data limit does not count
_COUNTED = ("RssAnon", "RssShmem", "VmSwap", "VmPTE")


def cpu_seconds(pid: int) -> float:
    """CPU time of all threads of a process so far, to the nanosecond. Raises OSError when it is gone.

    The clock id is the kernel's ABI behind clock_getcpuclockid(3): no privilege, and it works across namespaces.
    """
    return time.clock_gettime((~pid << 3) | 2)


def overuse(pid: int, policy: Policy) -> BotFault | None:
    """The fault of a bot that holds more than the policy, else None.

    The kernel's limits refuse most of it at once; memory that was written and then made read-only leaves their
    account, and an ordinary user's threads are counted with his other programs, so both are looked at from outside.
    """
    try:
        lines = Path(f"/proc/{pid}/status").read_bytes().decode().splitlines()
    except OSError:
        return None  # it has just ended; whoever reads its output finds out
    fields = {name: words.split() for name, _, words in (line.partition(":") for line in lines)}
    held = sum(int(fields[name][0]) for name in _COUNTED if name in fields) * KIB // MIB
    if held > policy.memory_mb + _SLACK_MIB:
        return BotFault("memory", f"holds {held} MiB (limit {policy.memory_mb} MiB)")
    threads = int(fields["Threads"][0])
    if threads > policy.threads + 1:
        return BotFault("memory", f"runs {threads} threads (limit {policy.threads} besides the first)")
    return None
