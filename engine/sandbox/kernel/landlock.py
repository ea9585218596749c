"""Landlock rules, computed before the bot's process exists (landlock(7), linux/landlock.h).

The launcher applies them in the bot's own process; this module only produces data.
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct
from dataclasses import dataclass
from functools import lru_cache

from engine.sandbox.errors import SandboxUnavailable
from engine.sandbox.kernel.syscalls import this_architecture

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
READ = _READ_FILE | _READ_DIR
READ_AND_WRITE = READ | _WRITE_FILE  # For devices.
READ_AND_EXECUTE = READ | _EXECUTE
_ON_A_FILE = _EXECUTE | _WRITE_FILE | _READ_FILE | 1 << 14 | 1 << 15  # Rights that apply to a single file.

_FILE_RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15}  # Number of low bits that each version knows; later versions know 16.
_ALL_TCP = 0b11  # Bind and connect, from version 4.
_ALL_SCOPES = 0b11  # Abstract sockets and signals, from version 6.
_VERSION_QUERY = 1
_PR_SET_NO_NEW_PRIVS = 38


@dataclass(frozen=True)
class Support:
    """The abilities of this kernel's Landlock.

    version: its interface version; ruleset: struct landlock_ruleset_attr that handles every right known to this version; notes: what Landlock lacks
    here, and what compensates for it.
    """

    version: int
    ruleset: bytes
    notes: tuple[str, ...]

    def rule(self, path: str, rights: int) -> tuple[str, int, int]:
        """Return (path, rights if it is a directory, rights if it is a file) for the launcher."""
        handled = struct.unpack_from("<Q", self.ruleset)[0]
        return path, rights & handled, rights & handled & _ON_A_FILE


def _create_ruleset(attributes: bytes | None, flags: int) -> int:
    """Return the kernel's answer, or minus the errno."""
    libc = ctypes.CDLL(None, use_errno=True)
    number = ctypes.c_long(this_architecture().numbers["landlock_create_ruleset"])
    size = ctypes.c_size_t(len(attributes or b""))
    result: int = libc.syscall(number, ctypes.c_char_p(attributes), size, ctypes.c_uint(flags))
    return result if result >= 0 else -ctypes.get_errno()


def _attributes(version: int, scopes: int) -> bytes:
    rights = (1 << _FILE_RIGHTS.get(version, 16)) - 1
    words = [rights]
    if version >= 4:
        words.append(_ALL_TCP)
    if version >= 6 and scopes:
        words.append(scopes)
    return struct.pack(f"<{len(words)}Q", *words)


@lru_cache
def support() -> Support:
    """Detect Landlock by creating a rule set. Raise SandboxUnavailable with the remedy."""
    version = _create_ruleset(None, _VERSION_QUERY)
    if version < 1:
        reason = {errno.ENOSYS: "the kernel lacks it", errno.EOPNOTSUPP: "it is switched off at boot"}.get(-version)
        raise SandboxUnavailable(
            f"Landlock is not available: {reason or os.strerror(-version)}. Use Linux 5.13 or newer with landlock in "
            "the lsm= boot list (cat /sys/kernel/security/lsm), and a container profile that allows landlock_* calls."
        )
    notes: list[str] = []
    ruleset = _attributes(version, _ALL_SCOPES)
    answer = _create_ruleset(ruleset, 0)
    if answer == -errno.EINVAL and version >= 6:
        # Some vendor kernels report version 6 without its scopes; the filter refuses the same calls anyway.
        ruleset = _attributes(version, 0)
        answer = _create_ruleset(ruleset, 0)
        notes.append("signal and abstract socket scopes are missing: the system call filter alone covers them")
    if answer < 0:
        raise SandboxUnavailable(f"Landlock version {version} refuses a rule set: {os.strerror(-answer)}.")
    os.close(answer)
    if version < 6 and not notes:
        notes.append(f"version {version} has no scopes for signals and sockets: the system call filter covers them")
    return Support(version, ruleset, tuple(notes))


def forbid_files() -> bool:
    """Forbid this process, for good, to open, run or change any file. Return False if the kernel lacks Landlock."""
    version = _create_ruleset(None, _VERSION_QUERY)
    if version < 1:
        return False
    rules = _create_ruleset(_attributes(version, 0)[:8], 0)
    if rules < 0:
        return False
    libc = ctypes.CDLL(None, use_errno=True)
    number = ctypes.c_long(this_architecture().numbers["landlock_restrict_self"])
    try:
        return not libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) and not libc.syscall(number, ctypes.c_int(rules), 0)
    finally:
        os.close(rules)
