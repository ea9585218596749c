"""One core for one match: a message between two processes on one core costs about a tenth of one between cores (docs/protocol.md)."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def pinned(folder: Path | None) -> Iterator[int | None]:
    """Keep the calling thread on a core that no other match of this machine holds, while the block runs.

    Locks in `folder` say which cores are taken. Gives None, and pins nothing, where all are taken, where the system cannot pin, or where
    `folder` is None.
    """
    allowed = os.sched_getaffinity(0) if hasattr(os, "sched_setaffinity") else set()
    lock = _take(folder, sorted(allowed)) if folder is not None and len(allowed) > 0 else None
    if lock is None:
        yield None
        return
    descriptor, core = lock
    try:
        os.sched_setaffinity(0, {core})
        yield core
    finally:
        os.sched_setaffinity(0, allowed)
        os.close(descriptor)  # gives up the lock


def _take(folder: Path, cores: list[int]) -> tuple[int, int] | None:
    folder.mkdir(parents=True, exist_ok=True)
    for core in cores:
        descriptor = os.open(folder / f"core-{core}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(descriptor)
            continue
        return descriptor, core
    return None
