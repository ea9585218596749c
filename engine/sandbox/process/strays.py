"""Kill the processes that a killed worker has left under a bot's user.

A wrapper that is killed during its setup, together with the forkserver, leaves a child that waits for the wrapper for ever. The child has run no
code of a bot, but the kernel counts it among the processes of the next bot of that user.
"""

from __future__ import annotations

import contextlib
import os
import signal
from pathlib import Path

from engine.sandbox.cgroups import slots
from engine.sandbox.process import spawn

_PROC = Path("/proc")


def clear() -> int:
    """Kill the strays that this process can see; return their number. Only for root: other workers have no bot users.

    Children of any forkserver stay alive: workers in other network namespaces reserve their slots under the same names.
    """
    # Otherwise the process ids in /proc differ from ours.
    if os.getuid() != 0 or (_PROC / "self").readlink() != Path(str(os.getpid())):
        return 0
    users = slots.users()
    families = {
        int(entry.name): family
        for entry in _PROC.iterdir()
        if entry.name.isdigit() and (family := _family(int(entry.name)))
    }
    ended = 0
    for pid, (user, _) in families.items():
        if user in users and not _has_forkserver(pid, families):
            ended += _end(pid, families[pid])
    return ended


def _family(pid: int) -> tuple[int, int] | None:
    """Return a process's user and parent, None if it is gone or a zombie."""
    try:
        text = (_PROC / str(pid) / "status").read_text()
    except OSError:
        return None
    fields = dict(line.split(":", 1) for line in text.splitlines())
    if fields["State"].split()[0] in "ZX":
        return None
    return int(fields["Uid"].split()[0]), int(fields["PPid"])


def _has_forkserver(pid: int, families: dict[int, tuple[int, int]]) -> bool:
    """Return True if a forkserver is among the ancestors of a process. Ancestors missing from `families` are looked up."""
    while pid > 1:
        if spawn.is_forkserver(pid):
            return True
        family = families.get(pid) or _family(pid)
        if family is None:
            return False
        pid = family[1]
    return False


def _end(pid: int, family: tuple[int, int]) -> bool:
    """Kill a process by its handle, after another check: the process id may have been reused."""
    with contextlib.suppress(OSError):
        handle = os.pidfd_open(pid)
        try:
            if _family(pid) == family:
                signal.pidfd_send_signal(handle, signal.SIGKILL)
                return True
        finally:
            os.close(handle)
    return False
