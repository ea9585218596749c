"""The allow-list of system calls for a bot.

Allowed are threads, but no second process; no socket; no file opened for writing; no memory that the limits do not count; nothing that reaches,
wakes, watches or times another process, nothing that counts the activity of others, and no timer that goes on while the bot is stopped. A call that
is not listed fails with EPERM, an unknown one with ENOSYS (so that a newer C library falls back), and another architecture's call convention kills
the process.

A compiler gets a wider list: it starts programs and writes files, in namespaces of its own; addresses, tracing and new namespaces stay refused.
"""

from __future__ import annotations

import errno
from dataclasses import dataclass
from functools import lru_cache

from engine.sandbox.kernel import bpf
from engine.sandbox.kernel.syscalls import Architecture, this_architecture

_ALLOWED = """
read write readv writev pread64 pwrite64 preadv pwritev lseek close close_range dup dup2 dup3
fstat stat lstat newfstatat statx access faccessat faccessat2 readlink readlinkat getdents64 getdents getcwd chdir fchdir
poll ppoll select pselect6 epoll_create epoll_create1 epoll_ctl epoll_wait epoll_pwait epoll_pwait2
eventfd eventfd2 umask sendfile
exit exit_group wait4 waitid restart_syscall rt_sigaction rt_sigprocmask rt_sigreturn rt_sigsuspend
rt_sigpending sigaltstack pause getitimer
getpid gettid getppid getuid geteuid getgid getegid getgroups getpgrp getresuid getresgid
munmap mremap mprotect brk msync rseq set_robust_list set_tid_address
clock_getres clock_nanosleep nanosleep gettimeofday time times getrusage sched_yield
sched_get_priority_max sched_get_priority_min uname getrandom getcpu getrlimit execve
mlock munlock
"""
ALLOWED = tuple(_ALLOWED.split())
# A pipe's inode number comes from a counter that all processes of the host advance. So pipes are only for runtimes that need them.
_PIPES = ("pipe", "pipe2")

# What compilers, linkers and build scripts call besides. A filter for them leaves out the rules against signals between bots.
_BUILDING = """
open openat mmap madvise membarrier futex fork vfork kill tgkill tkill prlimit64 setrlimit fcntl flock clock_gettime
rename renameat renameat2 link linkat unlink unlinkat symlink symlinkat mkdir mkdirat rmdir creat chmod fchmod fchmodat
truncate ftruncate fallocate fsync fdatasync utime utimes utimensat futimesat statfs fstatfs copy_file_range
setpgid setsid getpgid getsid getpriority setpriority sched_getaffinity sched_setaffinity sched_getparam sched_getscheduler
sysinfo mincore fadvise64 readahead capget sigaltstack rt_sigtimedwait rt_sigqueueinfo rt_tgsigqueueinfo
setitimer alarm timer_create timer_settime timer_delete timer_gettime timer_getoverrun get_robust_list
pidfd_open pidfd_send_signal memfd_create
socketpair sendmsg recvmsg sendto recvfrom shutdown
"""
BUILDING = tuple(_BUILDING.split())

_MAP_SHARED_ANONYMOUS = 0x21
_MAP_GROWSDOWN = 0x100
# NORMAL RANDOM SEQUENTIAL WILLNEED DONTNEED FREE DONTFORK DOFORK HUGEPAGE NOHUGEPAGE DONTDUMP DODUMP. All other values
# are refused: they merge pages with pages of other processes, or evict pages of shared files from memory.
_MADV_ALLOWED = (0, 1, 2, 3, 4, 8, 10, 11, 14, 15, 16, 17)
_MEMBARRIER_ALLOWED = (0, 8, 16, 32, 64, 128, 256)  # QUERY, and those that only affect threads of the process itself.
_ITIMER_REAL = 0
# SET_FS GET_FS GET_XCOMP_SUPP GET_XCOMP_PERM REQ_XCOMP_PERM
_ARCH_PRCTL_ALLOWED = (0x1002, 0x1003, 0x1021, 0x1022, 0x1023)
# Operations on a private futex, which only threads of one process can share: WAIT WAKE REQUEUE CMP_REQUEUE WAKE_OP
# WAIT_BITSET WAKE_BITSET. All other operations are refused: they take the futex for the process id of its owner, and
# reveal whether that process lives.
_FUTEX_PRIVATE, _FUTEX_OPERATION = 0x80, 0x7F
_FUTEX_ALLOWED = (0, 1, 3, 4, 5, 9, 10)
_FUTEX_WAITS, _FUTEX_WAKES = (0, 9), (1, 10)
_OPEN_TO_CHANGE = 0o100 | 0o1000  # O_CREAT, O_TRUNC
_OPEN_WITHOUT_NAME = 0x400000  # __O_TMPFILE
_OPEN_MODE, _OPEN_TO_WRITE = 3, (1, 2)
_CLONE_THREAD = 0x10000
_CLONE_NEW_NAMESPACE = 0x7E02_0000
_CLONE_VFORK = 0x4000
_SIGKILL, _SIGCONT, _SIGSTOP = 9, 18, 19
_NEGATIVE = 0x8000_0000
_TERMINAL_AND_PIPE = (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)  # TCGETS TIOCGWINSZ FIONREAD FIONBIO FIO[N]CLEX
_SEALING = (
    "seccomp",
    "execveat",
)  # Allowed for the first instructions of a sealed bot, which then refuse these calls; see ``sealed``.
_PR_SET_TSC, _RLIMIT_FSIZE = 26, 1
# F_DUPFD F_GETFD F_SETFD F_GETFL F_SETFL F_DUPFD_CLOEXEC. All others are refused, among them: locks, each of which carries a bit
# between two bots that share a read-only file; F_SETOWN and F_SETSIG, which wake a frozen process; F_SETPIPE_SZ, kernel
# memory that no limit counts; write hints, which stay with a file that the bot's user owns.
_FCNTL_ALLOWED = (0, 1, 2, 3, 4, 1030)
_PRCTL_ALLOWED = (3, 15, 16, 23, 39, 0x53564D41)  # GET_DUMPABLE SET_NAME GET_NAME CAPBSET_READ GET_NO_NEW_PRIVS SET_VMA
_OWN_PID = 0xFFFF_FFF0  # Placeholder for the bot's own process id until the launcher knows it.


@dataclass(frozen=True)
class Filter:
    """An encoded program, and the byte offsets of the constants that the bot's own process id replaces."""

    code: bytes
    pid_at: tuple[int, ...]

    def for_pid(self, pid: int) -> bytes:
        """Return the program for process ``pid``, in the bot's own numbering."""
        code = bytearray(self.code)
        for at in self.pid_at:
            code[at : at + 4] = pid.to_bytes(4, "little")
        return bytes(code)


def _signal_self_only() -> bpf.Program:
    # SIGKILL would look like a kill from outside, SIGSTOP like our own freezing, and SIGCONT ends a freeze.
    return bpf.one_of((_SIGKILL, _SIGCONT, _SIGSTOP), bpf.refuse(errno.EPERM), bpf.ALLOW)


def _own(error: int) -> bpf.Program:
    """Allow the call only for the bot itself: process 0, or its own id."""
    return bpf.load_argument(0) + bpf.one_of((0, _OWN_PID), bpf.ALLOW, bpf.refuse(error))


def _futex() -> bpf.Program:
    """Allow private futexes. A shared one would reach every process that maps the same page of a file, such as the interpreter's own.

    A wait on a shared futex returns at once, as if the value had changed, so a C library that waits for the end of a thread looks again; a wake does
    nothing. So the kernel's own wake at the end of a thread has no effect either.
    """
    private = bpf.mask(_FUTEX_OPERATION) + bpf.one_of(_FUTEX_ALLOWED, bpf.ALLOW, bpf.refuse(errno.ENOSYS))
    shared: bpf.Program = bpf.load_argument(1) + bpf.mask(_FUTEX_OPERATION)
    for operation in _FUTEX_WAITS:
        shared += bpf.if_equal(operation, bpf.verdict(bpf.refuse(errno.EAGAIN)))
    for operation in _FUTEX_WAKES:
        shared += bpf.if_equal(operation, bpf.verdict(bpf.refuse(0)))
    shared += bpf.verdict(bpf.refuse(errno.ENOSYS))
    return bpf.load_argument(1) + bpf.if_any_bit(_FUTEX_PRIVATE, private) + shared


def _opening(flags: int) -> bpf.Program:
    """Refuse to make or empty a file by the way; `flags`: the number of the argument.

    Every program opens /dev/null to write, with both flags, so they are allowed together with writing: the tree is mounted read-only, or Landlock
    refuses what is opened to be written.
    """
    read_only = bpf.verdict(bpf.refuse(errno.EROFS))
    program = bpf.load_argument(flags) + bpf.if_any_bit(_OPEN_WITHOUT_NAME, read_only) + bpf.mask(_OPEN_MODE)
    for mode in _OPEN_TO_WRITE:
        program += bpf.if_equal(mode, bpf.verdict(bpf.ALLOW))
    return program + bpf.load_argument(flags) + bpf.if_any_bit(_OPEN_TO_CHANGE, read_only) + bpf.verdict(bpf.ALLOW)


def _rules(*, sealing: bool = False) -> dict[str, bpf.Program]:
    """Return the calls that depend on their arguments: name -> body with a verdict on every path. sealing: as in ``build``."""
    eperm, allow = bpf.verdict(bpf.refuse(errno.EPERM)), bpf.verdict(bpf.ALLOW)
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
        "openat": _opening(2),
        "open": _opening(1),
        # The filter cannot read flags that lie in memory; every library falls back.
        "openat2": bpf.verdict(bpf.refuse(errno.ENOSYS)),
        "madvise": bpf.load_argument(2) + bpf.one_of(_MADV_ALLOWED, bpf.ALLOW, bpf.refuse(errno.EPERM)),
        "membarrier": bpf.load_argument(0) + bpf.one_of(_MEMBARRIER_ALLOWED, bpf.ALLOW, bpf.refuse(errno.EINVAL)),
        "futex": _futex(),
        "futex_waitv": bpf.verdict(bpf.refuse(errno.ENOSYS)),  # The filter cannot read flags that lie in memory.
        "clone": bpf.load_argument(0)
        + bpf.if_any_bit(_CLONE_NEW_NAMESPACE, eperm)
        # Refused for threads, too: a process that waits in vfork cannot be stopped.
        + bpf.if_any_bit(_CLONE_VFORK, no_fork)
        + bpf.if_any_bit(_CLONE_THREAD, allow)
        + no_fork,
        "clone3": bpf.verdict(bpf.refuse(errno.ENOSYS)),  # Refused like openat2.
        "fork": no_fork,
        "vfork": no_fork,
        "socket": bpf.verdict(bpf.refuse(errno.EAFNOSUPPORT)),
        "socketpair": bpf.verdict(
            bpf.refuse(errno.EAFNOSUPPORT)
        ),  # The inode number comes from a counter, like a pipe's.
        # These timers go on while the process is stopped. Timers of its own CPU time do not.
        "alarm": bpf.verdict(bpf.refuse(0)),  # `alarm` cannot fail; 0 means that no timer was set before.
        "setitimer": bpf.load_argument(0) + bpf.one_of((_ITIMER_REAL,), bpf.refuse(errno.EPERM), bpf.ALLOW),
        "rt_sigtimedwait": bpf.load_argument(2)
        + bpf.if_at_least(1, eperm)
        + bpf.load_argument(2, high=True)
        + bpf.if_at_least(1, eperm)
        + allow,
        # The number of another process would reveal whether it lives, and its settings. To the filter another process and
        # a thread of the bot itself look the same.
        "sched_getaffinity": _own(errno.ENOSYS),  # Without this call the C library still works.
        "sched_getparam": _own(errno.EPERM),
        "sched_getscheduler": _own(errno.EPERM),
        "getpgid": _own(errno.EPERM),
        "getsid": _own(errno.EPERM),
        "getpriority": bpf.load_argument(0)
        + bpf.if_at_least(1, eperm)
        + bpf.load_argument(1)
        + bpf.one_of((0, _OWN_PID), bpf.ALLOW, bpf.refuse(errno.EPERM)),
        # All other codes are refused: one of them maps a second vDSO with its clocks.
        "arch_prctl": bpf.load_argument(0) + bpf.one_of(_ARCH_PRCTL_ALLOWED, bpf.ALLOW, bpf.refuse(errno.EINVAL)),
        # A negative clock is another process's CPU time: how long the opponent thinks.
        "clock_gettime": bpf.load_argument(0)
        + bpf.if_any_bit(_NEGATIVE, bpf.verdict(bpf.refuse(errno.EINVAL)))
        + allow,
        "ioctl": bpf.load_argument(1) + bpf.one_of(_TERMINAL_AND_PIPE, bpf.ALLOW, bpf.refuse(errno.ENOTTY)),
        "fcntl": bpf.load_argument(1) + bpf.one_of(_FCNTL_ALLOWED, bpf.ALLOW, bpf.refuse(errno.EPERM)),
        "prctl": bpf.load_argument(0) + bpf.one_of(options, bpf.ALLOW, bpf.refuse(errno.EPERM)),
        # A bot may read its own limits. It may not lower them, because then they would differ from the expected ones
        # and would not explain the bot's end.
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


def _rules_of_compilers() -> dict[str, bpf.Program]:
    """Return the rules for a compiler, as `_rules` does for a bot: any process of its own namespace, but no new namespace, socket or device."""
    bot, allow = _rules(), bpf.verdict(bpf.ALLOW)
    new_namespace = bpf.load_argument(0) + bpf.if_any_bit(_CLONE_NEW_NAMESPACE, bpf.verdict(bpf.refuse(errno.EPERM)))
    same = ("openat2", "clone3", "socket", "futex_waitv", "ioctl", "prctl", "arch_prctl")
    return {"clone": new_namespace + allow, **{name: bot[name] for name in same}}


@lru_cache
def build(
    architecture: Architecture | None = None, *, pipes: bool = False, sealing: bool = False, building: bool = False
) -> Filter:
    """Build the filter for ``architecture`` (default: this one). `Filter.for_pid` fills in the process id.

    pipes: for a runtime that needs them; sealing: for a bot whose first instructions install a second filter behind this one; building: for a
    compiler instead of a bot.
    """
    architecture = architecture or this_architecture()
    numbers = architecture.numbers
    names = (
        *ALLOWED,
        *(_PIPES if pipes or building else ()),
        *(_SEALING if sealing else ()),
        *(BUILDING if building else ()),
    )
    rules = _rules_of_compilers() if building else _rules(sealing=sealing)
    bodies = {name: bpf.verdict(bpf.ALLOW) for name in names} | rules
    eperm, enosys = bpf.verdict(bpf.refuse(errno.EPERM)), bpf.verdict(bpf.refuse(errno.ENOSYS))
    otherwise = (
        {0: eperm}
        | {last + 1: eperm for _, last in architecture.gaps[:-1]}
        | {first: enosys for first, _ in architecture.gaps}
    )
    if architecture.has_x32:
        otherwise[0x4000_0000] = bpf.verdict(bpf.KILL_PROCESS)
    program: bpf.Program = bpf.load_arch() + bpf.unless_equal(architecture.audit_arch, bpf.verdict(bpf.KILL_PROCESS))
    program += bpf.load_number()
    # aarch64 lacks old calls that newer ones have replaced.
    program += bpf.switch({numbers[name]: body for name, body in bodies.items() if name in numbers}, otherwise)
    pid_at = tuple(8 * index + 4 for index, step in enumerate(program) if step[3] == _OWN_PID)
    return Filter(bpf.encode(program), pid_at)
