"""The system calls that a sealed bot may not make, in addition to the filter of every bot: those that tell the time or wait for it.

The bot's program installs this filter with its first instructions; after that it needs to start no other program.
"""

from __future__ import annotations

import errno
from functools import cache

from engine.sandbox.kernel import bpf
from engine.sandbox.kernel.syscalls import this_architecture

_PR_SET_TSC = 26
# CPU time of the process. The kernel counts it by ticks of some ms, because the bot has a limit of CPU time; the clock of a single thread (3) is
# exact, and would time a read of one cache line.
_CPU_CLOCK = 2
_CPU_TIMERS = (1, 2)  # ITIMER_VIRTUAL, ITIMER_PROF
# Codes of arch_prctl that concern a thread's own data. Another code would map the kernel's clocks again.
_SET_FS, _GET_FS = (0x1002, 0x1003)
_FUTEX_PRIVATE = 128
_FUTEX_COMMAND = 127
# WAIT, LOCK_PI, WAIT_BITSET, WAIT_REQUEUE_PI, LOCK_PI2: their fourth argument is a time.
_FUTEX_TIMED = (0, 6, 9, 11, 13)
OURS = 0x5EA1ED  # Marks the calls of our own instructions, in an argument that such a call does not have.
_SIGSEGV = 11
_AT_ONCE = bpf.refuse(0)  # The call is not made and returns 0, which means "slept" or "nothing was ready".

_REFUSED = """
gettimeofday time times getrusage adjtimex alarm getitimer rt_sigtimedwait
timerfd_create timerfd_settime timerfd_gettime epoll_pwait2 futex_waitv
execve execveat seccomp
pipe pipe2 socketpair getsockopt getsockname getpeername shutdown recvfrom sendto
"""  # Pipes and sockets get numbers from a counter of the host, and a pipe stores its creation time.
_NOT_SLEPT = ("nanosleep", "clock_nanosleep")
# Calls that wait for descriptors, each with the argument that points to a time limit. A null pointer waits for ever, any other wait ends at once.
_POINTED = {"ppoll": 2, "select": 4, "pselect6": 4}
# The same for a time limit in milliseconds: a negative number waits for ever, any other wait ends at once.
_COUNTED = {"poll": 2, "epoll_wait": 3, "epoll_pwait": 3}


def _null_or(argument: int, otherwise: int) -> bpf.Program:
    """Allow a call whose argument is a null pointer; else return `otherwise`. The two halves of the pointer are checked one by one."""
    late = bpf.verdict(otherwise)
    return (
        bpf.load_argument(argument)
        + bpf.if_at_least(1, late)
        + bpf.load_argument(argument, high=True)
        + bpf.if_at_least(1, late)
        + bpf.verdict(bpf.ALLOW)
    )


def _milliseconds(argument: int) -> bpf.Program:
    allow = bpf.verdict(bpf.ALLOW)
    return (
        bpf.load_argument(argument)
        + bpf.if_equal(0, allow)
        + bpf.if_any_bit(0x8000_0000, allow)
        + bpf.verdict(_AT_ONCE)
    )


def _futex() -> bpf.Program:
    """Allow private locks only, which no other process can wake; a wait with a time ends at once."""
    shared = bpf.verdict(bpf.refuse(errno.EPERM))
    timed = _null_or(3, bpf.refuse(errno.ETIMEDOUT))
    program = bpf.load_argument(1) + bpf.mask(_FUTEX_PRIVATE) + bpf.if_equal(0, shared)
    program += bpf.load_argument(1) + bpf.mask(_FUTEX_COMMAND)
    for command in _FUTEX_TIMED:
        program += bpf.if_equal(command, timed)
    return program + bpf.verdict(bpf.ALLOW)


def _handlers() -> bpf.Program:
    """Keep our handler of SIGSEGV, which returns 0 for the time stamp counter: a call that sets another one succeeds without effect."""
    ours = bpf.load_argument(4) + bpf.if_equal(OURS, bpf.verdict(bpf.ALLOW)) + _null_or(1, _AT_ONCE)
    return bpf.load_argument(0) + bpf.if_equal(_SIGSEGV, ours) + bpf.verdict(bpf.ALLOW)


def _bodies() -> dict[str, bpf.Program]:
    eperm = bpf.refuse(errno.EPERM)
    bodies = {name: bpf.verdict(eperm) for name in _REFUSED.split()}
    bodies |= {name: bpf.verdict(_AT_ONCE) for name in _NOT_SLEPT}
    bodies |= {name: _null_or(argument, _AT_ONCE) for name, argument in _POINTED.items()}
    bodies |= {name: _milliseconds(argument) for name, argument in _COUNTED.items()}
    return bodies | {
        "futex": _futex(),
        "rt_sigaction": _handlers(),
        "clock_gettime": bpf.load_argument(0) + bpf.one_of((_CPU_CLOCK,), bpf.ALLOW, bpf.refuse(errno.EPERM)),
        "setitimer": bpf.load_argument(0) + bpf.one_of(_CPU_TIMERS, bpf.ALLOW, eperm),
        "statx": bpf.verdict(
            bpf.refuse(errno.ENOSYS)
        ),  # Numbers of mounts come from a counter of the host; all libraries fall back to fstatat.
        "arch_prctl": bpf.load_argument(0) + bpf.one_of((_SET_FS, _GET_FS), bpf.ALLOW, bpf.refuse(errno.EINVAL)),
        "prctl": bpf.load_argument(0) + bpf.one_of((_PR_SET_TSC,), eperm, bpf.ALLOW),
        "prlimit64": _null_or(2, eperm),
        "clone": bpf.verdict(bpf.refuse(errno.EAGAIN)),  # The error says that there are too many threads.
    }


@cache
def build(*, threads: bool = False) -> bytes:
    """Build the filter. It does not check the architecture of a call, because the filter of every bot does.

    threads: the program does not run without threads.
    """
    numbers = this_architecture().numbers
    bodies = {numbers[name]: body for name, body in _bodies().items() if not (threads and name == "clone")}
    return bpf.encode(bpf.load_number() + bpf.switch(bodies, {0: bpf.verdict(bpf.ALLOW)}))
