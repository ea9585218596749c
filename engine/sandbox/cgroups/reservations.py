"""Reservations of things that a machine has only once: a core for a match, a user id for a bot.

A reservation is a lock (flock) on a file named after the thing. All workers of a machine must see the same files, in whatever container, network
namespace or state directory they run, and as whatever user. The kernel drops a lock when its holder dies, however it dies, so a leftover file means
nothing and is never removed.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import stat
from dataclasses import dataclass
from pathlib import Path

SETTING = "MACHINE_DIR"  # The folder that all workers of this machine share, as the operator states.
# A container has an IPC namespace and a /dev/shm of its own, unless it was started with those of the host. No other
# folder of a host exists on every Linux, is writable for every user, and is emptied by a restart; a private /tmp
# (systemd) does not hide /dev/shm.
MEMORY = Path("/dev/shm/tute-league")  # noqa: S108 - created with care below: no link is followed
HOSTS_IPC = "ipc:[4026531839]"  # The initial namespace has this number on every kernel (PROC_IPC_INIT_INO).


class NotShared(Exception):
    """The folder cannot be used; the message says why and what to do."""


@dataclass
class Reservation:
    """A lock held until `release`, or until its holder dies."""

    name: str
    _fd: int

    def release(self) -> None:
        """Release the lock. May be called again."""
        if self._fd >= 0:
            fd, self._fd = self._fd, -1
            fcntl.flock(fd, fcntl.LOCK_UN)  # A fork of this process may have the descriptor, too.
            os.close(fd)


def shared_folder() -> Path | None:
    """Return the folder that all workers of this machine share; None if this process cannot know one.

    Use MACHINE_DIR if it is set. Otherwise a process outside of containers uses /dev/shm. Inside a container there is no way to know whether
    other containers of the machine have workers.
    """
    if setting := os.environ.get(SETTING):
        return Path(setting)
    try:
        return MEMORY if os.readlink("/proc/self/ns/ipc") == HOSTS_IPC else None  # noqa: PTH115 - not a path
    except OSError:
        return None


def reserve(folder: Path, name: str) -> Reservation | None:
    """Reserve `name`; return None if another process has reserved it. Raise NotShared if the folder cannot be used."""
    path = folder / name
    try:
        while True:
            fd = _open(folder, path)
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if os.path.samestat(os.fstat(fd), path.lstat()):
                    return Reservation(name, fd)
            except FileNotFoundError:
                pass  # The file was removed meanwhile, so a lock on it would have no effect.
            except BlockingIOError:
                os.close(fd)
                return None
            except BaseException:
                os.close(fd)
                raise
            os.close(fd)
    except OSError as error:
        raise NotShared(
            f"cannot reserve {name} in {folder}: {error.strerror or error}. Let every worker of this machine read and write that folder, "
            f"or name another one that all of them share by {SETTING}."
        ) from error


def _open(folder: Path, path: Path) -> int:
    """Open the file for reading, which is enough to lock it: its owner and mount options matter only when it is created. Raise OSError."""
    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK  # A pipe of that name must not block.
    while True:
        with contextlib.suppress(FileNotFoundError):
            fd = os.open(path, flags)
            if not stat.S_ISREG(os.fstat(fd).st_mode):
                os.close(fd)
                raise OSError(errno.EINVAL, "something other than a file has that name")
            return fd
        _make(folder)
        with contextlib.suppress(FileExistsError):
            fd = os.open(path, flags | os.O_CREAT | os.O_EXCL, 0o444)
            os.fchmod(fd, 0o444)  # Set despite the umask, because other users must lock the file, too.
            return fd


def _make(folder: Path) -> None:
    """Create the folder, open to every user like /tmp. Raise OSError."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with contextlib.suppress(FileExistsError):
        folder.mkdir()
        folder.chmod(0o1777)
