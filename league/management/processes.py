"""A supervisor for the web server, workers and scheduler of one machine.

Its children are forks of itself: they share the memory of all that is loaded already, and start at once.
"""

from __future__ import annotations

import ctypes
import gc
import importlib
import logging
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from django.conf import settings
from django.core.management import load_command_class
from django.core.management.base import CommandError
from django.db import connections

import engine
from league.service import alive

log = logging.getLogger("league.processes")
PR_SET_PDEATHSIG, PR_SET_NAME = 1, 15
LIBC = ctypes.CDLL(None, use_errno=True)
QUICK = 5.0  # A process that ends within this many seconds counts as a failed start.
MOST_FAILURES = 5  # The supervisor gives up after this many failed starts in a row.
SIGNALS = (signal.SIGTERM, signal.SIGINT)
PATIENCE = 20.0  # Seconds between SIGTERM and SIGKILL.
ROUND_S = 0.25  # Seconds between two looks at the children.
ROUNDS = 20  # In one of this many, the supervisor looks for signs of life.
# Modules that workers and scheduler otherwise load when they start, each for itself
EARLY = (
    "celery.app.control",
    "celery.app.events",
    "celery.app.log",
    "celery.apps.worker",
    "celery.concurrency.solo",
    "celery.contrib.django.task",
    "celery.events.state",
    "celery.worker.autoscale",
    "celery.worker.components",
    "celery.worker.consumer",
    "celery.worker.consumer.delayed_delivery",
    "celery.worker.strategy",
    "django.db.models.sql.compiler",
    "league.service.file_broker",
    "psutil",
)
HOLES = (8192, 4096, 2048, 1024, 512, 256, 128, 64, 24)  # Sizes of gaps between blocks of memory, in bytes.
AT_ONCE = 16  # Gaps filled between two looks at the heap.
STILL_S = 150.0  # A process of which no loop has shown a sign of life for this long is killed.

Work = Callable[[], object]


class GaveUp(RuntimeError):
    """The error that a process keeps ending."""


@dataclass
class SupervisedProcess:
    """One process that should be running."""

    name: str
    work: Work
    pid: int = 0  # 0: it does not run.
    code: int = 0  # The exit code of the last one.
    began: float = 0.0
    failures: int = 0
    again_at: float = 0.0
    sign: float | None = None  # Its latest sign of life.
    still_rounds: int = 0  # Rounds of the supervisor since then. While both are frozen, none goes by.

    def is_running(self) -> bool:
        """Return True if the process has not ended; otherwise note its exit code."""
        if self.pid:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.pid, self.code = 0, os.waitstatus_to_exitcode(status)
        return bool(self.pid)

    def wait(self, seconds: float) -> bool:
        """Wait for the end of the process. Return True if it has ended."""
        until = time.monotonic() + seconds
        while self.is_running():
            if time.monotonic() > until:
                return False
            time.sleep(0.01)
        return True


def manage(*words: str) -> Work:
    """Return the work of a process that runs a management command."""
    command = load_command_class("league", words[0])
    # Our own command has checked the settings.
    return lambda: command.run_from_argv(["manage.py", *words, "--skip-checks"])


def apart(work: Work) -> None:
    """Do the work in a fork of this process, so that its memory ends with it. Raise SystemExit if it fails (the fork says why), or CommandError."""
    connections.close_all()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    child = os.fork()
    if not child:
        code = 1
        try:
            LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
            work()
            code = 0
        except CommandError as error:
            sys.stderr.write(f"CommandError: {error}\n")
        except Exception:
            traceback.print_exc()
        finally:
            connections.close_all()
            for stream in (sys.stdout, sys.stderr):
                stream.flush()
            os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code < 0:
        raise CommandError(f"the preparation was ended by signal {-code}; by 9 if the machine has too little memory")
    if code:
        sys.exit(code)


class _HeapUse(ctypes.Structure):
    """The answer of the C library's mallinfo2."""

    _fields_ = (("others", ctypes.c_size_t * 8), ("free", ctypes.c_size_t), ("top", ctypes.c_size_t))


def fill_heap() -> None:
    """Take the gaps between the blocks of the C library's heap, for good.

    A child would put its first small blocks, as those of SQLite's schema, into thousands of them, and copy a page for each. Other C libraries than
    glibc are left alone.
    """
    heap_use = getattr(LIBC, "mallinfo2", None)
    if heap_use is None:
        return
    heap_use.restype = _HeapUse
    for size in HOLES:
        before = heap_use()
        for _ in range((before.free - before.top) // (size * AT_ONCE)):
            if heap_use().top != before.top:
                break  # No gap fits any more.
            for _ in range(AT_ONCE):
                LIBC.malloc(ctypes.c_size_t(size))


class Supervisor:
    """A supervisor that starts and watches processes, restarts them with growing pauses, and stops them."""

    def __init__(
        self,
        children: Mapping[str, Work],
        *,
        log: Path | None = None,
        prepare: Work = lambda: None,
    ) -> None:
        """log: for the output of the children; None: the output of this process. prepare: called first in each child."""
        self.children = [SupervisedProcess(name, work) for name, work in children.items()]
        self.log = log
        self.prepare = prepare
        self.stopping = False

    def start(self) -> None:
        """Start everything. What all children need is loaded before, and its memory then shared."""
        for game in engine.games():
            engine.load(game)
        for name in EARLY:
            importlib.import_module(name)
        gc.collect()
        fill_heap()
        gc.freeze()  # Otherwise the first collection in a child would copy the memory that it shares with us.
        for child in self.children:
            self._start(child)

    def _start(self, child: SupervisedProcess) -> None:
        connections.close_all()  # A connection belongs to one process.
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        parent = os.getpid()
        child.began, child.sign, child.still_rounds = time.monotonic(), None, 0
        # A signal that comes before the child has its own handlers waits.
        signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
        child.pid = os.fork()
        if not child.pid:
            self.children = []  # They are the parent's.
            self._become(child, parent)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)

    def _become(self, child: SupervisedProcess, parent: int) -> None:
        """Do the work of a child and raise SystemExit, so that this process ends as any other Python process."""
        try:
            os.setsid()  # Ctrl-C reaches only the supervisor, which stops the children in order.
            LIBC.prctl(PR_SET_NAME, f"tute {child.name}".encode())
            LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)  # Even if SIGKILL ends the supervisor.
            if os.getppid() != parent:
                sys.exit(1)
            for number in SIGNALS:
                signal.signal(number, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            if self.log:
                output = os.open(self.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
                os.dup2(output, 1)
                os.dup2(output, 2)
            # Gunicorn and Celery import from the current folder, so it must have no modules of others.
            os.chdir(settings.BASE_DIR)
            self.prepare()
            child.work()
        except Exception:
            traceback.print_exc()
            sys.exit(1)
        sys.exit(0)

    def watch(self) -> None:
        """Check every process once and restart those that ended. Raise GaveUp for one that does not stay up."""
        for child in self.children:
            if not child.pid:
                if time.monotonic() >= child.again_at:
                    self._start(child)
                continue
            if child.is_running():
                self._look_for_life(child)
                continue
            quick = time.monotonic() - child.began < QUICK
            child.failures = child.failures + 1 if quick else 1
            if child.failures >= MOST_FAILURES:
                where = f"; see its output in {self.log}" if self.log else ""
                raise GaveUp(f"{child.name} ended with code {child.code} {child.failures} times in a row{where}")
            pause = min(30.0, 2.0 ** (child.failures - 1))
            log.warning("%s ended with code %d; it starts again in %.0f s", child.name, child.code, pause)
            child.again_at = time.monotonic() + pause

    def _look_for_life(self, child: SupervisedProcess) -> None:
        """Kill a process whose loops have all stood still: its own watchdog stands still, too."""
        child.still_rounds += 1
        if child.still_rounds % ROUNDS == 0:
            sign = alive.latest(child.pid)
            if sign != child.sign:
                child.sign, child.still_rounds = sign, 0
            elif sign is not None and child.still_rounds * ROUND_S >= STILL_S:
                log.critical("%s has stood still for %.0f s, and is killed", child.name, STILL_S)
                os.killpg(child.pid, signal.SIGKILL)

    def stop(self) -> None:
        """Send SIGTERM to all processes in order, then SIGKILL to the process groups that do not end."""
        self.stopping = True
        running = [child for child in self.children if child.is_running()]
        for child in running:
            os.kill(child.pid, signal.SIGTERM)
        deadline = time.monotonic() + PATIENCE
        for child in running:
            if not child.wait(max(0.1, deadline - time.monotonic())):
                os.killpg(child.pid, signal.SIGKILL)
                child.wait(PATIENCE)

    def run(self, ready: Callable[[], None] | None = None, up: Callable[[], bool] = lambda: True) -> None:
        """Start, watch until SIGTERM or SIGINT, stop. Call `ready` once, when `up` first returns True."""

        def note(number: int, frame: FrameType | None) -> None:
            self.stopping = True

        before = {number: signal.signal(number, note) for number in SIGNALS}
        try:
            self.start()
            while not self.stopping:
                self.watch()
                if ready and up():
                    ready()
                    ready = None
                time.sleep(ROUND_S)
        finally:
            self.stop()
            for number, handler in before.items():
                signal.signal(number, handler)
