"""The disk space of a worker. It is checked before each claim: a worker whose disk is too full for a match leaves the match to others."""

from __future__ import annotations

import errno
import os
import secrets
import threading
import time
from pathlib import Path

from django.conf import settings

from engine.sandbox.files import keeping, runtimes

MIB = 1 << 20
LEAST_FILES = 10_000  # Free file entries that the disk must have: an unpacked runtime has thousands of files
RESUME_FACTOR = 1.1  # A worker that refused takes work again when this many times the minimum is free
WRITE_S = 10.0  # Seconds between two test writes
TIDY_S = 600.0  # Seconds between two searches for unused unpacked files


class DiskSpace:
    """The disk below one folder, as this process sees it. `free_mb`: MiB free at the last check."""

    def __init__(self, state_dir: Path, *bots: Path) -> None:
        """bots: the folders of unpacked bots."""
        self.state_dir = state_dir
        self.bots = bots
        self.free_mb: int | None = None
        self._lock = threading.Lock()
        self._written_at = self._tidied_at = -TIDY_S

    def why_not(self, *, after_refusal: bool = False) -> str:
        """Return why no match should begin here, or "". If the disk is too full, first remove files that no process uses."""
        with self._lock:
            why = self._why_not(RESUME_FACTOR if after_refusal else 1.0)
            if why and self.tidy(to_nothing=True):
                why = self._why_not(RESUME_FACTOR if after_refusal else 1.0)
            return why

    def why_not_now(self) -> str:
        """Return why nothing can be written now, or "": an attempt that broke off meanwhile is not counted."""
        self._written_at = -WRITE_S
        return self.why_not()

    def _why_not(self, factor: float) -> str:
        advice = "make room on the disk of STATE_DIR, or set DISK_FREE_MB lower; this worker goes on by itself then"
        try:
            facts = os.statvfs(self.state_dir)
            self.free_mb = facts.f_bavail * facts.f_frsize // MIB
            if self.free_mb < settings.DISK_FREE_MB * factor:
                return (
                    f"its disk has {self.free_mb} MiB free, fewer than DISK_FREE_MB={settings.DISK_FREE_MB}: {advice}"
                )
            if facts.f_files and facts.f_favail < LEAST_FILES * factor:
                return f"its disk has room for {facts.f_favail} more files, fewer than {LEAST_FILES}: {advice}"
            if time.monotonic() - self._written_at >= WRITE_S:
                self._write()
        except OSError as error:
            if error.errno in (errno.EROFS, errno.EACCES, errno.EPERM):
                advice = "mount the disk of STATE_DIR writable for this user; this worker goes on by itself then"
            return f"its disk cannot be written to ({error.strerror or error}): {advice}"
        return ""

    def _write(self) -> None:
        """Write a page through to the disk: free bytes may be reserved for other users, or the disk may be read-only."""
        probe = self.state_dir / f".room-{os.getpid()}-{secrets.token_hex(4)}"
        try:
            with probe.open("wb") as file:
                file.write(bytes(4096))
                file.flush()
                os.fsync(file.fileno())
        finally:
            probe.unlink(missing_ok=True)
        self._written_at = time.monotonic()

    def tidy(self, *, to_nothing: bool = False) -> list[str]:
        """Remove unused unpacked bots and runtimes beyond UNPACKED_MB of each folder; all unused ones if `to_nothing`. Return their names."""
        now = time.monotonic()
        if now - self._tidied_at < (WRITE_S if to_nothing else TIDY_S):
            return []
        self._tidied_at = now
        most = 0 if to_nothing else settings.UNPACKED_MB * MIB
        gone = [name for folder in self.bots for name in keeping.prune(folder, most)]
        return gone + runtimes.prune(self.state_dir / "sandbox", most)
