"""Room on the disk of a worker. It is looked at before a match is claimed: a match that cannot be played to its end is left to others."""

from __future__ import annotations

import os
import secrets
import threading
import time
from pathlib import Path

from django.conf import settings

from engine.sandbox.files import keeping, runtimes

MIB = 1 << 20
LEAST_FILES = 10_000  # that can still be made: an unpacked runtime has thousands
MORE = 1.1  # times what is needed has to be free before a worker that refused takes work again
WRITE_S = 10.0  # between two tries to write
TIDY_S = 600.0  # between two looks for trees that nobody uses


class Room:
    """The disk below one folder, as this process sees it. `free_mb`: as it was seen last."""

    def __init__(self, state_dir: Path, bots: Path) -> None:
        self.state_dir = state_dir
        self.bots = bots
        self.free_mb: int | None = None
        self._lock = threading.Lock()
        self._wrote = self._tidied = -TIDY_S

    def why_not(self, *, after_refusal: bool = False) -> str:
        """Why no match should be begun here, empty if one may. Where there is no room, it first removes what no process uses."""
        with self._lock:
            why = self._why_not(MORE if after_refusal else 1.0)
            if why and self.tidy(nothing_else=True):
                why = self._why_not(MORE if after_refusal else 1.0)
            return why

    def _why_not(self, times: float) -> str:
        do = "make room on the disk of STATE_DIR, or set DISK_FREE_MB lower; this worker goes on by itself then"
        try:
            facts = os.statvfs(self.state_dir)
            self.free_mb = facts.f_bavail * facts.f_frsize // MIB
            if self.free_mb < settings.DISK_FREE_MB * times:
                return f"its disk has {self.free_mb} MiB free, fewer than DISK_FREE_MB={settings.DISK_FREE_MB}: {do}"
            if facts.f_files and facts.f_favail < LEAST_FILES * times:
                return f"its disk has room for {facts.f_favail} more files, fewer than {LEAST_FILES}: {do}"
            if time.monotonic() - self._wrote >= WRITE_S:
                self._write()
        except OSError as error:
            return f"its disk cannot be written to ({error.strerror or error}): {do}"
        return ""

    def _write(self) -> None:
        """A page that reaches the disk: there may be bytes for others and none for us, or the disk may only be read."""
        probe = self.state_dir / f".room-{os.getpid()}-{secrets.token_hex(4)}"
        try:
            with probe.open("wb") as file:
                file.write(bytes(4096))
                file.flush()
                os.fsync(file.fileno())
        finally:
            probe.unlink(missing_ok=True)
        self._wrote = time.monotonic()

    def tidy(self, *, nothing_else: bool = False) -> list[str]:
        """Remove unpacked bots and runtimes that no process uses, beyond UNPACKED_MB of each; with `nothing_else` all of them. Their names."""
        now = time.monotonic()
        if now - self._tidied < (WRITE_S if nothing_else else TIDY_S):
            return []
        self._tidied = now
        most = 0 if nothing_else else settings.UNPACKED_MB * MIB
        return keeping.prune(self.bots, most) + runtimes.prune(self.state_dir / "sandbox", most)
