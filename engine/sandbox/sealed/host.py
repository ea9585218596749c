"""Detect whether bots can be sealed on this machine, and create the copies."""

from __future__ import annotations

import ctypes
import os
import platform
import re
from functools import cache
from itertools import pairwise
from pathlib import Path

from engine.sandbox.errors import BotFault, SandboxError, SandboxUnavailable
from engine.sandbox.files import elf
from engine.sandbox.files.runtimes import Runtime
from engine.sandbox.sealed.program import CannotSeal, sealed

_MFD_CLOEXEC, _MFD_EXEC = 0x1, 0x10
_PR_GET_TSC = 25
_LINE = re.compile(r"^([0-9a-f]+)-([0-9a-f]+) .*\[(vvar\w*|vdso)\]$", re.MULTILINE)


@cache
def clocks() -> tuple[int, int]:
    """Return the place of the kernel's time pages: their start relative to the vDSO, and their size in bytes.

    The layout is read from this process; one kernel uses the same for every program. Raise SandboxUnavailable with the reason if bots cannot be
    sealed.
    """
    if platform.machine() != "x86_64":
        raise SandboxUnavailable(
            f"bots can be sealed on x86-64 only: a sealed bot starts with machine code, which does not exist for {platform.machine()}"
        )
    if "\nSeccomp_filters:" not in Path("/proc/self/status").read_text():
        raise SandboxUnavailable("before Linux 5.9 it is impossible to check whether a bot has sealed itself")
    pages = [
        (int(begin, 16), int(end, 16), name) for begin, end, name in _LINE.findall(Path("/proc/self/maps").read_text())
    ]
    if not pages or pages[-1][2] != "vdso" or any(a[1] != b[0] for a, b in pairwise(pages)):
        raise SandboxUnavailable(
            "the kernel's clocks are not laid out in this process as expected, so bots cannot be sealed"
        )
    # A kernel without this query (User Mode Linux) cannot disable the counter either.
    if ctypes.CDLL(None).prctl(_PR_GET_TSC, ctypes.byref(ctypes.c_int()), 0, 0, 0) != 0:
        raise SandboxUnavailable(
            "this kernel cannot disable the time stamp counter of a process, so bots cannot be sealed"
        )
    lowest, (begin, end, _) = pages[0][0], pages[-1]
    return lowest - begin, end - lowest


def anonymous(content: bytes) -> int:
    """Return a descriptor of an executable anonymous file that contains `content`, positioned at its start. Raise OSError."""
    try:
        file = os.memfd_create("sealed", _MFD_CLOEXEC | _MFD_EXEC)
    except OSError:  # Before Linux 6.3 all such files are executable.
        file = os.memfd_create("sealed", _MFD_CLOEXEC)
    try:
        with open(file, "wb", closefd=False) as writing:
            writing.write(content)
        os.lseek(file, 0, os.SEEK_SET)
    except BaseException:
        os.close(file)
        raise
    return file


def program(runtime: Runtime, entry: Path) -> int:
    """Return a descriptor of a copy of a bot's program that seals itself. entry: the bot's file.

    Raise SandboxError, BotFault if the bot's own file cannot be sealed.
    """
    path = entry if runtime.runs_bot_files else Path(runtime.argv(str(runtime.root), "", "")[0])
    try:
        facts = path.stat()
        if runtime.runs_bot_files:
            return anonymous(sealed(path.read_bytes(), clocks(), threads=elf.is_go(path)))
        return anonymous(_cached_copy(path, facts.st_mtime_ns, facts.st_size))
    except CannotSeal as reason:
        if runtime.runs_bot_files:
            raise BotFault("crash", f"{entry.name} cannot be sealed: it {reason}") from reason
        raise SandboxUnavailable(f"no bot of {runtime.name} can be sealed: {path} {reason}") from reason
    except OSError as error:
        raise SandboxError(f"cannot read {path} for a sealed copy: {error}") from error


@cache
def _cached_copy(path: Path, _time: int, _size: int) -> bytes:
    return sealed(path.read_bytes(), clocks())
