"""Work that a worker runs beside its job: each piece in a thread of its own, which mostly waits for somebody elsewhere."""

from __future__ import annotations

import logging
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from django.db import connection

from engine.sandbox import Sandbox
from engine.sandbox.files import keeping

log = logging.getLogger("league.jobs")
LOOK_S = 1.0  # Seconds between two checks for waiting work
AT_ONCE = 5  # The most pieces that a worker takes in one check, so that other workers get some


class Beating(Protocol):
    """A lease that the worker renews."""

    def beat(self) -> None:
        """Renew the lease."""


B = TypeVar("B", bound=Beating)


class WorkBeside(ABC, Generic[B]):
    """One kind of such work on one worker."""

    def __init__(
        self,
        name: str,
        folder: Path,
        may_play: Callable[[], bool],
        box: Callable[[], Sandbox],
        leaving: Callable[[], bool],
    ) -> None:
        """name: of the worker. folder: of the unpacked bots. may_play: True if the disk has room. leaving: True if the worker has to stop."""
        self.name, self.folder, self.proven_sandbox = name, folder, box
        self._may_play, self._leaving = may_play, leaving
        self._held: dict[B, tuple[threading.Thread, float]] = {}  # Each with the monotonic time at which it began
        self._lock = threading.Lock()

    @abstractmethod
    def most(self) -> int:
        """Return the most pieces at a time."""

    @abstractmethod
    def is_awaited(self) -> bool:
        """Return True if a piece waits for a worker. One query."""

    @abstractmethod
    def claim(self) -> B | None:
        """Lease the next piece."""

    @abstractmethod
    def run(self, lease: B) -> None:
        """Do a piece, and report or give it back. Raise an exception only if that is impossible."""

    def is_full(self) -> bool:
        """Return True if there is room for no other piece."""
        with self._lock:
            return len(self._held) >= self.most()

    def look(self) -> bool:
        """Take the pieces that wait, a few at once, as far as there is room. Return True if there was one."""
        number = 0
        while number < AT_ONCE and self._take():
            number += 1
        return number > 0

    def _take(self) -> bool:
        if self._leaving() or self.is_full() or not self.is_awaited() or not self._may_play():
            return False
        lease = self.claim()
        if lease is None:
            return False
        thread = threading.Thread(target=self._keep, args=(lease,), name=str(lease), daemon=True)
        with self._lock:
            self._held[lease] = thread, time.monotonic()
        thread.start()
        return True

    def beat(self) -> None:
        """Renew the leases."""
        with self._lock:
            leases = list(self._held)
        self.renew(leases)

    def renew(self, leases: Sequence[B]) -> None:
        """Renew these leases."""
        for lease in leases:
            lease.beat()

    def close(self, patience: float = 15) -> None:
        """Wait until all pieces have been given back; `leaving` already returns True."""
        with self._lock:
            threads = list(self._held.values())
        for thread, _ in threads:
            thread.join(patience)

    def _keep(self, lease: B) -> None:
        try:
            self.run(lease)
        except Exception as error:  # The database is down; the lease expires
            log.error("%s: it could not be given back", lease, exc_info=error)
        finally:
            connection.close()
            with self._lock:
                del self._held[lease]
                oldest = min((began for _, began in self._held.values()), default=time.monotonic())
                keeping.release(self.folder, before=oldest)
