"""A small disk of its own below a folder, which can be filled to the last byte. Only root may make one."""

from __future__ import annotations

import contextlib
import ctypes
import os
import subprocess
from pathlib import Path

CLONE_NEWNS = 0x00020000
CHUNK = 1 << 20


def be_apart() -> None:
    """Let this process and all that it starts have mounts of their own, which go with it however it ends."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWNS):
        raise OSError(ctypes.get_errno(), "unshare")
    subprocess.run(["mount", "--make-rprivate", "/"], check=True)


class Disk:
    """A file system in memory."""

    def __init__(self, folder: Path, megabytes: int) -> None:
        self.folder = folder
        folder.mkdir(exist_ok=True)
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={megabytes}m,mode=0755", "none", str(folder)], check=True)

    def fill(self) -> None:
        """Take all room that is left."""
        with (self.folder / "ballast").open("ab", buffering=0) as ballast, contextlib.suppress(OSError):
            for size in (CHUNK, 4096):
                with contextlib.suppress(OSError):
                    while True:
                        ballast.write(b"\0" * size)

    def have_room(self) -> None:
        """Give it back."""
        (self.folder / "ballast").unlink(missing_ok=True)


def may_be_made() -> bool:
    """Return True if this process may create one."""
    return os.geteuid() == 0
