"""The number tables against some published numbers and the running kernel; all of them: test_syscall_sources.py."""

from __future__ import annotations

import ctypes
import os

import pytest

from engine.sandbox.kernel.syscalls import AARCH64, ARCHITECTURES, X86_64, this_architecture

# From the kernel's own tables: arch/x86/entry/syscalls/syscall_64.tbl and include/uapi/asm-generic/unistd.h.
PUBLISHED = {
    "x86_64": {"read": 0, "mmap": 9, "clone": 56, "execve": 59, "ptrace": 101, "openat": 257, "seccomp": 317},
    "aarch64": {"read": 63, "mmap": 222, "clone": 220, "execve": 221, "ptrace": 117, "openat": 56, "seccomp": 277},
}
SINCE_UNIFIED = {"clone3": 435, "landlock_create_ruleset": 444, "landlock_restrict_self": 446, "futex_waitv": 449}


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_published_numbers(name: str) -> None:
    expected = PUBLISHED[name] | SINCE_UNIFIED

    assert {call: ARCHITECTURES[name].numbers[call] for call in expected} == expected


@pytest.mark.parametrize("machine", ARCHITECTURES.values(), ids=ARCHITECTURES.keys())
def test_no_number_twice(machine: object) -> None:
    numbers = list(machine.numbers.values())

    assert len(set(numbers)) == len(numbers)


def test_machines_differ_where_they_must() -> None:
    assert "open" in X86_64.numbers
    assert "open" not in AARCH64.numbers
    assert (X86_64.has_x32, AARCH64.has_x32) == (True, False)


def test_the_running_kernel_agrees() -> None:
    libc = ctypes.CDLL(None)

    assert libc.syscall(ctypes.c_long(this_architecture().numbers["getpid"])) == os.getpid()
    assert libc.syscall(ctypes.c_long(this_architecture().numbers["getuid"])) == os.getuid()
