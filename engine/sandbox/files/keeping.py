"""Decide which trees stay on the disk: those in use, and of the others the most recently used, up to a number of bytes.

A process that uses a tree holds a shared lock on its folder, which the kernel releases when the process dies. A process that removes trees
locks them exclusively first, so nothing is removed under a bot.
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
_LITTER_S = 86400.0  # Age from which leftovers of killed processes are removed.
_one_at_a_time = threading.Lock()  # Needed because a worker prepares its next match in another thread.
# For each tree: the descriptor with the lock, and the monotonic time of its last use.
_locks: dict[Path, tuple[int, float]] = {}


def use(root: Path) -> None:
    """Record that this process uses a tree, and keep the tree until `release`. Raise FileNotFoundError if it has been removed, OSError."""
    with _one_at_a_time:
        fd, _ = _locks.pop(root, (-1, 0.0))
        if fd >= 0 and not _is_at(fd, root):  # The tree was deleted by hand.
            os.close(fd)
            fd = -1
        while fd < 0:
            fd = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            fcntl.flock(fd, fcntl.LOCK_SH)
            if not _is_at(fd, root):  # The tree was just being removed.
                os.close(fd)
                fd = -1
        _locks[root] = fd, time.monotonic()
    note = inventory.place(root)
    with contextlib.suppress(OSError):  # The file with the time of last use belongs to another user, or does not exist.
        os.utime(note, ns=(time.time_ns(), note.stat().st_mtime_ns))


def _is_at(fd: int, root: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(fd), root.stat())
    except FileNotFoundError:
        return False


def release(directory: Path, before: float) -> None:
    """Release the trees in a directory that this process has not used since the monotonic time `before`."""
    with _one_at_a_time:
        for root, (fd, used) in list(_locks.items()):
            if root.parent == directory and used < before:
                del _locks[root]
                os.close(fd)


def prune(directory: Path, most_bytes: int, copies: str = "") -> list[str]:
    """Remove unused trees, the least recently used first, until the rest has at most `most_bytes`. Return their names.

    copies: the name of the folder in each tree that holds files of live bots. A tree with such files stays, because locks of another kernel are
    invisible. Unfinished trees of killed processes are removed after a day. Raise nothing: trees that cannot be removed stay.
    """
    gone = []
    with contextlib.suppress(OSError):
        trees = sorted(_trees(directory))
        total = sum(size for _, size, _ in trees)
        for _, size, root in trees:
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
    """Yield the time of last use in seconds, the bytes, and the path of each tree."""
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
