"""Bots of this release at tables of people: forked from a process that has loaded them, and without a sandbox.

A sandbox costs a bot 80 ms of processor time at its start, and two signals an answer. It protects the league from strangers; the files of the
release itself are no more dangerous than the league. So a table of people, which waits for its bots, plays them like this. Each seat still has a
process of its own, which knows its cards only. Matches between bots run in the sandbox, whoever wrote them: there all have the same conditions.
"""

from __future__ import annotations

import importlib.util
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path

import engine
from engine.packages.archive import read_path
from engine.runner.limits import Limits
from engine.runner.spec import BotSpec, spec_at
from engine.sandbox import BotFault, Reply, SandboxError, TurnStopped
from engine.sandbox.process import watch
from engine.sandbox.process.waiting import readable
from engine.sandbox.process.wall import Wall

PROGRAM = Path(__file__).with_name("loading.py")
STEP_S = 0.05  # Seconds between two checks of a bot that thinks.
START_S = 20.0  # A bot is loaded in 0.2 s; a host that needs so much longer is overloaded.
LONGEST = 1 << 16


class LoadedSeat:
    """A bot at a seat, with the methods of a bot process that a `Seat` uses. It is trusted, so it is never frozen."""

    def __init__(self, pid: int, handle: int, link: socket.socket) -> None:
        self.stop: Callable[[], bool] | None = None
        self.interlude: Callable[[], Callable[[], None] | None] | None = None
        self.pondering_s = self.interlude_s = 0.0
        self.counted_s = 0.0  # Wall time is never counted.
        self.pid = pid
        self._clock, self._mark = watch.clock(pid), 0.0
        self._handle, self._link = handle, link

    def ask(self, data: bytes, budget_s: float, wall_s: float, longest: int) -> Reply:
        """Send a request and return the answer. Raise BotFault beyond its CPU budget, TurnStopped, SandboxError if it has ended.

        As in a match, the wall time does not run while the bot waits for a processor: otherwise a busy machine would void boards that people lose.
        """
        began = time.monotonic()
        wall = Wall(self.pid, wall_s, began)
        self.send(data)
        line = b""
        while not line.endswith(b"\n"):
            if not readable([self._link.fileno()], STEP_S):
                if (used := self._cpu() - self._mark) > budget_s:
                    raise BotFault(
                        "timeout", f"used {used:.2f} s of CPU for one answer (limit {round(budget_s, 2):g} s)"
                    )
                if wall.remaining_s(time.monotonic()) <= 0:
                    raise BotFault(
                        "timeout", f"no answer within {round(wall_s, 2):g} s of wall time ({used:.2f} s of CPU used)"
                    )
                if self.stop is not None and self.stop():
                    raise TurnStopped
                continue
            piece = self._receive()
            line += piece
            if not piece or len(line) > longest:
                raise SandboxError(f"the shipped bot in process {self.pid} has ended; its last words are in this log")
        used = self._cpu() - self._mark
        self._mark += used
        return Reply(line[:-1], used, time.monotonic() - began)

    def send(self, data: bytes, deadline: float = 0.0) -> None:
        """Send a line without waiting for an answer."""
        with suppress(OSError):  # The next `ask` reports that the bot has ended.
            self._link.sendall(data)

    def read_line(self, cpu_s: float, wall_s: float, longest: int) -> Reply:
        """Return an empty line: nobody waits for the end of this process."""
        return Reply(b"", 0.0, 0.0)

    def freeze(self) -> None:
        """Do nothing: the bot waits by itself."""

    def thaw(self) -> None:
        """Do nothing, as `freeze`."""

    def pin(self, cores: Collection[int]) -> None:
        """Do nothing: the bot may use any core."""

    def stderr(self) -> bytes:
        """Return nothing: the bot writes to the log of its worker."""
        return b""

    def close(self) -> None:
        """Kill the bot. May be called again."""
        if self._handle >= 0:
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._handle, signal.SIGKILL)
            os.close(self._handle)
            self._link.close()
            self._handle = -1

    def _receive(self) -> bytes:
        with suppress(OSError):
            return self._link.recv(LONGEST)
        return b""

    def _cpu(self) -> float:
        try:
            return time.clock_gettime(self._clock)
        except OSError:  # The bot has just ended.
            return self._mark


class LoadedBot:
    """The process that has loaded one bot. It is started at the first seat, and again if it has ended."""

    def __init__(self, folder: Path, entry: str) -> None:
        self._words = [
            str(Limits().memory_mb),
            str(folder / entry),
            str(folder),
            _sdk(),
            str(Path(engine.__file__).parent.parent),
        ]
        self._lock = threading.Lock()
        self._control: socket.socket | None = None
        self._process: subprocess.Popen[bytes] | None = None

    def seat(self, _place: int) -> LoadedSeat:
        """Return the bot at one more seat. Raise SandboxError."""
        link, theirs = socket.socketpair()
        try:
            with self._lock:
                pid, handle = self._fork(theirs)
        except OSError as error:
            link.close()
            raise SandboxError(f"cannot start a bot of this release: {error}. Raise the worker's limits.") from error
        finally:
            theirs.close()
        return LoadedSeat(pid, handle, link)

    def _fork(self, theirs: socket.socket) -> tuple[int, int]:
        if self._process is None or self._process.poll() is not None:
            self._start()
        assert self._control is not None  # noqa: S101 - for the types
        try:
            socket.send_fds(self._control, [b"."], [theirs.fileno()])
            answer, handles, _, _ = socket.recv_fds(self._control, 32, 1)
            if not answer:
                raise ConnectionResetError("the process that has loaded it has ended")
        except OSError:  # Answers may be mixed up from here on.
            self._end()
            raise
        if int(answer) < 0:
            raise OSError(-int(answer), os.strerror(-int(answer)))
        if not handles:  # The kernel has dropped the handle. The child ends without its conversation.
            raise OSError("this process has too many open files")
        return int(answer), handles[0]

    def _start(self) -> None:
        self._end()
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._control.settimeout(START_S)
        with theirs:
            argv = [sys.executable, "-I", "-S", str(PROGRAM), str(theirs.fileno()), *self._words]
            self._process = subprocess.Popen(
                argv,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=(theirs.fileno(),),
                env={},  # It needs none of the worker's secrets.
                cwd="/",
                start_new_session=True,
            )

    def _end(self) -> None:
        if self._control is not None:
            self._control.close()
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        self._control = self._process = None


def _sdk() -> str:
    spec = importlib.util.find_spec("bots.sdk")  # Located, not imported: to the runner, bots are data.
    return next(iter(spec.submodule_search_locations or [])) if spec else ""


@cache
def loaded_spec(folder: Path) -> BotSpec:
    """Return the bot in a folder of the release, ready to fork. Raise PackageRefused, OSError."""
    spec = spec_at(read_path(folder), folder)
    return replace(spec, connect=LoadedBot(folder, spec.entry).seat)
