"""A worker: a process that leases jobs, hands them to their handlers and reports. It proves its sandbox and keeps its leases by a heartbeat."""

from __future__ import annotations

import logging
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import connection, transaction

from engine.runner import noise
from engine.sandbox import Sandbox, SandboxError, SandboxUnavailable, is_weaker
from engine.sandbox.files import keeping
from league.domain.core.loops import Loops
from league.domain.jobs.ahead import Prefetcher
from league.domain.jobs.disk import DiskSpace
from league.domain.jobs.handlers import registry
from league.domain.jobs.handlers.base import Lease, Signals, execute
from league.domain.jobs.handlers.idle import Allowance, IdleHandler
from league.domain.jobs.handlers.queued import MatchLease, claim
from league.domain.jobs.tables import LOOK_S, Tables
from league.domain.matches import workers
from league.domain.matches.reports import Receipt

log = logging.getLogger("league.jobs")
BEAT_S = 5.0  # between two heartbeats at most: a slow match lets an upload pass within this time
STILL_S = 120.0  # without a heartbeat for this long the worker counts as stuck
BUSY_S = 1.0  # between two signs of life of a thread that waits while another one works
ROUND_S = 60.0  # while this lasts one match follows another; then the caller of `look` is heard again
SOON_S = 1.0  # the next match is claimed this long before the present one ends: several times the start-up time of bots


def open_sandbox() -> Sandbox:
    """Return the sandbox of the settings, proven by its canary battery. Raises SandboxUnavailable if it would be weaker than allowed."""
    box = Sandbox(tier=settings.SANDBOX_TIER, state_dir=settings.STATE_DIR / "sandbox")
    if is_weaker(box.tier, than=settings.SANDBOX_MIN_TIER):
        raise SandboxUnavailable(
            f"the sandbox tier here is {box.tier}, weaker than SANDBOX_MIN_TIER={settings.SANDBOX_MIN_TIER}; "
            "run `tute sandbox check` on this machine and follow its advice"
        )
    return box


class Worker:
    """This process as a worker. It runs one job at a time and has the next one prepared."""

    def __init__(self, folder: Path, after: Callable[[], None] = lambda: None) -> None:
        """folder: of the unpacked bots, by content. after: called after each job of the queue."""
        self.name = f"{socket.gethostname()[:60]}:{os.getpid()}"
        self.pid = os.getpid()
        self.folder = folder
        self.after = after
        self.refusal = ""  # why it never takes a job: the sandbox does not hold here
        self.full = ""  # why it takes none until there is room on the disk
        self.disk = DiskSpace(settings.STATE_DIR, folder)
        self._looking = threading.Lock()
        self.box: Sandbox | None = None
        self.stopping = threading.Event()
        self._running: list[Lease] = []  # the job at hand; before it a match that stands still
        self._rests_until: dict[Allowance, float] = {}  # The end of each pause, by the monotonic clock
        self._busy = threading.Lock()  # one job at a time, whichever thread has found it
        self.loops = Loops("worker")
        self.loops.lost = self._lost
        self.tables = Tables(
            self.name, folder.with_name("table-bots"), self._may_claim, self.proven_sandbox, self.stopping.is_set
        )
        self.ahead = Prefetcher(self, self._may_claim, os.sched_getaffinity(0), self.loops)

    def open(self) -> None:
        """Prove the sandbox and register this worker. One that must refuse keeps running, takes no job and shows why."""
        self.full = self.disk.why_not()
        if self.full:
            log.error("this worker plays nothing for now: %s", self.full)
        else:
            self._open_sandbox()
        workers.register(self.name, tier=self.box.tier if self.box else "", refusal=self.unable)
        self.loops.refuse(self.unable)
        patience = max(STILL_S, 4.0 * settings.LEASE_S)
        self.loops.start("pulse", self._beat, min(settings.LEASE_S / 3, BEAT_S), patience=patience)
        if settings.TABLES and settings.TABLES_PER_WORKER and not self.refusal:
            self.loops.start("tables", self.tables.look, LOOK_S)

    def _open_sandbox(self) -> None:
        try:
            self.box = open_sandbox()
            noise.measure_noise()  # measured now, while nothing else of ours runs
        except (SandboxError, OSError) as error:
            self.refusal = str(error)
            log.error("this worker plays nothing: %s", error)

    def proven_sandbox(self) -> Sandbox:
        """Return the sandbox. Raises RuntimeError if it was not proven."""
        if self.box is None:
            raise RuntimeError(f"a match cannot be played here: {self.unable or 'the sandbox has not been opened'}")
        return self.box

    @property
    def unable(self) -> str:
        """Why it takes no job at present; empty if it takes some."""
        return self.refusal or self.full

    def _may_claim(self) -> bool:
        """Look at the disk, and note if it has become full or has room again. Return True if a match may be claimed."""
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
        """Give back what is leased, and leave the league."""
        self.stopping.set()
        self.ahead.close()
        self.tables.close()
        self.loops.leave()
        if not self.loops.trouble:
            workers.unregister(self.name)

    def _lost(self) -> None:
        """Stop because a loop is lost; the row of the worker says why before the process ends."""
        self.stopping.set()
        workers.note_alive(self.name, loops=self.loops)

    # ---- the heartbeat: a thread of its own, so that a lease may be short and a match long

    def _beat(self) -> None:
        running = list(self._running)
        with transaction.atomic():  # one commit
            for job in running:
                job.beat()
            self.ahead.beat()
            self.tables.beat()
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
        """Look for work every few seconds as well, in a thread of its own: without a broker the worker is slower, no more."""

        def watch() -> None:
            while self.look(wait=False):
                pass

        self.loops.start("look", watch, every)

    def look(self, prefer: int | None = None, *, wait: bool = True) -> bool:
        """Run the match `prefer` if it waits, else the next job. Return True if there was one.

        Matches that are claimed ahead meanwhile follow at once. Idle work is done where no match waits; what has waited long goes before matches
        of ladders, which nobody waits for and which never end, for a share of the worker's time at most.

        wait: while another thread works, wait for it. A thread that a message has called must not take further messages.
        """
        while not self._busy.acquire(timeout=BUSY_S if wait else 0):
            self.loops.alive()
            if not wait:
                return False
        try:
            if self._run_overdue():
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

    def _next_queued(self, prefer: int | None) -> MatchLease | None:
        if self.stopping.is_set() or not self._may_claim():
            return None
        if job := self.ahead.take():  # an error came between it and the match before
            return job
        claimed = claim(self.name, prefer=prefer)
        self.ahead.add(claimed[1:])
        return claimed[0] if claimed else None

    def _run_overdue(self) -> bool:
        """Run one job of idle work that has waited long, before matches of ladders. Return True if there was one."""
        if self.ahead.has_jobs:
            return False
        for allowance, handlers in groupby(registry.idle_handlers(), key=lambda handler: handler.allowance):
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
        """Run the next job of a kind of idle work. Return True if it was done, or has yielded to something that waits."""
        if self.stopping.is_set() or self.unable or (handler.needs_sandbox and self.box is None):
            return False
        job = handler.claim(self.name, before_ladders=before_ladders)
        return job is not None and (self.run(job) is not None or job.has_yielded)

    def run(self, job: Lease, *, ahead: bool = False) -> Receipt | None:
        """Run a leased job and report it. Return None if it was given back, has failed, or was lost to another worker.

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
        """Validate an upload that waits, while the slow job at hand stands still. Nothing that goes wrong with it ends the job."""
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
        except Exception as error:  # the lease of the upload, if there is one, runs out
            log.warning("%s: no upload could be validated meanwhile", job, exc_info=error)
            connection.close()
        finally:
            job.leave_out(time.monotonic() - began)
