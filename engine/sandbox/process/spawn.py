"""Starts bots through the nursery, from the worker's side: waits until a process has become the bot, or says why it has not."""

from __future__ import annotations

import atexit
import contextlib
import marshal
import os
import select
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from engine.sandbox.errors import SandboxError

HANDSHAKE_S = 20.0  # a start takes 0.005 s; a host that needs a thousand times that cannot keep time for matches
FIRST_KEPT = 4  # the number at which a started program finds the first descriptor it is to keep
_GIVE_UP_S = 10.0
_PROCESS_GROUP = 4  # PIDFD_SIGNAL_PROCESS_GROUP
_BOOT = """
import sys, marshal
with open(int(sys.argv[2]), "rb") as file: nursery, launcher = marshal.load(file)
n, l = {}, {}
exec(nursery, n)
exec(launcher, l)
n["serve"](int(sys.argv[1]), l["prepare"], l["run"])
"""


@dataclass(frozen=True)
class Ended:
    """How a bot ended.

    status: as waitpid, of the bot itself; peak_kib: the most memory it ever held; cpu_s: of its whole life; lost_with: which process of
    ours was ended by somebody else, if any, and took the bot with it.
    """

    status: int
    peak_kib: int
    cpu_s: float
    lost_with: str = ""


class Child:
    """A process the nursery has borne for us. handle: cannot come to mean another process, as its number can."""

    def __init__(self, pid: int, handle: int, end: int) -> None:
        self.pid = pid
        self.handle = handle
        self.end = end  # where the nursery tells of its end

    @property
    def bot(self) -> int:
        """A handle of the process that is to be the bot."""
        return self.handle

    def kill(self) -> None:
        """End the bot; harmless when it has ended."""
        self.signal(signal.SIGKILL)

    def signal(self, number: int) -> None:
        """Send a signal; harmless when it has ended."""
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self.handle, number)

    def collect(self, timeout_s: float) -> Ended | None:
        """How it ended, or None if it has not within the time."""
        if not select.select([self.end], [], [], timeout_s)[0]:
            return None
        told = os.read(self.end, 256)
        if told:
            return Ended(*marshal.loads(told))
        # The nursery itself was killed, and all bots with it; the handle shows when this one has gone.
        if not select.select([self.handle], [], [], timeout_s)[0]:
            return None
        self._end_group()
        return Ended(signal.SIGKILL, 0, 0.0, lost_with="the process that starts bots")

    def _end_group(self) -> None:
        """As the nursery does: a wrapper may leave a child. By the handle, since its number may be another's by now."""
        try:
            signal.pidfd_send_signal(self.handle, signal.SIGKILL, None, _PROCESS_GROUP)
        except ProcessLookupError:
            return
        except OSError:  # Linux before 6.9
            if not Path(f"/proc/{self.pid}").exists():
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.killpg(self.pid, signal.SIGKILL)

    def close(self) -> None:
        """Give the descriptors back."""
        os.close(self.handle)
        os.close(self.end)


@dataclass
class Started:
    """A process that may already be running the bot. Descriptors are ours to close.

    child: what was started; pid: the bot as this process counts (the child's, unless namespaces lie between).
    """

    child: Child
    pid: int
    stdin: int
    stdout: int
    stderr: int

    def discard(self) -> str:
        """Kill it, collect it, close everything. Returns what it had printed on stderr."""
        _end(self.child)
        said = b""
        with contextlib.suppress(BlockingIOError):
            said = os.read(self.stderr, 1 << 12)
        for fd in (self.stdin, self.stdout, self.stderr):
            os.close(fd)
        return said.decode(errors="replace").strip()


@lru_cache
def _code() -> bytes:
    """The nursery's and the launcher's programs, compiled for the same interpreter."""
    here = Path(__file__)
    names = ("nursery", "launcher")
    return marshal.dumps(
        tuple(compile(here.with_name(f"{name}.py").read_text(), name, "exec", optimize=2) for name in names)
    )


class _Nursery:
    """The nursery of this process."""

    def __init__(self) -> None:
        self.socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            order = memory_file("nursery", _code())
            try:
                argv = [
                    os.path.realpath(sys.executable),
                    "-I",
                    "-S",
                    "-E",
                    "-c",
                    _BOOT,
                    str(theirs.fileno()),
                    str(order),
                ]
                self.process = subprocess.Popen(
                    argv,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    pass_fds=(theirs.fileno(), order),
                    env={},
                    cwd="/",
                    start_new_session=True,
                )
            finally:
                os.close(order)
        except BaseException:
            self.socket.close()
            raise
        finally:
            theirs.close()
        self.socket.settimeout(HANDSHAKE_S)
        self.in_step = True  # False while a request is unanswered: were that cut short, answers would be mixed up

    def bear(self, plan: dict[str, Any], descriptors: Sequence[int], end: int) -> Child:
        """A child that runs the plan; ``end`` is where we read of its end. Raises OSError."""
        self.in_step = False
        socket.send_fds(self.socket, [marshal.dumps(plan)], descriptors)
        answer, handles, _, _ = socket.recv_fds(self.socket, 4096, 1)
        self.in_step = True
        if not answer:
            raise ConnectionResetError("the process that starts bots has ended")
        told = marshal.loads(answer)
        if not isinstance(told, int):
            raise OSError(told)
        if not handles:  # no descriptor was free for it
            with contextlib.suppress(ProcessLookupError):
                os.kill(told, signal.SIGKILL)
            select.select([end], [], [], _GIVE_UP_S)
            raise OSError("no descriptor left for a handle of the bot")
        return Child(told, handles[0], end)

    def close(self) -> None:
        """End it, and with it every bot it has borne."""
        self.socket.close()
        try:
            self.process.wait(timeout=_GIVE_UP_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


_nursery: _Nursery | None = None
_lock = threading.Lock()


def _forget() -> None:
    """In a forked child: the nursery is the parent's, and must not outlive it because we hold its socket too."""
    global _nursery, _lock
    if _nursery is not None:
        _nursery.socket.close()
        _nursery.process.returncode = 0  # not ours to wait for
    _nursery, _lock = None, threading.Lock()


def _close() -> None:
    if _nursery is not None:
        _nursery.close()


os.register_at_fork(after_in_child=_forget)
atexit.register(_close)


def ready() -> int:
    """Start the nursery now rather than with the first bot. Returns its process id. Raises SandboxError."""
    with _lock:
        return _living_nursery().process.pid


def _living_nursery() -> _Nursery:
    global _nursery
    if _nursery is not None and (_nursery.process.poll() is not None or not _nursery.in_step):
        _nursery.close()
        _nursery = None
    if _nursery is None:
        try:
            _nursery = _Nursery()
        except OSError as error:
            raise SandboxError(
                f"cannot start the process that starts bots: {error}. Raise the worker's open files and process limits."
            ) from error
    return _nursery


def is_nursery(pid: int) -> bool:
    """Whether this process is a nursery, ours or another worker's. A bot cannot pretend to be one where it would help it: it has no children."""
    try:
        return _BOOT.encode() in Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return False


def memory_file(name: str, content: bytes) -> int:
    """A descriptor of an anonymous file with ``content``, at its start."""
    fd = os.memfd_create(name)
    os.write(fd, content)
    os.lseek(fd, 0, os.SEEK_SET)
    return fd


class _Pipes:
    """The pipes of a bot: its three streams, the launcher's status and the news of its end."""

    def __init__(self, *, timeless: bool) -> None:
        """timeless: the streams are sockets. A pipe bears the time at which it was last written to, for both ends to see."""
        self._open: set[int] = set()
        try:
            stream = self._sockets if timeless else self._pipe
            self.stdin_theirs, self.stdin = stream()
            self.stdout, self.stdout_theirs = stream()
            self.stderr, self.stderr_theirs = stream()
            self.status, self.status_theirs = self._pipe()
            self.end, self.end_theirs = self._pipe()
        except OSError as error:
            self.close()
            raise SandboxError(
                f"cannot make the pipes of a bot: {error}. Raise the worker's open files limit."
            ) from error
        for fd in (self.stdin, self.stdout, self.stderr):
            os.set_blocking(fd, False)

    def _pipe(self) -> tuple[int, int]:
        ends = os.pipe()
        self._open.update(ends)
        return ends

    def _sockets(self) -> tuple[int, int]:
        """As a pipe: what is written to the second is read from the first."""
        reading, writing = socket.socketpair()
        writing.shutdown(socket.SHUT_RD)
        ends = reading.detach(), writing.detach()
        self._open.update(ends)
        return ends

    @property
    def theirs(self) -> list[int]:
        return [self.stdin_theirs, self.stdout_theirs, self.stderr_theirs, self.status_theirs, self.end_theirs]

    def close(self, *fds: int) -> None:
        """Close these, or all that are still open and not handed on."""
        for fd in fds or tuple(self._open):
            os.close(fd)
            self._open.remove(fd)

    def hand_on(self, *fds: int) -> None:
        """Somebody else closes these."""
        self._open.difference_update(fds)


def launch(plan: dict[str, Any], *, keep: Sequence[int] = (), timeless: bool = False) -> Started:
    """Have the launcher run ``plan`` until it has executed plan["argv"].

    keep: descriptors the executed program needs; it finds them from FIRST_KEPT on. timeless: its streams tell no time.
    Raises SandboxError, with the step that failed, and leaves nothing.
    """
    plan = {**plan, "cores": sorted(os.sched_getaffinity(0))}
    pipes = _Pipes(timeless=timeless)
    try:
        with _lock:
            child = _living_nursery().bear(plan, [*pipes.theirs, *keep], pipes.end)
    except OSError as error:
        pipes.close()
        raise SandboxError(
            f"cannot start a process for a bot: {error}. Look at the worker's process limit and its open files limit."
        ) from error
    except BaseException:
        pipes.close()
        raise
    pipes.hand_on(pipes.end)
    pipes.close(*pipes.theirs)
    try:
        complaint = _read_to_end(pipes.status, HANDSHAKE_S)
        if complaint:
            raise SandboxError(f"the bot was not started, the sandbox failed at {complaint}")
    except BaseException:
        _end(child)
        pipes.close()
        raise
    pipes.close(pipes.status)
    return Started(child, child.pid, pipes.stdin, pipes.stdout, pipes.stderr)


def _read_to_end(fd: int, timeout_s: float) -> str:
    """All that is written to a pipe until it is closed. Raises SandboxError when that takes too long."""
    text = b""
    while select.select([fd], [], [], timeout_s)[0]:
        piece = os.read(fd, 4096)
        if not piece:
            return text.decode(errors="replace")
        text += piece
    raise SandboxError(f"the sandbox was not ready after {timeout_s:g} s; the host is overloaded, run fewer workers")


def _end(child: Child) -> None:
    """Kill and collect a child that never became a bot."""
    child.signal(signal.SIGKILL)
    try:
        if child.collect(_GIVE_UP_S) is None:
            raise SandboxError(f"process {child.pid} does not die of SIGKILL; the kernel holds it. Restart the host.")
    finally:
        child.close()
