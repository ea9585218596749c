"""One user id per live bot, for a worker that runs as root.

A slot is held by binding an abstract socket of its name: the kernel makes that atomic between all processes of the
host's network namespace and lets go by itself when the holder dies, so no file is left and no lock is ever stale.
"""

from __future__ import annotations

import errno
import socket
from dataclasses import dataclass, field

from engine.sandbox.errors import SandboxError

FIRST_USER = 61000
LAST_USER = 61183  # systemd hands out 61184 and up to its dynamic services
NAME = "tute-league-slot-"


@dataclass
class Slot:
    """A user id held for one bot until ``release``."""

    user: int
    _holder: socket.socket = field(repr=False)

    def release(self) -> None:
        """Give the id back; harmless when repeated."""
        self._holder.close()


def hold(user: int) -> Slot | None:
    """The slot of this user id, or None while somebody has it. Raises SandboxError where sockets are not allowed."""
    holder = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    try:
        holder.bind(f"\0{NAME}{user}")
    except OSError as error:
        holder.close()
        if error.errno == errno.EADDRINUSE:
            return None
        raise SandboxError(f"cannot hold bot user {user}: {error}. Allow AF_UNIX sockets to the worker.") from error
    return Slot(user, holder)


def acquire() -> Slot:
    """The lowest free slot. Raises SandboxError when all are in use."""
    for user in range(FIRST_USER, LAST_USER + 1):
        slot = hold(user)
        if slot is not None:
            return slot
    raise SandboxError(
        f"all {LAST_USER - FIRST_USER + 1} bot users ({FIRST_USER} to {LAST_USER}) are in use. "
        "Run fewer workers on this host, or look for matches that do not end."
    )
