"""Whether bots can be sealed on this machine, and what there is to know of it for that."""

from __future__ import annotations

import ctypes
import os
import platform
import re
from functools import cache
from itertools import pairwise
from pathlib import Path

from engine.sandbox.errors import BotFault, SandboxError, SandboxUnavailable
from engine.sandbox.files.runtimes import Runtime
from engine.sandbox.sealed.program import CannotSeal, sealed

_MFD_CLOEXEC, _MFD_EXEC = 0x1, 0x10
_PR_GET_TSC = 25
_LINE = re.compile(r"^([0-9a-f]+)-([0-9a-f]+) .*\[(vvar\w*|vdso)\]$", re.MULTILINE)


@cache
def clocks() -> tuple[int, int]:
    """The kernel's pages of time in every program: where they begin, counted from the vDSO, and their bytes.

    Read from this process: one kernel lays them out alike for all. Raises SandboxUnavailable with the reason where bots cannot be sealed.
    """
    if platform.machine() != "x86_64":
        raise SandboxUnavailable(
            f"bots are sealed on x86-64 only: what a sealed one starts with is machine code, and none is written for {platform.machine()}"
        )
    if "\nSeccomp_filters:" not in Path("/proc/self/status").read_text():
        raise SandboxUnavailable("before Linux 5.9 nobody can see whether a bot has sealed itself, so none is")
    found = [
        (int(begin, 16), int(end, 16), name) for begin, end, name in _LINE.findall(Path("/proc/self/maps").read_text())
    ]
    if not found or found[-1][2] != "vdso" or any(a[1] != b[0] for a, b in pairwise(found)):
        raise SandboxUnavailable(
            "the kernel's clocks do not lie in this process as they are expected to, so bots cannot be sealed"
        )
    # whoever cannot be asked for it cannot take it away either: User Mode Linux
    if ctypes.CDLL(None).prctl(_PR_GET_TSC, ctypes.byref(ctypes.c_int()), 0, 0, 0) != 0:
        raise SandboxUnavailable(
            "this kernel cannot take the time stamp counter from a process, so bots cannot be sealed"
        )
    lowest, (begin, end, _) = found[0][0], found[-1]
    return lowest - begin, end - lowest


def anonymous(content: bytes) -> int:
    """A descriptor, at its start, of an anonymous file that may be executed. Raises OSError."""
    try:
        file = os.memfd_create("sealed", _MFD_CLOEXEC | _MFD_EXEC)
    except OSError:  # Linux before 6.3, where every such file may be
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
    """A descriptor of the program of a bot, in a copy that seals itself. entry: the bot's file.

    Raises SandboxError, BotFault for a file of the bot's that cannot be copied so.
    """
    path = entry if runtime.runs_bot_files else Path(runtime.argv(str(runtime.root), "", "")[0])
    try:
        facts = path.stat()
        make = _made if runtime.runs_bot_files else _kept
        return anonymous(make(path, facts.st_mtime_ns, facts.st_size))
    except CannotSeal as reason:
        if runtime.runs_bot_files:
            raise BotFault("crash", f"{entry.name} cannot be sealed: it {reason}") from reason
        raise SandboxUnavailable(f"no bot of {runtime.name} can be sealed: {path} {reason}") from reason
    except OSError as error:
        raise SandboxError(f"cannot read {path} to make a sealed copy of it: {error}") from error


def _made(path: Path, _time: int, _size: int) -> bytes:
    return sealed(path.read_bytes(), clocks())


_kept = cache(_made)
