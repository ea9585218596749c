"""A worker: a process that leases jobs, passes them to their handlers and reports. It tests its sandbox, and keeps its leases by a heartbeat."""

from __future__ import annotations

import logging
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import connection, transaction

from engine.runner import noise
from engine.sandbox import Sandbox, SandboxError, SandboxUnavailable, is_weaker
from engine.sandbox.files import keeping
from league.domain.bots import builds
from league.domain.core.loops import Loops
from league.domain.jobs.ahead import Prefetcher
from league.domain.jobs.beside import LOOK_S
from league.domain.jobs.disk import DiskSpace
from league.domain.jobs.handlers import registry
from league.domain.jobs.handlers.base import Lease, Signals, execute
from league.domain.jobs.handlers.idle import Allowance, IdleHandler
from league.domain.jobs.handlers.queued import MatchLease, claim
from league.domain.jobs.remote import WorkerRemote
from league.domain.jobs.tables import WorkerTables
from league.domain.matches import workers
from league.domain.matches.reports import Receipt

log = logging.getLogger("league.jobs")
BEAT_S = 5.0  # Seconds between two heartbeats at most: a slow match yields to an upload within this time
STILL_S = 120.0  # A worker without a heartbeat for this many seconds counts as stuck
BUSY_S = 1.0  # Seconds between two signs of life of a thread that waits while another one works
ROUND_S = 60.0  # For this many seconds one match follows another; then the caller of `look` gets control again
# The next match is claimed this many seconds before the current one ends: several times the start-up time of bots
SOON_S = 1.0
# While nothing changes, a worker looks for work in one of this many rounds: a job that becomes due is not urgent
IDLE_ROUNDS = 3
# Audits that have waited long go before matches for this share of the time: a long queue cannot keep them away.
AUDITS = Allowance(share=0.1, pause_s=60.0)


def open_sandbox() -> Sandbox:
    """Return the sandbox of the settings after testing it. Raise SandboxUnavailable if it would be weaker than allowed."""
    box = Sandbox(tier=settings.SANDBOX_TIER, state_dir=settings.STATE_DIR / "sandbox")
    if is_weaker(box.tier, than=settings.SANDBOX_MIN_TIER):
        raise SandboxUnavailable(
            f"the sandbox tier here is {box.tier}, weaker than SANDBOX_MIN_TIER={settings.SANDBOX_MIN_TIER}; "
            "run `tute sandbox check` on this machine and follow its advice"
        )
    return box


class WorkerLoop:
    """This process as a worker. It runs one job at a time, and has the next one prepared."""

    def __init__(self, folder: Path, after: Callable[[], None] = lambda: None) -> None:
        """folder: of the unpacked bots, by content. after: called after each job of the queue."""
        self.name = f"{socket.gethostname()[:60]}:{os.getpid()}"
        self.pid = os.getpid()
        self.folder = folder
        self.after = after
        self.refusal = ""  # Why it never takes a job: the sandbox failed its tests
        self.full = ""  # Why it takes no job until the disk has room
        table_bots, remote_opponents = folder.with_name("table-bots"), folder.with_name("remote-opponents")
        self.disk = DiskSpace(settings.STATE_DIR, folder, table_bots, remote_opponents)
        self._looking = threading.Lock()
        self._was_urgent = False  # The last claim was an upload or a try.
        self.box: Sandbox | None = None
        self.stopping = threading.Event()
        self._running: list[Lease] = []  # The current job; before it, a match that stands still
        self._rests_until: dict[Allowance, float] = {}  # The end of each pause, by the monotonic clock
        self._busy = threading.Lock()  # One job at a time, whichever thread has found it
        self.loops = Loops("worker")
        self.loops.lost = self._lost
        self.tables = WorkerTables(self.name, table_bots, self._may_claim, self.proven_sandbox, self.stopping.is_set)
        self.remote = WorkerRemote(
            self.name, remote_opponents, self._may_claim, self.proven_sandbox, self.stopping.is_set
        )
        self.ahead = Prefetcher(self, self.claim, self._may_claim, os.sched_getaffinity(0), self.loops)

    def open(self) -> None:
        """Test the sandbox and register this worker. A worker that must refuse keeps running, takes no job, and shows why."""
        self.full = self.disk.why_not()
        if self.full:
            log.error("this worker plays nothing for now: %s", self.full)
        else:
            self._open_sandbox()
        able = builds.languages_here() if self.box else ()
        workers.register(self.name, tier=self.box.tier if self.box else "", refusal=self.unable, builds=able)
        self.loops.refuse(self.unable)
        patience = max(STILL_S, 4.0 * settings.LEASE_S)
        self.loops.start("pulse", self._beat, min(settings.LEASE_S / 3, BEAT_S), patience=patience)
        if settings.TABLES and settings.TABLES_PER_WORKER and not self.refusal:
            self.loops.start("tables", self.tables.look, LOOK_S)
        if settings.REMOTE_PER_WORKER and not self.refusal:
            self.loops.start("remote", self.remote.look, LOOK_S)

    def _open_sandbox(self) -> None:
        try:
            self.box = open_sandbox()
            noise.measure_noise()  # Now, while no other process of ours runs
        except (SandboxError, OSError) as error:
            self.refusal = str(error)
            log.error("this worker plays nothing: %s", error)

    def proven_sandbox(self) -> Sandbox:
        """Return the sandbox. Raise RuntimeError if it did not pass its tests."""
        if self.box is None:
            raise RuntimeError(f"a match cannot be played here: {self.unable or 'the sandbox has not been opened'}")
        return self.box

    def why_disk_fails(self) -> str:
        """Return why nothing can be written to the disk now, or ""."""
        return self.disk.why_not_now()

    @property
    def unable(self) -> str:
        """Return why the worker takes no job at present; "" if it takes some."""
        return self.refusal or self.full

    def _may_claim(self) -> bool:
        """Check the disk, and note if it has become full or has room again. Return True if a match may be claimed."""
        if self.refusal:
            return False
        with self._looking:
            before, self.full = self.full, self.disk.why_not(after_refusal=bool(self.full))
            if before and not self.full and self.box is None:
                self._open_sandbox()
            if bool(before) != bool(self.full):
                log.error("this worker %s", f"plays nothing for now: {self.full}" if self.full else "has room again")
                workers.change(self.name, tier=self.box.tier if self.box and not self.full else "", refusal=self.unable)
                self.loops.refuse(self.unable)
        return not self.unable

    def close(self) -> None:
        """Give back all leases, and unregister."""
        self.stopping.set()
        self.ahead.close()
        self.tables.close()
        self.remote.close()
        self.loops.leave()
        if not self.loops.trouble:
            workers.unregister(self.name)

    def _lost(self) -> None:
        """Stop because a loop was lost; the row of the worker says why before the process ends."""
        self.stopping.set()
        workers.note_alive(self.name, loops=self.loops)

    # ---- the heartbeat: a separate thread, so that a lease can be short although a match is long

    def _beat(self) -> None:
        running = list(self._running)
        with transaction.atomic():  # A single transaction
            for job in running:
                job.beat()
            self.ahead.beat()
            self.tables.beat()
            self.remote.beat()
            match = running[-1].match_shown if running else None
            workers.note_alive(self.name, match=match, free_mb=self.disk.free_mb)

    @contextmanager
    def _beating(self, job: Lease) -> Iterator[None]:
        self._running.append(job)
        try:
            yield
        finally:
            self._running.remove(job)

    # ---- looking for work

    def keep_looking(self, every: float) -> None:
        """Also look for work every few seconds, in a separate thread: without a broker the worker is only slower."""

        def watch() -> None:
            while self.look(wait=False):
                pass

        self.loops.start("look", watch, every, idle=IDLE_ROUNDS * every)

    def look(self, prefer: int | None = None, *, wait: bool = True) -> bool:
        """Run the match `prefer` if it waits, else the next job. Return True if there was one.

        Matches claimed in advance follow at once. Idle work is done while no match is queued. Jobs that have waited long go before ladder matches,
        for which nobody waits and which never end, and audits before all matches, but only for a share of the worker's time.

        wait: if another thread works, wait for it, because a thread that handles a message must not take further ones.
        """
        while not self._busy.acquire(timeout=BUSY_S if wait else 0):
            self.loops.alive()
            if not wait:
                return False
        try:
            if self._run_audit() or self._run_overdue():
                return True
            until = time.monotonic() + ROUND_S
            job = self._next_queued(prefer)
            if job is None:
                return any(self._run_idle(handler) for handler in registry.idle_handlers())
            while job is not None:
                self.run(job, ahead=time.monotonic() < until)
                self.after()
                job = None if self.stopping.is_set() else self.ahead.take()
                keeping.release(self.folder, before=job.leased_at if job else time.monotonic())
            self.disk.tidy()
            return True
        finally:
            self._busy.release()

    def claim(self, **options: Any) -> list[MatchLease]:
        """Claim the next matches. After an upload or a try it is the turn of the tournaments."""
        jobs = claim(self.name, after_urgent=self._was_urgent, **options)
        if jobs:
            self._was_urgent = jobs[-1].match.priority > 0
        return jobs

    def _next_queued(self, prefer: int | None) -> MatchLease | None:
        if self.stopping.is_set() or not self._may_claim():
            return None
        if job := self.ahead.take():  # Left over, because the last match ended with an error
            return job
        claimed = self.claim(prefer=prefer)
        self.ahead.add(claimed[1:])
        return claimed[0] if claimed else None

    def _run_audit(self) -> bool:
        """Run an audit that has waited long, before matches. Return True if there was one."""
        began = time.monotonic()
        if self.ahead.has_jobs or self.stopping.is_set() or began < self._rests_until.get(AUDITS, 0.0):
            return False
        jobs = claim(self.name, most=1, overdue_audits=True) if self._may_claim() else []
        for job in jobs:
            self.run(job)
            self.after()
        now = time.monotonic()
        self._rests_until[AUDITS] = now + AUDITS.rest_s(now - began)
        return bool(jobs)

    def _run_overdue(self) -> bool:
        """Run one job of idle work that has waited long, before ladder matches. Return True if there was one."""
        if self.ahead.has_jobs:
            return False
        sharing: dict[Allowance, list[IdleHandler[Any, Any, Any]]] = {}
        for handler in registry.idle_handlers():
            sharing.setdefault(handler.allowance, []).append(handler)
        for allowance, handlers in sharing.items():
            began = time.monotonic()
            if began < self._rests_until.get(allowance, 0.0):
                continue
            overdue = [handler for handler in handlers if handler.is_overdue()]
            was_run = any(self._run_idle(handler, before_ladders=True) for handler in overdue)
            now = time.monotonic()
            self._rests_until[allowance] = now + allowance.rest_s(now - began)
            if was_run:
                return True
        return False

    def _run_idle(self, handler: IdleHandler[Any, Any, Any], *, before_ladders: bool = False) -> bool:
        """Run the next job of a kind of idle work. Return True if it was done, or has yielded to other work."""
        if self.stopping.is_set() or self.unable or (handler.needs_sandbox and self.box is None):
            return False
        job = handler.claim(self.name, before_ladders=before_ladders)
        return job is not None and (self.run(job) is not None or job.has_yielded)

    def run(self, job: Lease, *, ahead: bool = False) -> Receipt | None:
        """Run a leased job and report it. Return None if it was given back, has failed, or the lease was lost.

        ahead: claim the next match towards the end of this one.
        """

        def stop() -> bool:
            self.loops.alive()
            return self.stopping.is_set() or job.must_stop()

        def interlude() -> Callable[[], None] | None:
            return partial(self._let_pass, job) if job.in_the_way else None

        signals = Signals(stop, self._prepare_next if ahead else None, interlude)
        return execute(registry.handler_of(job.kind), job, self, signals, beating=self._beating(job))

    def _prepare_next(self, seconds_left: float) -> None:
        if seconds_left <= SOON_S and not self.stopping.is_set():
            self.ahead.begin()

    def _let_pass(self, job: Lease) -> None:
        """Validate a waiting upload, while the slow current job stands still. Errors of the validation do not end that job."""
        job.in_the_way, began = False, time.monotonic()
        try:
            may_claim = not self.stopping.is_set() and self._may_claim()
            uploads = claim(self.name, most=1, uploads_only=True) if may_claim else []
            if not uploads:
                return
            (upload,) = uploads
            if job.stand_still(upload):
                self.run(upload)
                self.after()
            else:
                job.lost = True
                why = f"the match at hand of worker {self.name} is no longer its own"
                registry.handler_of(upload.kind).give_back(upload, why)
        except Exception as error:  # The lease of the upload, if there is one, expires
            log.warning("%s: no upload could be validated meanwhile", job, exc_info=error)
            connection.close()
        finally:
            job.leave_out(time.monotonic() - began)
