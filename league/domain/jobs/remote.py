"""The matches of remote bots that a worker plays beside its job, while they wait for their authors' machines."""

from __future__ import annotations

from django.conf import settings
from django.db import transaction

from league.domain.jobs.beside import WorkBeside
from league.domain.jobs.handlers import registry
from league.domain.jobs.handlers.base import Signals, execute
from league.domain.jobs.handlers.queued import MatchLease
from league.domain.matches import kinds, leases
from league.enums import MatchStatus
from league.models import Match


class RemoteLease(MatchLease):
    """A match of remote bots: it occupies no worker, so it is never slow and stands in nobody's way."""

    is_slow = False

    def __init__(self, match: Match) -> None:
        super().__init__(match)
        self.match_shown = None

    def start(self) -> None:
        """Begin the attempt. Raise IllegalMove."""
        with transaction.atomic():
            leases.start(self.match)


class WorkerRemote(WorkBeside[RemoteLease]):
    """The matches of remote bots on one worker."""

    def most(self) -> int:
        """Return the most matches at a time."""
        return settings.REMOTE_PER_WORKER

    def is_awaited(self) -> bool:
        """Return True if a match waits. One query."""
        return Match.work.filter(kinds.REMOTE_ROWS, status=MatchStatus.QUEUED, held_back=False).exists()

    def claim(self) -> RemoteLease | None:
        """Lease the next match."""
        return next(map(RemoteLease, leases.claim_several(self.name, 1, remote=True)), None)

    def why_disk_fails(self) -> str:
        """Return "": a match whose cards were seen is not given back."""
        return ""

    def run(self, lease: RemoteLease) -> None:
        """Play a match."""
        execute(registry.handler_of(lease.kind), lease, self, Signals(lambda: self._leaving() or lease.must_stop()))
