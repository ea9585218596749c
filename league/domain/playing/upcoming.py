"""The next match of a worker: claimed while the present one comes to its end, its bots started and left frozen, so that it begins at once.

It is claimed only where that delays nobody (`leases.claim_several`) and where a core is free to start its bots on. Where matches are short and
the queue is long, several are claimed at once and wait in line here. Their leases are like any other: renewed by the pulse, given back when the
worker stops, lost with it when it is killed. What goes wrong is its own fault, and the present match goes on.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any

from django.conf import settings
from django.db import connection

from engine.runner import MatchSpec
from engine.runner.bot_processes import BotProcesses
from engine.runner.cores import on_free_core
from engine.runner.faults import party_of
from league.domain.core.loops import Loops
from league.domain.matches import leases
from league.enums import MatchKind
from league.models import Match

log = logging.getLogger("league.playing")
SOON_S = 1.0  # before the end of a match, by its pace, the next one is claimed: several times what a start takes
SLOW_S = 5.0  # of wall time for each sitting, or game of a validation: who takes longer is in the lane of slow bots


@dataclass
class Work:
    """A match that this worker has leased, with what was made ready for it."""

    match: Match
    spec: MatchSpec | None = None
    crew: BotProcesses | None = None  # of the first pass
    progress: int = 0
    decided: list[list[Any]] = field(
        default_factory=list
    )  # boards that are over in all their sittings: number, scores by party
    done: int = 0  # sittings, or games of a validation
    began: float | None = None  # when its bots began, by the monotonic clock
    lost: bool = False  # the lease is somebody else's by now
    in_the_way: bool = False  # an upload waits, and this one is slow
    since: float = field(default_factory=time.monotonic)

    def about(self) -> AbstractContextManager[None]:
        """Lines of the log within are about this attempt."""
        return leases.about(self.match)

    def beat(self) -> None:
        """Renew the lease."""
        slow = self.began is not None and time.monotonic() - self.began > SLOW_S * (1 + self.done)
        decided = self.decided or None
        if not leases.heartbeat(self.match.pk, self.match.token, progress=self.progress, decided=decided, slow=slow):
            self.lost = True
        elif (slow or self.match.kind == MatchKind.AUDIT) and leases.must_give_way(self.match):
            self.in_the_way = True

    @property
    def gives_way(self) -> bool:
        """Whether it is to be given back, because an upload waits. One that counts stands aside instead."""
        return self.in_the_way and self.match.kind in leases.NOTHING_AT_STAKE

    def fail(self, error: Exception) -> None:
        """The attempt has failed, by a fault of ours that costs no bot anything: a bot's faults come as results."""
        log.error("match %s: attempt %d failed", self.match.public_id, self.match.attempts, exc_info=error)
        why = f"{type(error).__name__}: {error}"[:500]
        leases.fail(self.match.pk, self.match.token, why=why, party=party_of(error))

    def release(self, why: str) -> None:
        """Give the match back unplayed; nothing where it is no longer ours."""
        if self.gives_way:
            leases.give_way(self.match.pk, self.match.token)
            return
        leases.release(self.match.pk, self.match.token, why=why)

    def close(self) -> None:
        """End the bots that were made ready."""
        if self.crew is not None:
            self.crew.close()


def claim(worker: str, **how: Any) -> list[Work]:
    """Lease the next matches in line. `how`: as `leases.claim_several` takes it."""
    return [Work(match) for match in leases.claim_several(worker, **how)]


class Upcoming:
    """At most one match with its bots, fetched by a thread that lasts, since each has a connection to the database; those claimed with it behind."""

    def __init__(
        self,
        worker: str,
        may_claim: Callable[[], bool],
        ready: Callable[[Work, int], None],
        cores: Collection[int],
        loops: Loops,
    ) -> None:
        """may_claim: whether there is room for a match; ready: makes spec and crew of a claimed one, on a core; cores: those of this process.

        loops: where errors are counted.
        """
        self._worker = worker
        self._may_claim = may_claim
        self._loops = loops
        self._ready = ready
        self._cores = cores
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="upcoming")
        self._lock = threading.Lock()
        self._fetched: Future[Work | None] | None = None
        self._claimed: Work | None = None  # from the claim until it is taken
        self._line: deque[Work] = deque()  # claimed with another one, and not yet begun

    def begin(self) -> None:
        """Fetch the next match, unless that has been begun."""
        with self._lock:
            if self._fetched is None:
                self._fetched = self._pool.submit(self._fetch)

    def take(self) -> Work | None:
        """The match that was fetched, if any, else the next that waits here: from now on the caller's. Waits until its bots are there."""
        with self._lock:
            fetched, self._fetched = self._fetched, None
        work = fetched.result() if fetched is not None else None
        with self._lock:
            if self._claimed is work:
                self._claimed = None
        return work or self._next_in_line()

    @property
    def holds_some(self) -> bool:
        """Whether a match that was claimed waits here."""
        return bool(self._fetched or self._line)

    def line_up(self, works: Iterable[Work]) -> None:
        """Keep what was claimed with another match until its turn."""
        with self._lock:
            self._line.extend(works)

    def _next_in_line(self) -> Work | None:
        with self._lock:
            while self._line:
                work = self._line.popleft()
                if not work.lost:
                    return work
        return None

    def beat(self) -> None:
        """Renew the leases. If the present match takes too long, give the others back, so that they can be played elsewhere."""
        for waits in list(self._line):
            waits.beat()
            if time.monotonic() - waits.since > settings.LEASE_S / 3:
                self._empty_line(f"the matches before it take worker {self._worker} too long")
        work, fetched = self._claimed, self._fetched
        if work is None:
            return
        work.beat()
        late = time.monotonic() - work.since > settings.LEASE_S / 3
        if fetched is not None and fetched.done() and (late or work.lost):
            self._give_back(f"the match before it takes worker {self._worker} too long")

    def close(self) -> None:
        """Give the fetched match back at once, even while its bots are still being started."""
        why = f"worker {self._worker} was told to stop"
        if self._claimed is not None:
            self._claimed.release(why)
        self._empty_line(why)
        self._give_back(why)
        self._pool.submit(lambda: connection.close())  # that of its thread
        self._pool.shutdown()

    def _give_back(self, why: str) -> None:
        if work := self.take():
            work.close()
            work.release(why)

    def _empty_line(self, why: str) -> None:
        while work := self._next_in_line():
            work.release(why)

    def _fetch(self) -> Work | None:
        found: list[Work | None] = []
        if self._loops.attempt("ahead", lambda: found.append(on_free_core(self._claim, self._cores))):
            return found[0]
        self._claimed = None  # the database is away: the lease, if there is one, runs out
        return None

    def _claim(self, core: int) -> Work | None:
        work = self._next_in_line()
        if work is None and self._may_claim():
            found = claim(self._worker, ahead=True)
            self.line_up(found[1:])
            work = found[0] if found else None
        if work is None:
            return None
        self._claimed = work
        if not leases.count_attempt(work.match):
            work.lost = True
            return work
        with work.about():
            try:
                self._ready(work, core)
            except Exception as error:
                self._claimed = None
                work.fail(error)
                return None
        return work
