"""The matches of remote bots that a worker plays beside its job: each in its own thread, which mostly waits for their authors' machines."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from pathlib import Path

from django.conf import settings
from django.db import connection, transaction

from engine.sandbox import Sandbox
from engine.sandbox.files import keeping
from league.domain.jobs.handlers import registry
from league.domain.jobs.handlers.base import Signals, execute
from league.domain.jobs.handlers.queued import MatchLease
from league.domain.matches import kinds, leases
from league.enums import MatchStatus
from league.models import Match

log = logging.getLogger("league.remote")
LOOK_S = 1.0  # Seconds between two checks for a waiting match


class RemoteLease(MatchLease):
    """A match of remote bots: it occupies no worker, so it is never slow and stands in nobody's way."""

    match_shown = None
    is_slow = False

    def __init__(self, match: Match) -> None:
        super().__init__(match)
        self.match_shown = None

    def start(self) -> None:
        """Begin the attempt. Raise IllegalMove."""
        with transaction.atomic():
            leases.start(self.match)


class WorkerRemote:
    """The matches of remote bots on one worker."""

    def __init__(
        self,
        worker: str,
        folder: Path,
        may_play: Callable[[], bool],
        box: Callable[[], Sandbox],
        leaving: Callable[[], bool],
    ) -> None:
        """folder: of the unpacked bots. may_play: returns True if there is room for a match. leaving: returns True if the worker has to stop."""
        self.name, self.folder, self.proven_sandbox = worker, folder, box
        self._may_play, self._leaving = may_play, leaving
        self._held: dict[RemoteLease, threading.Thread] = {}
        self._lock = threading.Lock()

    def why_disk_fails(self) -> str:
        """Return "": a match whose cards were seen is not given back."""
        return ""

    def look(self) -> bool:
        """Take a waiting match if there is room. Return True if there was one."""
        if self._leaving() or len(self._held) >= settings.REMOTE_PER_WORKER:
            return False
        waiting = Match.work.filter(kinds.REMOTE_ROWS, status=MatchStatus.QUEUED, held_back=False)
        if not waiting.exists() or not self._may_play():
            return False
        for match in leases.claim_several(self.name, 1, remote=True):
            job = RemoteLease(match)
            thread = threading.Thread(target=self._play, args=(job,), name=f"remote-{match.public_id}", daemon=True)
            with self._lock:
                self._held[job] = thread
            thread.start()
            return True
        return False

    def beat(self) -> None:
        """Renew the leases."""
        with self._lock:
            jobs = list(self._held)
        for job in jobs:
            job.beat()

    def close(self, patience: float = 15) -> None:
        """Wait until all matches have been given back; `leaving` already returns True."""
        with self._lock:
            threads = list(self._held.values())
        for thread in threads:
            thread.join(patience)

    def _play(self, job: RemoteLease) -> None:
        try:
            execute(registry.handler_of(job.kind), job, self, Signals(lambda: self._leaving() or job.must_stop()))
        except Exception as error:  # The database is down; the lease expires
            log.error("%s: it could not be given back", job, exc_info=error)
        finally:
            connection.close()
            with self._lock:
                del self._held[job]
                if not self._held:
                    keeping.release(self.folder, before=time.monotonic())
