"""The system call filter, decided instruction by instruction as the kernel would, for both machines."""

from __future__ import annotations

import errno
import struct
from itertools import count

import pytest

from engine.sandbox.kernel import bpf, filter
from engine.sandbox.kernel.syscalls import AARCH64, ARCHITECTURES, X86_64, Architecture

PID = 4321


def decide(
    machine: Architecture, name: str | int, *arguments: int, arch: int | None = None, pipes: bool = False
) -> int:
    """Return the verdict of the filter for one call: an interpreter of the instructions that it uses."""
    number = machine.numbers[name] if isinstance(name, str) else name
    words = (*arguments, *[0] * (6 - len(arguments)))
    data = struct.pack("<iIQ6Q", number, arch or machine.audit_arch, 0, *[word & (2**64 - 1) for word in words])
    return run(list(struct.iter_unpack("<HBBI", filter.build(machine, pipes=pipes).for_pid(PID))), data)[0]


def run(program: bpf.Program, data: bytes) -> tuple[int, int]:
    """Return the verdict, and the number of instructions up to it."""
    at, accumulator = 0, 0
    for step in count(1):
        operation, yes, no, value = program[at]
        at += 1
        if operation == 0x20:
            accumulator = struct.unpack_from("<I", data, value)[0]
        elif operation == 0x54:
            accumulator &= value
        elif operation == 0x05:
            at += value
        elif operation == 0x06:
            return value, step
        else:
            holds = {0x15: accumulator == value, 0x45: bool(accumulator & value), 0x35: accumulator >= value}[operation]
            at += yes if holds else no
    raise AssertionError


@pytest.fixture(params=ARCHITECTURES.values(), ids=ARCHITECTURES.keys())
def machine(request: pytest.FixtureRequest) -> Architecture:
    return request.param


def test_everyday_calls_are_allowed(machine: Architecture) -> None:
    for name in ("read", "write", "epoll_pwait", "exit_group", "brk", "getrandom", "execve", "munmap"):
        assert decide(machine, name) == bpf.ALLOW, name


DANGEROUS: list[tuple[str, tuple[int, ...], int]] = [
    ("ptrace", (), errno.EPERM),
    ("setsid", (), errno.EPERM),
    ("timer_create", (), errno.EPERM),
    ("memfd_create", (), errno.EPERM),
    ("setsockopt", (), errno.EPERM),
    ("socket", (2, 1), errno.EAFNOSUPPORT),
    ("socketpair", (2,), errno.EAFNOSUPPORT),
    ("socketpair", (1,), errno.EAFNOSUPPORT),
    ("pipe2", (), errno.EPERM),
    ("getsockopt", (0, 1, 57), errno.EPERM),
    ("futex", (0x1000, 0), errno.EAGAIN),  # shared: WAIT
    (
        "futex",
        (0x1000, 9 | 256),
        errno.EAGAIN,
    ),  # WAIT_BITSET by the wall clock, as a C library waits for a thread's end
    ("futex", (0x1000, 1), 0),  # WAKE: wakes nobody
    ("futex", (0x1000, 10), 0),
    ("futex", (0x1000, 4), errno.ENOSYS),  # CMP_REQUEUE
    ("futex", (0x1000, 5), errno.ENOSYS),  # WAKE_OP
    ("futex", (0x1000, 128 | 6), errno.ENOSYS),  # LOCK_PI: names its owner's process
    ("futex", (0x1000, 128 | 8), errno.ENOSYS),
    ("futex", (0x1000, 128 | 13), errno.ENOSYS),
    ("futex_waitv", (), errno.ENOSYS),
    ("setitimer", (0,), errno.EPERM),
    ("timerfd_create", (), errno.EPERM),
    ("timerfd_settime", (), errno.EPERM),
    ("rt_sigtimedwait", (0x1000, 0, 0x1000), errno.EPERM),
    ("rt_sigtimedwait", (0x1000, 0, 0x7_0000_0000), errno.EPERM),
    ("sched_getaffinity", (PID + 1,), errno.ENOSYS),
    ("sched_getparam", (PID + 1,), errno.EPERM),
    ("sched_getscheduler", (PID + 1,), errno.EPERM),
    ("sched_getattr", (0,), errno.EPERM),
    ("sched_rr_get_interval", (0,), errno.EPERM),
    ("getpgid", (PID + 1,), errno.EPERM),
    ("getsid", (PID + 1,), errno.EPERM),
    ("getpriority", (0, PID + 1), errno.EPERM),
    ("getpriority", (1, 0), errno.EPERM),  # The priority of a process group
    ("getpriority", (2, 0), errno.EPERM),  # The priority of all programs of a user
    ("capget", (), errno.EPERM),
    ("membarrier", (1,), errno.EINVAL),  # waits for every process of the host
    ("membarrier", (2,), errno.EINVAL),
    ("keyctl", (), errno.EPERM),
    ("utimensat", (), errno.EPERM),
    ("flock", (), errno.EPERM),
    ("clone", (17,), errno.EAGAIN),
    ("clone", (0x10000 | 0x20000000,), errno.EPERM),
    ("clone", (0x10000 | 0x4000,), errno.EAGAIN),
    ("clone3", (), errno.ENOSYS),
    ("openat2", (), errno.ENOSYS),
    ("openat", (0, 0, 0o100), errno.EROFS),
    ("openat", (0, 0, 0o1000), errno.EROFS),  # would empty a file that is opened to be read
    ("openat", (0, 0, 0o1003), errno.EROFS),  # Mode 3 neither reads nor writes, and still empties.
    ("openat", (0, 0, 0x400001), errno.EROFS),
    ("openat", (0, 0, 0x400000), errno.EROFS),
    ("mmap", (0, 4096, 3, 0x21), errno.EPERM),
    ("mmap", (0, 4096, 3, 0x122), errno.EPERM),
    ("madvise", (0, 4096, 12), errno.EPERM),
    ("madvise", (0, 4096, 20), errno.EPERM),  # COLD and PAGEOUT: of a file that others read, too
    ("madvise", (0, 4096, 21), errno.EPERM),
    ("clock_gettime", ((~PID << 3) | 2,), errno.EINVAL),
    ("ioctl", (0, 0x5412), errno.ENOTTY),
    ("fcntl", (0, 8), errno.EPERM),
    ("fcntl", (0, 1031), errno.EPERM),
    ("fcntl", (0, 6), errno.EPERM),
    ("fcntl", (0, 1036), errno.EPERM),  # F_SET_RW_HINT, which stays with the file
    ("prctl", (1, 0), errno.EPERM),
    ("prlimit64", (1,), errno.EPERM),
    ("prlimit64", (0, 0, 0x1000), errno.EPERM),
    ("prlimit64", (0, 0, 0x7_0000_0000), errno.EPERM),
    ("kill", (PID + 1, 0), errno.EPERM),
    ("kill", (PID, 9), errno.EPERM),
    ("kill", (PID, 18), errno.EPERM),
    ("kill", (PID, 19), errno.EPERM),
    ("kill", (-1, 9), errno.EPERM),
    ("tgkill", (PID, 7, 9), errno.EPERM),
    ("tgkill", (PID, 7, 18), errno.EPERM),
    ("tkill", (PID, 6), errno.EPERM),
    ("sendto", (0, 0, 1, 0, 0), errno.EPERM),
]


def test_dangerous_calls_fail_with_the_stated_error(machine: Architecture) -> None:
    for name, arguments, error in DANGEROUS:
        assert decide(machine, name, *arguments) == bpf.refuse(error), (name, arguments)


HARMLESS: list[tuple[str, tuple[int, ...]]] = [
    ("clone", (0x3D0F00,)),
    ("openat", (0, 0, 0o2000000)),
    ("openat", (0, 0, 0o1101)),  # Every program opens /dev/null so, to write.
    ("mmap", (0, 4096, 3, 0x22)),
    ("mmap", (0, 4096, 1, 0x01)),
    ("futex", (0x1000, 128)),
    ("futex", (0x1000, 128 | 1)),
    ("futex", (0x1000, 128 | 256 | 9)),
    ("futex", (0x1000, 128 | 5)),
    ("madvise", (0, 4096, 4)),
    ("membarrier", (8,)),
    ("setitimer", (1,)),
    ("setitimer", (2,)),
    ("rt_sigtimedwait", (0x1000, 0, 0)),
    ("sched_getaffinity", (0,)),
    ("sched_getaffinity", (PID,)),
    ("getsid", (0,)),
    ("getpriority", (0, 0)),
    ("clock_gettime", (1,)),
    ("fcntl", (0, 3)),
    ("prctl", (15,)),
    ("prlimit64", (0, 0, 0, 0x1000)),
    ("kill", (PID, 6)),
    ("tgkill", (PID, 7, 6)),
]


def test_harmless_uses_of_them_are_allowed(machine: Architecture) -> None:
    for name, arguments in HARMLESS:
        assert decide(machine, name, *arguments) == bpf.ALLOW, (name, arguments)


def test_calls_that_only_one_machine_has() -> None:
    assert decide(X86_64, "alarm", 1) == bpf.refuse(0)  # no timer is set, and none was
    assert decide(X86_64, "pipe") == bpf.refuse(errno.EPERM)
    assert decide(X86_64, "arch_prctl", 0x2003) == bpf.refuse(errno.EINVAL)  # ARCH_MAP_VDSO_64
    assert decide(X86_64, "arch_prctl", 0x2001) == bpf.refuse(errno.EINVAL)
    assert decide(X86_64, "arch_prctl", 0x1002) == bpf.ALLOW


def test_pipes_are_for_runtimes_that_need_them(machine: Architecture) -> None:
    assert decide(machine, "pipe2", pipes=True) == bpf.ALLOW
    assert decide(machine, "socketpair", 1, pipes=True) == bpf.refuse(errno.EAFNOSUPPORT)


def test_every_call_that_is_not_named_is_refused(machine: Architecture) -> None:
    listed = set(filter.ALLOWED) | set(filter._rules())

    assert {decide(machine, name) for name in machine.numbers if name not in listed} == {bpf.refuse(errno.EPERM)}


def test_a_switch_takes_the_body_of_each_value_and_few_steps() -> None:
    """Values side by side, alone, at both ends; bodies too long for one jump; defaults that change."""
    bodies = {value: bpf.mask(value) * 20 + bpf.verdict(value) for value in (0, 1, 2, 7, 40, 41, 60, 99, 2**32 - 1)}
    program = bpf.switch(bodies, {0: bpf.verdict(500), 50: bpf.verdict(600), 2**31: bpf.verdict(700)})

    for value in (*range(110), 2**31 - 1, 2**31, 2**32 - 2, 2**32 - 1):
        verdict, steps = run(bpf.load_number() + program, struct.pack("<I", value))
        assert verdict == bodies.get(value, [(0, 0, 0, 500 if value < 50 else 600 if value < 2**31 else 700)])[-1][3]
        assert steps <= 1 + 2 * 5 + 21


def test_calls_that_the_tables_do_not_know_do_not_exist(machine: Architecture) -> None:
    """A number may be newer than all in the tables, or lie in a gap that was filled late."""
    numbers = set(machine.numbers.values())
    unknown = [number for number in range(machine.first_unknown + 50) if number not in numbers]
    assert len(unknown) > 50
    assert {decide(machine, number) for number in unknown} == {bpf.refuse(errno.ENOSYS)}


def test_the_gaps_are_the_numbers_without_a_name(machine: Architecture) -> None:
    inside = {number for first, last in machine.gaps[:-1] for number in range(first, last + 1)}
    assert inside == set(range(machine.first_unknown)) - set(machine.numbers.values())
    assert machine.gaps[-1] == (machine.first_unknown, 2**32 - 1)


def test_calls_of_another_machine_kill() -> None:
    assert decide(X86_64, "read", arch=AARCH64.audit_arch) == bpf.KILL_PROCESS
    assert decide(AARCH64, "read", arch=X86_64.audit_arch) == bpf.KILL_PROCESS
    assert decide(X86_64, 0x4000_0000 | 39) == bpf.KILL_PROCESS


def test_a_program_the_kernel_would_not_take_is_refused() -> None:
    with pytest.raises(ValueError, match="4097 instructions; the kernel accepts 1 to 4096"):
        bpf.encode(bpf.verdict(bpf.ALLOW) * 4097)
    with pytest.raises(ValueError, match="the jump reaches 255"):
        bpf.if_equal(1, bpf.verdict(bpf.ALLOW) * 256)
