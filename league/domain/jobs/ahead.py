"""The next job of a worker: claimed shortly before the current match ends, with its bots started and frozen, so that it can begin at once.

A job is claimed early only if that delays nobody (`leases.claim_several`), and if a core is free for starting its bots. If matches are short and
the queue is long, several are claimed at once and wait here. Their leases are like any other: the heartbeat renews them, and they are given back
when the worker stops, or expire when it is killed. A fault while a job is prepared counts for that job, and the current match goes on.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Iterable
from concurrent.futures import Future, ThreadPoolExecutor

from django.conf import settings
from django.db import connection

from engine.runner.cores import on_free_core
from league.domain.core.loops import Loops
from league.domain.jobs.handlers import registry
from league.domain.jobs.handlers.base import Site
from league.domain.jobs.handlers.queued import MatchLease


class Prefetcher:
    """One prepared job at most, and the jobs that were claimed with it.

    A permanent thread fetches them, because each thread has a database connection.
    """

    def __init__(
        self,
        site: Site,
        claim: Callable[..., list[MatchLease]],
        may_claim: Callable[[], bool],
        cores: Collection[int],
        loops: Loops,
    ) -> None:
        """Claim by `claim`, of the worker, if `may_claim`: the disk has room for a match. cores: of this process. loops: count the errors."""
        self._site = site
        self._claim_next = claim
        self._may_claim = may_claim
        self._loops = loops
        self._cores = cores
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="ahead")
        self._lock = threading.Lock()
        self._fetched: Future[MatchLease | None] | None = None
        self._claimed: MatchLease | None = None  # Set from the claim until `take`
        self._waiting: deque[MatchLease] = deque()  # Claimed together with an earlier job, but not prepared yet

    def begin(self) -> None:
        """Start to fetch the next job, unless that has started already."""
        with self._lock:
            if self._fetched is None:
                self._fetched = self._pool.submit(self._fetch)

    def take(self) -> MatchLease | None:
        """Return the prepared job once its bots have started; without one, the next waiting job, or None."""
        with self._lock:
            fetched, self._fetched = self._fetched, None
        job = fetched.result() if fetched is not None else None
        with self._lock:
            if self._claimed is job:
                self._claimed = None
        return job or self._next_waiting()

    @property
    def has_jobs(self) -> bool:
        """Return True if a claimed job is waiting here."""
        return bool(self._fetched or self._waiting)

    def add(self, jobs: Iterable[MatchLease]) -> None:
        """Queue jobs here that were claimed together."""
        with self._lock:
            self._waiting.extend(jobs)

    def _next_waiting(self) -> MatchLease | None:
        with self._lock:
            while self._waiting:
                job = self._waiting.popleft()
                if not job.lost:
                    return job
        return None

    def beat(self) -> None:
        """Renew the leases. If the current match takes too long, give the jobs back, so that other workers can do them."""
        for job in list(self._waiting):
            job.beat()
            if _is_late(job):
                self._give_back_waiting(f"the matches before it take worker {self._site.name} too long")
        claimed, fetched = self._claimed, self._fetched
        if claimed is None:
            return
        claimed.beat()
        if fetched is not None and fetched.done() and (_is_late(claimed) or claimed.lost):
            self._give_back_fetched(f"the match before it takes worker {self._site.name} too long")

    def close(self) -> None:
        """Give all jobs back at once, even while bots are still being started."""
        why = f"worker {self._site.name} was told to stop"
        if (claimed := self._claimed) is not None:
            registry.handler_of(claimed.kind).give_back(claimed, why)
        self._give_back_waiting(why)
        self._give_back_fetched(why)
        self._pool.submit(lambda: connection.close())  # The connection of the fetching thread
        self._pool.shutdown()

    def _give_back_fetched(self, why: str) -> None:
        if job := self.take():
            handler = registry.handler_of(job.kind)
            if job.task is not None:
                handler.close(job.task)
            handler.give_back(job, why)

    def _give_back_waiting(self, why: str) -> None:
        while job := self._next_waiting():
            registry.handler_of(job.kind).give_back(job, why)

    def _fetch(self) -> MatchLease | None:
        fetched: list[MatchLease | None] = []
        if self._loops.attempt("ahead", lambda: fetched.append(on_free_core(self._claim, self._cores))):
            return fetched[0]
        self._claimed = None  # The database is down; the lease, if there is one, expires
        return None

    def _claim(self, core: int) -> MatchLease | None:
        job = self._next_waiting()
        if job is None and self._may_claim():
            claimed = self._claim_next(ahead=True)
            self.add(claimed[1:])
            job = claimed[0] if claimed else None
        if job is None:
            return None
        self._claimed = job
        if not job.count_attempt():
            job.lost = True
            return job
        handler = registry.handler_of(job.kind)
        with job.log_context():
            try:
                job.task = handler.read(job, self._site)
                handler.prepare(job.task, self._site, core)
            except Exception as error:
                self._claimed = None
                handler.fail(job, error)
                return None
        return job


def _is_late(job: MatchLease) -> bool:
    return time.monotonic() - job.leased_at > settings.LEASE_S / 3
