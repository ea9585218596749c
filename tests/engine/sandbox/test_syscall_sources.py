"""The number tables of both machines against two sources of other people: the kernel's headers and libseccomp."""

from __future__ import annotations

import errno
import re
import subprocess
from pathlib import Path

import pytest

from engine.sandbox.kernel import bpf
from engine.sandbox.kernel.syscalls import ARCHITECTURES
from tests.engine.sandbox.test_filter import decide
from tests.support import debian, languages

_HEADERS = {
    "x86_64": ("linux-libc-dev", "/usr/include/x86_64-linux-gnu/asm/unistd.h", "/usr/include"),
    "aarch64": (
        "linux-libc-dev-arm64-cross",
        "/usr/aarch64-linux-gnu/include/asm/unistd.h",
        "/usr/aarch64-linux-gnu/include",
    ),
}


def header(machine: str) -> dict[str, int]:
    """Call -> number by the machine's kernel headers, installed if need be, as a C compiler for it reads them."""
    package, path, folder = _HEADERS[machine]
    debian.find(package, lambda: path if Path(path).is_file() else None, f"Debian: sudo apt-get install {package}.")
    command = [
        languages.find("cc"),
        "-E",
        "-dM",
        "-undef",
        "-nostdinc",
        "-D__LP64__",
        f"-D__{machine}__",
        "-isystem",
        folder,
    ]
    command += ["-isystem", str(Path(path).parent.parent), "-include", path, "-"]
    text = subprocess.run(command, input="", capture_output=True, text=True, check=True, timeout=30).stdout
    wide = {name: int(number) for name, number in re.findall(r"#define __NR3264_(\w+) (\d+)", text)}
    numbers = {name: int(number) for name, number in re.findall(r"#define __NR_(\w+) (\d+)", text)}
    numbers |= {name: wide[by_width] for name, by_width in re.findall(r"#define __NR_(\w+) __NR3264_(\w+)", text)}
    return {name: number for name, number in numbers.items() if name not in ("syscalls", "arch_specific_syscall")}


@pytest.mark.parametrize("machine", ARCHITECTURES)
def test_the_tables_are_those_of_the_kernels_headers(machine: str) -> None:
    ours, theirs = ARCHITECTURES[machine].numbers, header(machine)

    shared = {name: number for name, number in theirs.items() if number in ours.values()}
    assert len(shared) > 290
    assert {name: (number, ours.get(name)) for name, number in shared.items() if ours.get(name) != number} == {}
    assert sorted(set(ours) - set(shared)) == []


@pytest.mark.parametrize("machine", ARCHITECTURES)
def test_the_filter_refuses_a_call_that_only_the_headers_know(machine: str) -> None:
    """Headers that are newer than the tables name more calls with each kernel: a bot finds none of them."""
    ours = ARCHITECTURES[machine]
    newer = {name: number for name, number in header(machine).items() if name not in ours.numbers}
    newer["of a kernel to come"] = max([ours.first_unknown, *newer.values()]) + 1
    refused = bpf.refuse(errno.ENOSYS)
    assert {name: number for name, number in newer.items() if decide(ours, number) != refused} == {}


@pytest.mark.parametrize("machine", ARCHITECTURES)
@pytest.mark.slow
def test_libseccomp_gives_the_same_numbers(machine: str) -> None:
    program = debian.find("seccomp", debian.on_path("scmp_sys_resolver"), "Debian: sudo apt-get install seccomp.")
    ours, differing, checked = ARCHITECTURES[machine].numbers, {}, 0
    for name, number in ours.items():
        process = subprocess.run(
            [program, "-a", machine, name], capture_output=True, text=True, timeout=10, check=False
        )
        theirs = int(process.stdout)
        if theirs == -1:  # newer than this libseccomp
            continue
        checked += 1
        if theirs != number:
            differing[name] = (number, theirs)

    assert differing == {}
    assert checked > 0.95 * len(ours)


def test_calls_that_only_one_machine_has() -> None:
    """Libseccomp's answer for those is negative and not -1: a pseudo number."""
    program = debian.find("seccomp", debian.on_path("scmp_sys_resolver"), "Debian: sudo apt-get install seccomp.")
    for name in sorted(set(ARCHITECTURES["x86_64"].numbers) - set(ARCHITECTURES["aarch64"].numbers)):
        process = subprocess.run(
            [program, "-a", "aarch64", name], capture_output=True, text=True, timeout=10, check=False
        )
        assert int(process.stdout) < 0, name
