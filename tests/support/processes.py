"""Start a process, wait for a fact about it, end it: the parts of every server in the tests."""

from __future__ import annotations

import contextlib
import ctypes
import os
import random
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

Answer = TypeVar("Answer")

PR_SET_PDEATHSIG = 1
LIBC = ctypes.CDLL(None, use_errno=True)


class DidNotStart(RuntimeError):
    """A server or process of the tests could not start; the message says why and what to do."""


def free_port() -> int:
    """Return a free TCP port outside the range of outgoing connections, so that a restarted server finds it free again."""
    first = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    while True:
        port = random.SystemRandom().randrange(max(1024, first - 16_384), first)
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


def wait_for(fact: Callable[[], Answer], what: str, seconds: float, every: float = 0.05) -> Answer:
    """Return the first true answer of `fact`. Raises TimeoutError naming `what` after `seconds`."""
    deadline = time.monotonic() + seconds
    while True:
        answer = fact()
        if answer:
            return answer
        if time.monotonic() > deadline:
            raise TimeoutError(f"waited {seconds:g} s in vain for: {what}")
        time.sleep(every)


def die_with_parent() -> None:
    """Make the child end with its parent: a killed test run leaves no server behind."""
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


class Process:
    """One running process with its output in a file, so that a failure can show it."""

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        log: Path,
        *,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        uid: int | None = None,
    ) -> None:
        self.name = name
        self.log = log
        with log.open("ab") as output:
            self.popen = subprocess.Popen(
                list(command),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=None if env is None else dict(env),
                cwd=cwd,
                user=uid,
                group=uid,
                extra_groups=None if uid is None else [],
                start_new_session=True,  # a session of its own, so that its children can be ended with it
                preexec_fn=die_with_parent,
            )

    @property
    def pid(self) -> int:
        return self.popen.pid

    def wait_until(self, fact: Callable[[], Answer], what: str, seconds: float = 240) -> Answer:
        """Wait like wait_for(), but fail at once if the process has ended."""

        def alive_and_fact() -> Answer:
            answer = fact()
            if not answer and self.popen.poll() is not None:
                raise DidNotStart(f"{self.name} ended with code {self.popen.returncode} before {what}:\n{self.tail()}")
            return answer

        try:
            return wait_for(alive_and_fact, what, seconds)
        except TimeoutError as late:
            raise DidNotStart(f"{self.name}: {late}\n{self.tail()}") from None

    def tail(self, lines: int = 40) -> str:
        """Return the last lines that the process has printed."""
        text = self.log.read_text(encoding="utf-8", errors="replace") if self.log.exists() else ""
        return "\n".join(text.splitlines()[-lines:])

    def kill(self) -> None:
        """Send SIGKILL to the process and to all that it started."""
        self._signal_group(signal.SIGKILL)
        self.popen.wait()

    def stop(self, how: signal.Signals = signal.SIGTERM, seconds: float = 15) -> int:
        """Send the signal `how` and wait; after `seconds`, send SIGKILL to the whole group. Return the exit code."""
        if self.popen.poll() is None:
            self.popen.send_signal(how)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.popen.wait(seconds)
        self._signal_group(signal.SIGKILL)  # End also what the process left running.
        return self.popen.wait()

    def _signal_group(self, how: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.popen.pid, how)
