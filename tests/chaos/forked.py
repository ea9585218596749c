"""Processes that are forked from one which has loaded the program already: loading the league takes a second of a core each time.

A `Loaded` is such a process, for one environment: settings are read when the program is loaded. What is forked from it is a process like any other:
with its own log, session and environment, and it dies at the place that its environment names.
"""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.support.compose import TOP
from tests.support.processes import Process


class Born:
    """The part of `subprocess.Popen` that tests use, for a process that is another one's child."""

    def __init__(self, loaded: Loaded, pid: int) -> None:
        self.pid = pid
        self._loaded = loaded

    @property
    def returncode(self) -> int | None:
        """Return the exit code like `Popen`: minus the number of the signal that ended the process; None while it runs."""
        return self._loaded.codes.get(self.pid)

    def poll(self) -> int | None:
        """Ask whether the process has ended and return its code."""
        if self.returncode is None:
            self._loaded.hear(wait=False)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the end. Raises TimeoutExpired after `timeout` seconds."""
        deadline = None if timeout is None else time.monotonic() + timeout
        while (code := self.poll()) is None:
            if deadline is not None and time.monotonic() > deadline:
                assert timeout is not None
                raise subprocess.TimeoutExpired(f"process {self.pid}", timeout)
            time.sleep(0.02)
        return code

    def send_signal(self, how: signal.Signals) -> None:
        """Nothing where it has ended."""
        if self.poll() is None:
            os.kill(self.pid, how)


class Forked(Process):
    """A process of the league that was forked from one which has loaded it."""

    def __init__(self, name: str, popen: Born, log: Path) -> None:
        self.name = name
        self.log = log
        self.popen: Any = popen


class Loaded:
    """A process that calls `serve`, as `python -m tests.chaos.trouble` does without a word: it forks a process for each line that it is given."""

    def __init__(self, environment: Mapping[str, str], log: Path, module: str = "tests.chaos.trouble") -> None:
        self.codes: dict[int, int] = {}  # Process id -> exit code, once it has ended
        self._born: list[int] = []
        self._rest = b""
        self._log = log
        words = [sys.executable, "-m", module]
        with log.open("ab") as file:
            self._process = subprocess.Popen(
                words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=file, env=dict(environment), cwd=TOP
            )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._in, self._out = self._process.stdin, self._process.stdout.fileno()

    def start(
        self,
        name: str,
        words: list[str],
        environment: Mapping[str, str],
        log: Path,
        errors: Path | None = None,
        folder: Path = TOP,
    ) -> Forked:
        """Fork a process that does what `words` say in a folder, with these variables too; its stderr goes to the log, or to `errors`."""
        order = {
            "words": words,
            "environment": dict(environment),
            "log": str(log),
            "errors": str(errors or log),
            "folder": str(folder),
        }
        self._in.write(json.dumps(order).encode() + b"\n")
        self._in.flush()
        while not self._born:
            self.hear(wait=True)
        return Forked(name, Born(self, self._born.pop()), log)

    def hear(self, *, wait: bool) -> None:
        """Read its reports of births and deaths."""
        while select.select([self._out], [], [], None if wait else 0)[0]:
            data = os.read(self._out, 65536)
            if not data:
                raise RuntimeError(f"who forks the processes has ended:\n{self._log.read_text()}")
            *lines, self._rest = (self._rest + data).split(b"\n")
            for line in lines:
                pid, code = json.loads(line)
                if code is None:
                    self._born.append(pid)
                else:
                    self.codes[pid] = code
            wait = False

    def close(self) -> None:
        """End it. What it has forked has ended before."""
        self._process.communicate()


def serve(run: Any) -> None:
    """Fork a process for each line of the input, which calls `run` with its words; report births and deaths until the input ends."""
    alive: dict[int, int] = {}  # Descriptor that becomes readable at the end of a process -> process id
    rest = b""
    while True:
        for ready in select.select([0, *alive], [], [])[0]:
            if ready:
                _, status = os.waitpid(pid := alive.pop(ready), 0)
                os.close(ready)
                _tell(pid, os.waitstatus_to_exitcode(status))
                continue
            data = os.read(0, 65536)
            if not data:
                return
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                apart, is_apart = os.pipe()
                pid = os.fork()
                if pid == 0:
                    for descriptor in (apart, *alive):
                        os.close(descriptor)
                    _become(json.loads(line))
                    os.close(is_apart)
                    run()
                    return
                os.close(is_apart)
                os.read(apart, 1)  # until it has a group of its own: who kills it at once ends that group
                os.close(apart)
                alive[os.pidfd_open(pid)] = pid
                _tell(pid, None)


def _tell(pid: int, code: int | None) -> None:
    os.write(1, json.dumps([pid, code]).encode() + b"\n")


def _become(order: dict[str, Any]) -> None:
    os.setsid()
    os.chdir(order["folder"])
    appending = os.O_WRONLY | os.O_CREAT | os.O_APPEND
    for target, path, how in (
        (0, os.devnull, os.O_RDONLY),
        (1, order["log"], appending),
        (2, order["errors"], appending),
    ):
        here = os.open(path, how, 0o644)
        os.dup2(here, target)
        os.close(here)
    os.environ.update(order["environment"])
    sys.argv = ["manage.py", *order["words"]]
