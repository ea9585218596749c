"""What the kernel says of a running bot: CPU time, memory and threads."""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from engine.sandbox.errors import BotFault
from engine.sandbox.policy import KIB, MIB, Policy

SAMPLE_S = 0.05  # between two looks at the memory of a running bot
_SLACK_MIB = 16  # the main stack and page tables, which the kernel's data limit does not count
_PF_EXITING = 0x4  # of proc_pid_stat(5), set before its files are closed
_COUNTED = ("RssAnon", "RssShmem", "VmSwap", "VmPTE")


def clock(pid: int) -> int:
    """The clock that counts the CPU time of all threads of a process, to the nanosecond, for ``time.clock_gettime``.

    The number is the kernel's ABI behind clock_getcpuclockid(3): no privilege, and it works across namespaces.
    """
    return (~pid << 3) | 2


class Waits:
    """How long a process has been kept from computing by others, and how long it has waited for a disk, from now on.

    Its threads wait for one another, too, and that is its own affair: of what each waits, the CPU time that the others used meanwhile is taken
    off, and of all threads the one counts that was kept waiting most.
    """

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._cpu = _cpu_seconds(pid)
        self._before = self._last = _accounts(pid)
        self._still: dict[
            str, float
        ] = {}  # by thread: waits for a processor that last, which the kernel adds when they end
        self._disk: dict[str, float] = {}

    def look(self, passed_s: float) -> None:
        """Look at its threads; `passed_s` seconds ago somebody has looked before.

        A thread that is ready, and has neither run nor been given a processor since, has waited all the while.
        """
        before, self._last = self._last, _accounts(self._pid)
        still = {}
        for thread, account in self._last.items():
            if account.state == "D":
                self._disk[thread] = self._disk.get(thread, 0.0) + passed_s
            elif account.state == "R" and before.get(thread) == account:
                still[thread] = self._still.get(thread, 0.0) + passed_s
        self._still = still

    def seconds(self) -> float:
        """For a processor. 0 where the kernel does not count it, and once the process has ended."""
        now = {
            thread: account._replace(stood_s=account.stood_s + self._still.get(thread, 0.0))
            for thread, account in _accounts(self._pid).items()
        }
        return waited(self._before, now, _cpu_seconds(self._pid) - self._cpu)

    def disk_s(self) -> float:
        """For a disk, as far as it was looked at: seconds of the thread that waited longest."""
        return max(self._disk.values(), default=0.0)


class Account(NamedTuple):
    """Seconds that a thread ran, and was ready and waited for a processor until it got one; the kernel's letter for what it does."""

    ran_s: float
    stood_s: float
    state: str = "S"


def waited(before: Mapping[str, Account], now: Mapping[str, Account], cpu_s: float) -> float:
    """Of accounts by thread, how long others kept the process from computing, which used `cpu_s` in between."""
    most = 0.0
    for thread, account in now.items():
        earlier = before.get(thread, Account(0.0, 0.0))
        siblings = max(0.0, cpu_s - (account.ran_s - earlier.ran_s))
        most = max(most, account.stood_s - earlier.stood_s - siblings)
    return most


def _cpu_seconds(pid: int) -> float:
    try:
        return time.clock_gettime(clock(pid))
    except OSError:
        return 0.0


def _accounts(pid: int) -> dict[str, Account]:
    """Of each thread; empty where the kernel does not count."""
    found = {}
    try:
        for task in Path(f"/proc/{pid}/task").iterdir():
            ran, stood = (task / "schedstat").read_bytes().split()[:2]
            state = (task / "stat").read_bytes().rpartition(b")")[2].split()[0].decode()
            found[task.name] = Account(int(ran) / 1e9, int(stood) / 1e9, state)
    except (OSError, ValueError):
        pass
    return found


@dataclass(frozen=True, slots=True)
class Use:
    """What a process holds: private and swapped memory with its page tables in KiB, and threads; whether only its first thread has ended."""

    memory_kib: int
    threads: int
    headless: bool = False


def look(pid: int) -> Use:
    """What a process holds now; nothing when it has just ended (whoever reads its output finds out)."""
    try:
        lines = Path(f"/proc/{pid}/status").read_bytes().decode(errors="replace").splitlines()
    except OSError:
        return Use(0, 0)
    fields = {name: words.split() for name, _, words in (line.partition(":") for line in lines)}
    held = sum(int(fields[name][0]) for name in _COUNTED if name in fields)
    threads = int(fields["Threads"][0])
    return Use(held, threads, fields["State"][0] == "Z" and threads > 1)


def overuse(use: Use, policy: Policy) -> BotFault | None:
    """The fault of a bot that holds more than the policy, else None.

    The kernel's limits refuse most of it at once; memory that was written and then made read-only leaves their
    account, and an ordinary user's threads are counted with his other programs, so both are looked at from outside.
    """
    if use.headless:  # what it holds cannot be seen any more
        return BotFault("crash", "ended its first thread and went on without it")
    held = use.memory_kib * KIB // MIB
    if held > policy.memory_mb + _SLACK_MIB:
        return BotFault("memory", f"holds {held} MiB (limit {policy.memory_mb} MiB)")
    if use.threads > policy.threads + 1:
        return BotFault("memory", f"runs {use.threads} threads (limit {policy.threads} besides the first)")
    return None


def ending(pid: int) -> bool:
    """Whether a process has begun to end, by the kernel's flags, or is gone. On a busy machine its end may take a while."""
    try:
        flags = int(Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[6])
    except OSError:
        return True
    return bool(flags & _PF_EXITING)


def exit_status(pid: int) -> int:
    """How a process ended that nobody has collected yet, as waitpid gives it. Raises OSError where it has been collected."""
    return int(Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[49])


def memory_kills() -> int:
    """How many processes the kernel has killed for lack of memory since the host began; 0 where it does not count them."""
    with open("/proc/vmstat", "rb") as file:  # noqa: PTH123 - at every start
        _, found, rest = file.read().partition(b"\noom_kill ")
    return int(rest.split()[0]) if found else 0


def open_tasks(pid: int) -> int:
    """A descriptor for ``several``, of the directory of its threads. Raises OSError when the process is gone."""
    return os.open(f"/proc/{pid}/task", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)


def several(tasks: int) -> bool:
    """Whether a process has more than one thread, by the links of that directory: one call, asked after every answer."""
    try:
        return os.fstat(tasks).st_nlink > 3
    except OSError:
        return False


def pin(tasks: int, cores: Collection[int]) -> None:
    """Keep every thread in that directory on these processors; nothing once the process has ended. Raises OSError."""
    if tasks < 0:
        return
    try:
        for task in os.listdir(tasks):
            os.sched_setaffinity(int(task), cores)
    except (FileNotFoundError, ProcessLookupError):
        return


def all_stopped(pid: int) -> bool:
    """Whether no thread of a process computes any more: each is stopped, traced or ended."""
    states = _states(pid)
    if states is None:
        return not Path(f"/proc/{pid}").exists()  # else a thread has just ended: look again
    return all(state in b"TtZX" for state in states)


def held_by_kernel(pid: int) -> bool:
    """Whether a thread of a process waits for something in the kernel and takes no signal meanwhile."""
    return b"D" in (_states(pid) or ())


def _states(pid: int) -> list[bytes] | None:
    """A letter for each thread; None where one has just ended."""
    try:
        tasks = list(Path(f"/proc/{pid}/task").iterdir())
        return [(task / "stat").read_bytes().rpartition(b")")[2].split()[0] for task in tasks]
    except OSError:
        return None
