"""What a sealed bot may not call, on top of the filter of every bot: whatever tells the time, waits for it, or counts for the host.

The bot's own program installs this filter in its first instructions, when the one start of a program that it needs is behind it.
"""

from __future__ import annotations

import errno
from functools import cache

from engine.sandbox.kernel import bpf
from engine.sandbox.kernel.syscalls import this_machine

_PR_SET_TSC = 26
_CPU_CLOCKS = (2, 3)  # of the process, of the thread
_CPU_TIMERS = (1, 2)  # ITIMER_VIRTUAL, ITIMER_PROF
_SET_FS, _GET_FS = (
    0x1002,
    0x1003,
)  # of arch_prctl: where a thread keeps its own; another one maps the kernel's clocks anew
_FUTEX_PRIVATE = 128
_FUTEX_COMMAND = 127
_FUTEX_TIMED = (
    0,
    6,
    9,
    11,
    13,
)  # WAIT, LOCK_PI, WAIT_BITSET, WAIT_REQUEUE_PI, LOCK_PI2: their fourth argument is a time
_AT_ONCE = bpf.refuse(0)  # the call is not made and answers 0: "slept", "nothing was ready"

_REFUSED = """
gettimeofday time times getrusage adjtimex alarm getitimer rt_sigtimedwait
timerfd_create timerfd_settime timerfd_gettime epoll_pwait2 futex_waitv
execve execveat seccomp
pipe pipe2 socketpair getsockopt getsockname getpeername shutdown recvfrom sendto
"""  # pipes and sockets are numbered by a counter of the host, and a pipe bears the time of its making
_NOT_SLEPT = ("nanosleep", "clock_nanosleep")
# Waits for descriptors, and which of their arguments is a time: a null pointer is for ever, whatever else ends at once.
_POINTED = {"ppoll": 2, "select": 4, "pselect6": 4}
# Here it is a number of milliseconds: none passes, and less than none is for ever.
_COUNTED = {"poll": 2, "epoll_wait": 3, "epoll_pwait": 3}


def _null_or(argument: int, otherwise: int) -> bpf.Program:
    """Let a call through whose argument is a null pointer; its two halves are looked at one by one."""
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
    """Locks of its own only, which nobody else can wake; and a wait with a time is over at once."""
    shared = bpf.verdict(bpf.refuse(errno.EPERM))
    timed = _null_or(3, bpf.refuse(errno.ETIMEDOUT))
    program = bpf.load_argument(1) + bpf.mask(_FUTEX_PRIVATE) + bpf.if_equal(0, shared)
    program += bpf.load_argument(1) + bpf.mask(_FUTEX_COMMAND)
    for command in _FUTEX_TIMED:
        program += bpf.if_equal(command, timed)
    return program + bpf.verdict(bpf.ALLOW)


def _bodies() -> dict[str, bpf.Program]:
    eperm = bpf.refuse(errno.EPERM)
    bodies = {name: bpf.verdict(eperm) for name in _REFUSED.split()}
    bodies |= {name: bpf.verdict(_AT_ONCE) for name in _NOT_SLEPT}
    bodies |= {name: _null_or(argument, _AT_ONCE) for name, argument in _POINTED.items()}
    bodies |= {name: _milliseconds(argument) for name, argument in _COUNTED.items()}
    return bodies | {
        "futex": _futex(),
        "clock_gettime": bpf.load_argument(0) + bpf.one_of(_CPU_CLOCKS, bpf.ALLOW, eperm),
        "setitimer": bpf.load_argument(0) + bpf.one_of(_CPU_TIMERS, bpf.ALLOW, eperm),
        "arch_prctl": bpf.load_argument(0) + bpf.one_of((_SET_FS, _GET_FS), bpf.ALLOW, bpf.refuse(errno.EINVAL)),
        "prctl": bpf.load_argument(0) + bpf.one_of((_PR_SET_TSC,), eperm, bpf.ALLOW),
        "prlimit64": _null_or(2, eperm),
        "clone": bpf.verdict(bpf.refuse(errno.EAGAIN)),  # as where there are too many threads
    }


@cache
def build() -> bytes:
    """The filter. The one of every bot has seen each call before, and the machine that it is of."""
    numbers = this_machine().numbers
    bodies = {numbers[name]: body for name, body in _bodies().items()}
    return bpf.encode(bpf.load_number() + bpf.switch(bodies, {0: bpf.verdict(bpf.ALLOW)}))
