"""Which trees stay on the disk: those in use, and of the others those used last, up to a number of bytes.

A process that uses a tree holds a shared lock on its folder, which the kernel lets go when the process dies. Whoever removes trees locks them for
itself first, so nothing is taken from under a bot.
"""

from __future__ import annotations

import contextlib
import fcntl
import logging
import os
import secrets
import shutil
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from engine.sandbox.files import inventory

log = logging.getLogger("engine.files")
_LITTER_S = 86400.0  # work of a process that was killed
_one_at_a_time = threading.Lock()  # a worker makes its next match ready in a thread of its own
_held: dict[Path, tuple[int, float]] = {}  # descriptor with the lock, and when it was used last by the monotonic clock


def use(root: Path) -> None:
    """Note that this process uses a tree, and keep it until `let_go`. Raises FileNotFoundError where it has been removed, OSError."""
    with _one_at_a_time:
        fd, _ = _held.pop(root, (-1, 0.0))
        if fd >= 0 and not _is_at(fd, root):  # somebody deleted it by hand
            os.close(fd)
            fd = -1
        while fd < 0:
            fd = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            fcntl.flock(fd, fcntl.LOCK_SH)
            if not _is_at(fd, root):  # it was just being removed
                os.close(fd)
                fd = -1
        _held[root] = fd, time.monotonic()
    note = inventory.place(root)
    with contextlib.suppress(OSError):  # another user's, or none
        os.utime(note, ns=(time.time_ns(), note.stat().st_mtime_ns))


def _is_at(fd: int, root: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(fd), root.stat())
    except FileNotFoundError:
        return False


def let_go(directory: Path, before: float) -> None:
    """Let the trees in a directory go that this process has not used since `before`, by the monotonic clock."""
    with _one_at_a_time:
        for root, (fd, used) in list(_held.items()):
            if root.parent == directory and used < before:
                del _held[root]
                os.close(fd)


def prune(directory: Path, most_bytes: int, copies: str = "") -> list[str]:
    """Remove the trees that nobody uses, those used longest ago first, until the rest has at most `most_bytes`. Their names.

    copies: the folder of a tree with the files of live bots, if it has one: where there are any it stays, since locks of another kernel
    cannot be seen. What killed processes have left half made goes after a day. Raises nothing: what cannot be removed stays.
    """
    gone = []
    with contextlib.suppress(OSError):
        found = sorted(_trees(directory))
        total = sum(size for _, size, _ in found)
        for _, size, root in found:
            if total <= most_bytes:
                break
            with contextlib.suppress(OSError):
                if not (copies and any((root / copies).glob("*"))) and _remove(root):
                    total -= size
                    gone.append(root.name)
    if gone:
        log.info("removed %d unused trees from %s", len(gone), directory)
    return gone


def _trees(directory: Path) -> Iterator[tuple[float, int, Path]]:
    """When it was used last, in seconds, its bytes, and where it is."""
    for root in list(directory.iterdir()):
        with contextlib.suppress(OSError):
            if not root.is_dir():
                continue
            if root.name.startswith("."):
                if time.time() - root.stat().st_mtime > _LITTER_S:
                    shutil.rmtree(root, ignore_errors=True)
                continue
            note = inventory.place(root)
            used = (note if note.exists() else root).stat().st_atime
            yield used, inventory.size(root), root


def _remove(root: Path) -> bool:
    fd = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        away = root.with_name(f".gone-{secrets.token_hex(6)}")
        root.rename(away)
        inventory.discard(root)
        shutil.rmtree(away, ignore_errors=True)
    except BlockingIOError:
        return False
    finally:
        os.close(fd)
    return True
