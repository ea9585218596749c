"""A supervisor for the web server, workers and scheduler of one machine."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from django.conf import settings

PR_SET_PDEATHSIG = 1
LIBC = ctypes.CDLL(None, use_errno=True)
QUICK = 5.0  # A process that ends within this many seconds counts as a failed start.
MOST_FAILURES = 5  # The supervisor gives up after this many failed starts in a row.
PATIENCE = 20.0  # Seconds between SIGTERM and SIGKILL.


class GaveUp(RuntimeError):
    """The error that a process keeps ending."""


@dataclass
class SupervisedProcess:
    """One process that should be running."""

    name: str
    command: Sequence[str]
    process: subprocess.Popen[bytes] | None = None
    began: float = 0.0
    failures: int = 0
    again_at: float = 0.0


def manage(*words: str) -> list[str]:
    """Return the command line of a management command, for a separate process."""
    if settings.IN_CLONE:
        return [sys.executable, str(settings.BASE_DIR / "manage.py"), *words]
    return [sys.executable, "-P", "-m", "league.manage", *words]


def _found_from_anywhere(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of this process for a child in another folder: relative paths become absolute."""
    values = {name: value for name, value in environment.items() if name != "STATE_DIR_FILE"}
    for name, value in values.items():
        if value and (name.endswith("_FILE") or name == "PUZZLES"):
            values[name] = str(Path(value).absolute())
    return {**values, "STATE_DIR": str(settings.STATE_DIR)}


def _end_with_parent() -> None:
    """Make the kernel send SIGTERM to this child when the supervisor dies, even by SIGKILL. Runs in the child."""
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


class Supervisor:
    """A supervisor that starts and watches processes, restarts them with growing pauses, and stops them."""

    def __init__(
        self,
        children: Mapping[str, Sequence[str]],
        *,
        log: Path | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.children = [SupervisedProcess(name, command) for name, command in children.items()]
        self.log = log  # Output of the children; None: the output of this process.
        self.environment = {**_found_from_anywhere(os.environ), **(environment or {})}
        self.stopping = False

    def start(self) -> None:
        """Start everything."""
        for child in self.children:
            self._start(child)

    def _start(self, child: SupervisedProcess) -> None:
        output = self.log.open("ab") if self.log else None
        try:
            child.process = subprocess.Popen(
                child.command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT if output else None,
                env=self.environment,
                # Gunicorn and Celery import from the current folder, so it must have no modules of others.
                cwd=settings.BASE_DIR,
                start_new_session=True,  # Ctrl-C reaches only the supervisor, which stops the children in order.
                preexec_fn=_end_with_parent,
            )
        finally:
            if output:
                output.close()
        child.began = time.monotonic()

    def watch(self) -> None:
        """Check every process once and restart those that ended. Raise GaveUp for one that does not stay up."""
        for child in self.children:
            if child.process is None:
                if time.monotonic() >= child.again_at:
                    self._start(child)
                continue
            code = child.process.poll()
            if code is None:
                continue
            quick = time.monotonic() - child.began < QUICK
            child.failures = child.failures + 1 if quick else 1
            if child.failures >= MOST_FAILURES:
                where = f"; see its output in {self.log}" if self.log else ""
                raise GaveUp(f"{child.name} ended with code {code} {child.failures} times in a row{where}")
            child.process = None
            child.again_at = time.monotonic() + min(30.0, 2.0 ** (child.failures - 1))

    def stop(self) -> None:
        """Send SIGTERM to all processes in order, then SIGKILL to the process groups that do not end."""
        self.stopping = True
        running = [child.process for child in self.children if child.process and child.process.poll() is None]
        for process in running:
            process.terminate()
        deadline = time.monotonic() + PATIENCE
        for process in running:
            try:
                process.wait(max(0.1, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()

    def run(self, ready: Callable[[], None] | None = None, up: Callable[[], bool] = lambda: True) -> None:
        """Start, watch until SIGTERM or SIGINT, stop. Call `ready` once, when `up` first returns True."""

        def note(number: int, frame: FrameType | None) -> None:
            self.stopping = True

        before = {number: signal.signal(number, note) for number in (signal.SIGTERM, signal.SIGINT)}
        try:
            self.start()
            while not self.stopping:
                self.watch()
                if ready and up():
                    ready()
                    ready = None
                time.sleep(0.25)
        finally:
            self.stop()
            for number, handler in before.items():
                signal.signal(number, handler)
