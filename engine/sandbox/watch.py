"""What the kernel says of a running bot: CPU time, memory and threads."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path

from .errors import BotFault
from .policy import KIB, MIB, Policy

STILL = frozenset("TtZX")  # states of threads that do not compute: stopped, traced, ended
SAMPLE_S = 0.05  # between two looks at the memory of a running bot
_SLACK_MIB = 16  # the main stack and page tables, which the kernel's data limit does not count
_COUNTED = ("RssAnon", "RssShmem", "VmSwap", "VmPTE")


def cpu_seconds(pid: int) -> float:
    """CPU time of all threads of a process so far, to the nanosecond. Raises OSError when it is gone.

    The clock id is the kernel's ABI behind clock_getcpuclockid(3): no privilege, and it works across namespaces.
    """
    return time.clock_gettime((~pid << 3) | 2)


def all_still(pid: int) -> bool:
    """Whether no thread of a process computes any more after a stop was sent. A single thread stops at its next step,
    so it is taken for still: this is asked after every answer, and most bots have one."""
    try:
        threads = list(Path(f"/proc/{pid}/task").iterdir())
        if len(threads) < 2:
            return True
        return STILL.issuperset((thread / "stat").read_text().rpartition(")")[2].split()[0] for thread in threads)
    except OSError:
        return not Path(f"/proc/{pid}").exists()  # else a thread has just ended: look again


@dataclass(frozen=True, slots=True)
class Use:
    """What a process holds: private and swapped memory with its page tables in KiB, and threads."""

    memory_kib: int
    threads: int


def look(pid: int) -> Use:
    """What a process holds now; nothing when it has just ended (whoever reads its output finds out)."""
    try:
        lines = Path(f"/proc/{pid}/status").read_bytes().decode(errors="replace").splitlines()
    except OSError:
        return Use(0, 0)
    fields = {name: words.split() for name, _, words in (line.partition(":") for line in lines)}
    return Use(sum(int(fields[name][0]) for name in _COUNTED if name in fields), int(fields["Threads"][0]))


def overuse(use: Use, policy: Policy) -> BotFault | None:
    """The fault of a bot that holds more than the policy, else None.

    The kernel's limits refuse most of it at once; memory that was written and then made read-only leaves their
    account, and an ordinary user's threads are counted with his other programs, so both are looked at from outside.
    """
    held = use.memory_kib * KIB // MIB
    if held > policy.memory_mb + _SLACK_MIB:
        return BotFault("memory", f"holds {held} MiB (limit {policy.memory_mb} MiB)")
    if use.threads > policy.threads + 1:
        return BotFault("memory", f"runs {use.threads} threads (limit {policy.threads} besides the first)")
    return None


def all_stopped(pid: int) -> bool:
    """Whether every thread of a process is stopped or gone."""
    try:
        tasks = os.listdir(f"/proc/{pid}/task")  # noqa: PTH208 - names are enough, and this runs after every answer
        states = [Path(f"/proc/{pid}/task/{task}/stat").read_bytes().rpartition(b")")[2].split()[0] for task in tasks]
    except OSError:
        return not Path(f"/proc/{pid}").exists()
    return all(state in b"TtZX" for state in states)
