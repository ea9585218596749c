"""The kernel's account of a running bot: CPU time, memory and threads."""

from __future__ import annotations

import fcntl
import os
import stat
import termios
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from engine.sandbox.errors import BotFault
from engine.sandbox.files import elf
from engine.sandbox.kernel.syscalls import this_architecture
from engine.sandbox.policy import KIB, MIB, Policy

SAMPLE_S = 0.05  # Time between two checks of the memory of a running bot.
_SLACK_MIB = 16  # The main stack and page tables, which the kernel's data limit does not count.
_PF_EXITING = 0x4  # A flag from proc_pid_stat(5); the kernel sets it before it closes the process's files.
_COUNTED = ("RssAnon", "RssShmem", "VmSwap", "VmPTE")


def clock(pid: int) -> int:
    """Return the clock of the CPU time of all threads of a process, in nanoseconds, for ``time.clock_gettime``.

    The number is the kernel's ABI behind clock_getcpuclockid(3): it needs no privilege, and works across namespaces.
    """
    return (~pid << 3) | 2


class Waits:
    """The time for which, from now on, a process waits for a processor that other processes use, or for a disk.

    Its threads also wait for one another, which is its own affair: from each thread's waiting time the CPU time of its sibling threads is subtracted,
    and the thread that was kept waiting longest counts.
    """

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._cpu = _cpu_seconds(pid)
        self._before = self._last = _accounts(pid)
        # Current waits for a processor, by thread; the kernel adds them to its account only when they end.
        self._still: dict[str, float] = {}
        self._disk: dict[str, float] = {}

    def look(self, passed_s: float) -> None:
        """Sample the threads; `passed_s` is the time since the last sample.

        A ready thread whose account has not changed since then has waited all the time.
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
        """Return the seconds of waiting for a processor; 0 if the kernel does not count them, or once the process has ended."""
        now = {
            thread: account._replace(stood_s=account.stood_s + self._still.get(thread, 0.0))
            for thread, account in _accounts(self._pid).items()
        }
        return waited(self._before, now, _cpu_seconds(self._pid) - self._cpu)

    def disk_s(self) -> float:
        """Return the sampled seconds for which the thread that waited longest waited for a disk."""
        return max(self._disk.values(), default=0.0)


class Account(NamedTuple):
    """Seconds for which a thread ran, and for which it waited for a processor; the kernel's letter for its state."""

    ran_s: float
    stood_s: float
    state: str = "S"


def waited(before: Mapping[str, Account], now: Mapping[str, Account], cpu_s: float) -> float:
    """Return the seconds for which other processes kept a process from computing between two accounts. cpu_s: CPU time it used in between."""
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
    """Return the account of each thread; empty if the kernel does not count."""
    accounts = {}
    try:
        for task in Path(f"/proc/{pid}/task").iterdir():
            ran, stood = (task / "schedstat").read_bytes().split()[:2]
            state = (task / "stat").read_bytes().rpartition(b")")[2].split()[0].decode()
            accounts[task.name] = Account(int(ran) / 1e9, int(stood) / 1e9, state)
    except (OSError, ValueError):
        pass
    return accounts


def reads_input(pid: int) -> bool:
    """Return True if a process will do nothing until it gets input: one thread reads descriptor 0, and no other thread can wake by itself.

    The watchdog of a program of Go, which wakes now and then, does not count. False if the kernel does not say what the threads wait for.
    """
    calls = _calls(pid)
    timed = [call for call in calls if not _is_endless(call)]
    return _reads(calls) and (not timed or (len(timed) == 1 and timed[0][0] in _WATCHDOG and _is_go(pid)))


def unread(stream: int) -> bool:
    """Return True if something that was written to a stream, a pipe or a socket, lies in it still. False if the kernel does not say."""
    request = termios.TIOCOUTQ if stat.S_ISSOCK(os.fstat(stream).st_mode) else termios.FIONREAD
    try:
        return any(fcntl.ioctl(stream, request, bytes(4)))
    except OSError:
        return False


def reads_on(pid: int) -> bool:
    """Return True if a thread of a process reads descriptor 0, whatever the others do."""
    return _reads(_calls(pid))


def _reads(calls: list[list[str]]) -> bool:
    return [_READ, "0x0"] in [call[:2] for call in calls]


_numbers = {name: str(number) for name, number in this_architecture().numbers.items()}
_READ, _FUTEX = _numbers["read"], _numbers["futex"]
_EPOLL = {_numbers[name] for name in ("epoll_wait", "epoll_pwait") if name in _numbers}
_WATCHDOG = {_FUTEX, _numbers["nanosleep"], _numbers["clock_nanosleep"]}
_FOR_EVER = {"0xffffffff", "0xffffffffffffffff"}


def _is_endless(call: list[str]) -> bool:
    """Return True if a call, as proc_pid_syscall(5) shows it, has no time limit: that of a futex is a pointer, that of epoll a number."""
    if call[0] == _FUTEX:
        return call[4] == "0x0"
    return call[0] == _READ or (call[0] in _EPOLL and call[4] in _FOR_EVER)


def _calls(pid: int) -> list[list[str]]:
    """Return the words that tell in which system call each thread waits ("running" if it does not wait); empty if the kernel does not say."""
    try:
        return [(task / "syscall").read_text().split() for task in Path(f"/proc/{pid}/task").iterdir()]
    except OSError:
        return []


def _is_go(pid: int) -> bool:
    try:
        return elf.is_go(Path(f"/proc/{pid}/exe"))
    except OSError:
        return False


@dataclass(frozen=True, slots=True)
class ResourceUse:
    """Resources of a process: private and swapped memory with page tables, KiB; threads. headless: its first thread has ended, others have not."""

    memory_kib: int
    threads: int
    headless: bool = False


def look(pid: int) -> ResourceUse:
    """Return the current resources of a process; nothing if it has just ended (reading its output reports that)."""
    try:
        lines = Path(f"/proc/{pid}/status").read_bytes().decode(errors="replace").splitlines()
    except OSError:
        return ResourceUse(0, 0)
    fields = {name: words.split() for name, _, words in (line.partition(":") for line in lines)}
    memory_kib = sum(int(fields[name][0]) for name in _COUNTED if name in fields)
    threads = int(fields["Threads"][0])
    return ResourceUse(memory_kib, threads, fields["State"][0] == "Z" and threads > 1)


def overuse(use: ResourceUse, policy: Policy) -> BotFault | None:
    """Return the fault of a bot that exceeds the policy, else None.

    The kernel's limits refuse most excess at once. But the kernel does not count memory that was written and then made read-only, and an ordinary
    user's threads are counted together with other programs of the user, so both are checked from outside.
    """
    if use.headless:  # The resources of such a process are no longer visible.
        return BotFault("crash", "ended its first thread and continued without it")
    memory_mib = use.memory_kib * KIB // MIB
    if memory_mib > policy.memory_mb + _SLACK_MIB:
        return BotFault("memory", f"holds {memory_mib} MiB (limit {policy.memory_mb} MiB)")
    if use.threads > policy.threads + 1:
        return BotFault("memory", f"runs {use.threads} threads (limit {policy.threads} besides the first)")
    return None


def ending(pid: int) -> bool:
    """Return True if a process has begun to end, by the kernel's flags, or is gone. On a busy machine its end may take a while."""
    try:
        flags = int(Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[6])
    except OSError:
        return True
    return bool(flags & _PF_EXITING)


def exit_status(pid: int) -> int:
    """Return the wait status of a process that has ended and is not collected yet. Raise OSError if it has been collected."""
    return int(Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[49])


def memory_kills() -> int:
    """Return how many processes the kernel has killed for lack of memory since the host started; 0 if it does not count them."""
    with open("/proc/vmstat", "rb") as file:  # noqa: PTH123 - at every start
        _, separator, rest = file.read().partition(b"\noom_kill ")
    return int(rest.split()[0]) if separator else 0


def open_tasks(pid: int) -> int:
    """Return a descriptor of the directory of a process's threads, for ``several``. Raise OSError if the process is gone."""
    return os.open(f"/proc/{pid}/task", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)


def several(tasks: int) -> bool:
    """Return True if a process has more than one thread, by the link count of its thread directory: a single system call."""
    try:
        return os.fstat(tasks).st_nlink > 3
    except OSError:
        return False


def pin(tasks: int, cores: Collection[int]) -> None:
    """Keep every thread of a process on these cores; do nothing once the process has ended. Raise OSError."""
    if tasks < 0:
        return
    try:
        for task in os.listdir(tasks):
            os.sched_setaffinity(int(task), cores)
    except (FileNotFoundError, ProcessLookupError):
        return


def all_stopped(pid: int) -> bool:
    """Return True if no thread of a process computes any more: each is stopped, traced or ended."""
    states = _states(pid)
    if states is None:
        return not Path(f"/proc/{pid}").exists()  # If the process exists, a thread has just ended: try again.
    return all(state in b"TtZX" for state in states)


def held_by_kernel(pid: int) -> bool:
    """Return True if a thread of a process waits in the kernel and takes no signal meanwhile."""
    return b"D" in (_states(pid) or ())


def _states(pid: int) -> list[bytes] | None:
    """Return the kernel's letter for the state of each thread; None if a thread has just ended."""
    try:
        tasks = list(Path(f"/proc/{pid}/task").iterdir())
        return [(task / "stat").read_bytes().rpartition(b")")[2].split()[0] for task in tasks]
    except OSError:
        return None
