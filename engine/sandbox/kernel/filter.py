"""The allow-list of system calls a bot may make.

Threads, but no second process; no socket; no file opened for writing; no memory that the limits do not count; nothing
that reaches, wakes, watches or times another process. What is not named fails with EPERM, what the tables do not know
with ENOSYS (so that a newer C library falls back), another machine's call convention kills.
"""

from __future__ import annotations

import errno
from dataclasses import dataclass
from functools import lru_cache

from engine.sandbox.kernel import bpf
from engine.sandbox.kernel.syscalls import Machine, this_machine

_ALLOWED = """
read write readv writev pread64 pwrite64 preadv pwritev lseek close close_range dup dup2 dup3
fstat stat lstat newfstatat statx access faccessat faccessat2 readlink readlinkat getdents64 getdents getcwd chdir fchdir
pipe pipe2 poll ppoll select pselect6 epoll_create epoll_create1 epoll_ctl epoll_wait epoll_pwait epoll_pwait2
eventfd eventfd2 timerfd_create timerfd_settime timerfd_gettime umask sendfile
exit exit_group wait4 waitid restart_syscall rt_sigaction rt_sigprocmask rt_sigreturn rt_sigsuspend rt_sigtimedwait
rt_sigpending sigaltstack pause alarm getitimer setitimer
getpid gettid getppid getuid geteuid getgid getegid getgroups getpgrp getpgid getsid getresuid getresgid capget
munmap mremap mprotect brk msync membarrier rseq set_robust_list futex futex_waitv set_tid_address arch_prctl
clock_getres clock_nanosleep nanosleep gettimeofday time times getrusage sched_yield sched_getaffinity sched_getparam
sched_getscheduler sched_get_priority_max sched_get_priority_min getpriority uname getrandom getcpu getrlimit execve
recvfrom shutdown getsockopt getsockname getpeername mlock munlock
"""
ALLOWED = tuple(_ALLOWED.split())

_MAP_SHARED_ANONYMOUS = 0x21
_MAP_GROWSDOWN = 0x100
_MADV_MERGEABLE = 12
_OPEN_FOR_CHANGE = 0o100 | 0o1000 | 0x400000  # O_CREAT, O_TRUNC, __O_TMPFILE
_CLONE_THREAD = 0x10000
_CLONE_NEW_NAMESPACE = 0x7E02_0000
_AF_UNIX = 1
_CLONE_VFORK = 0x4000
_SIGKILL, _SIGCONT, _SIGSTOP = 9, 18, 19
_NEGATIVE = 0x8000_0000
_TERMINAL_AND_PIPE = (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)  # TCGETS TIOCGWINSZ FIONREAD FIONBIO FIO[N]CLEX
_FCNTL_REFUSED = (
    *(5, 6, 7, 36, 37, 38),  # record locks: one bit a lock between two bots that share a read-only file
    *(8, 10, 15),  # F_SETOWN, F_SETSIG, F_SETOWN_EX: a signal of choice, such as the one that wakes a frozen process
    *(1024, 1025, 1026),  # leases and directory notification
    1031,  # F_SETPIPE_SZ: kernel memory no limit counts
)
_SEALING = ("seccomp", "execveat")  # in the first instructions of a sealed bot, which then refuse them; see ``sealed``
_PR_SET_TSC, _RLIMIT_FSIZE = 26, 1
_PRCTL_ALLOWED = (3, 15, 16, 23, 39, 0x53564D41)  # GET_DUMPABLE SET_NAME GET_NAME CAPBSET_READ GET_NO_NEW_PRIVS SET_VMA
_OWN_PID = 0xFFFF_FFF0  # stands for the bot's own process id until the launcher knows it


@dataclass(frozen=True)
class Filter:
    """An encoded program, and the byte offsets of the constants to be replaced by the bot's own process id."""

    code: bytes
    pid_at: tuple[int, ...]

    def for_pid(self, pid: int) -> bytes:
        """The program for the process ``pid``, as it counts itself."""
        code = bytearray(self.code)
        for at in self.pid_at:
            code[at : at + 4] = pid.to_bytes(4, "little")
        return bytes(code)


def _signal_self_only() -> bpf.Program:
    # SIGKILL would look like a kill from outside, SIGSTOP like our own freezing, and SIGCONT is its end.
    return bpf.one_of((_SIGKILL, _SIGCONT, _SIGSTOP), bpf.refuse(errno.EPERM), bpf.ALLOW)


def _rules(*, sealing: bool = False) -> dict[str, bpf.Program]:
    """Calls that depend on their arguments: name -> body that gives a verdict on every path. sealing: as in ``build``."""
    eperm, allow = bpf.verdict(bpf.refuse(errno.EPERM)), bpf.verdict(bpf.ALLOW)
    read_only = bpf.if_any_bit(_OPEN_FOR_CHANGE, bpf.verdict(bpf.refuse(errno.EROFS))) + allow
    own_kill = bpf.load_argument(0) + bpf.if_equal(_OWN_PID, bpf.load_argument(1) + _signal_self_only()) + eperm
    own_tgkill = bpf.load_argument(0) + bpf.if_equal(_OWN_PID, bpf.load_argument(2) + _signal_self_only()) + eperm
    no_fork = bpf.verdict(bpf.refuse(errno.EAGAIN))
    options = (*_PRCTL_ALLOWED, _PR_SET_TSC) if sealing else _PRCTL_ALLOWED
    limit_of_files = bpf.load_argument(1) + bpf.if_equal(_RLIMIT_FSIZE, allow) if sealing else []
    return {
        # Shared anonymous and stack-like mappings are not counted by RLIMIT_DATA.
        "mmap": bpf.load_argument(3)
        + bpf.if_any_bit(_MAP_GROWSDOWN, eperm)
        + bpf.mask(_MAP_SHARED_ANONYMOUS)
        + bpf.if_equal(_MAP_SHARED_ANONYMOUS, eperm)
        + allow,
        "openat": bpf.load_argument(2) + read_only,
        "open": bpf.load_argument(1) + read_only,
        "openat2": bpf.verdict(bpf.refuse(errno.ENOSYS)),  # its flags lie in memory; every library falls back
        "madvise": bpf.load_argument(2) + bpf.one_of((_MADV_MERGEABLE,), bpf.refuse(errno.EPERM), bpf.ALLOW),
        "clone": bpf.load_argument(0)
        + bpf.if_any_bit(_CLONE_NEW_NAMESPACE, eperm)
        + bpf.if_any_bit(_CLONE_VFORK, no_fork)  # of a thread, too: who waits for one so does not stop when told to
        + bpf.if_any_bit(_CLONE_THREAD, allow)
        + no_fork,
        "clone3": bpf.verdict(bpf.refuse(errno.ENOSYS)),  # as openat2
        "fork": no_fork,
        "vfork": no_fork,
        "socket": bpf.verdict(bpf.refuse(errno.EAFNOSUPPORT)),
        "socketpair": bpf.load_argument(0) + bpf.one_of((_AF_UNIX,), bpf.ALLOW, bpf.refuse(errno.EAFNOSUPPORT)),
        # An address would let a datagram socketpair reach any listening socket of the host.
        "sendto": bpf.load_argument(4)
        + bpf.if_at_least(1, eperm)
        + bpf.load_argument(4, high=True)
        + bpf.if_at_least(1, eperm)
        + allow,
        # A negative clock is another process's CPU time: how long the opponent thinks.
        "clock_gettime": bpf.load_argument(0)
        + bpf.if_any_bit(_NEGATIVE, bpf.verdict(bpf.refuse(errno.EINVAL)))
        + allow,
        "ioctl": bpf.load_argument(1) + bpf.one_of(_TERMINAL_AND_PIPE, bpf.ALLOW, bpf.refuse(errno.ENOTTY)),
        "fcntl": bpf.load_argument(1) + bpf.one_of(_FCNTL_REFUSED, bpf.refuse(errno.EPERM), bpf.ALLOW),
        "prctl": bpf.load_argument(0) + bpf.one_of(options, bpf.ALLOW, bpf.refuse(errno.EPERM)),
        # Its own limits may be read. Lowered, they would no longer be those that are looked for, nor tell what ended it.
        "prlimit64": bpf.load_argument(0)
        + bpf.if_at_least(1, eperm)
        + limit_of_files
        + bpf.load_argument(2)
        + bpf.if_at_least(1, eperm)
        + bpf.load_argument(2, high=True)
        + bpf.if_at_least(1, eperm)
        + allow,
        "kill": own_kill,
        "tgkill": own_tgkill,
    }


@lru_cache
def build(machine: Machine | None = None, *, sealing: bool = False) -> Filter:
    """The filter for ``machine`` (default: this one). Its process id is filled in by ``Filter.for_pid``.

    sealing: for a bot whose first instructions put a second filter behind this one.
    """
    machine = machine or this_machine()
    numbers = machine.numbers
    program: bpf.Program = bpf.load_arch() + bpf.unless_equal(machine.audit_arch, bpf.verdict(bpf.KILL_PROCESS))
    program += bpf.load_number()
    if machine.has_x32:
        program += bpf.if_at_least(0x4000_0000, bpf.verdict(bpf.KILL_PROCESS))
    for name in (*ALLOWED, *_SEALING) if sealing else ALLOWED:
        if name in numbers:  # aarch64 lacks the calls that newer ones replaced
            program += bpf.if_equal(numbers[name], bpf.verdict(bpf.ALLOW))
    for name, body in _rules(sealing=sealing).items():
        if name in numbers:
            program += bpf.if_equal(numbers[name], body)
    program += bpf.if_at_least(machine.first_unknown, bpf.verdict(bpf.refuse(errno.ENOSYS)))
    program += bpf.verdict(bpf.refuse(errno.EPERM))
    pid_at = tuple(8 * index + 4 for index, step in enumerate(program) if step[3] == _OWN_PID)
    return Filter(bpf.encode(program), pid_at)
