"""Start bots through the forkserver, from the worker's side: wait until a process has become the bot, or report why it has not."""

from __future__ import annotations

import atexit
import contextlib
import marshal
import os
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
from engine.sandbox.process.waiting import readable

HANDSHAKE_S = 20.0  # A start takes 0.005 s; a host that needs so much longer cannot keep time for matches.
FIRST_KEPT = 4  # The number of the first descriptor that is kept for a started program.
_GIVE_UP_S = 10.0
_PROCESS_GROUP = 4  # 4 is PIDFD_SIGNAL_PROCESS_GROUP.
# Every release recognises the forkservers of all others by this line: two releases share a machine during an upgrade. Do not change it.
_MARK = "launcher = marshal.load(file)"
_BOOT = f"""
import sys, marshal
with open(int(sys.argv[2]), "rb") as file: forkserver, {_MARK}
f, l = {{}}, {{}}
exec(forkserver, f)
exec(launcher, l)
f["serve"](int(sys.argv[1]), l["prepare"], l["run"])
"""


@dataclass(frozen=True)
class ExitReport:
    """The end of a bot.

    status: the bot's own, as from waitpid; peak_kib: its peak memory; cpu_s: CPU seconds of its whole life; lost_with: the process of ours, if any,
    that was killed from outside and took the bot with it.
    """

    status: int
    peak_kib: int
    cpu_s: float
    lost_with: str = ""


class ChildProcess:
    """A process that the forkserver has forked for us. handle: unlike the process id, it never refers to another process."""

    def __init__(self, pid: int, handle: int, end: int) -> None:
        self.pid = pid
        self.handle = handle
        self.end = end  # The forkserver reports the end of the process here.

    @property
    def bot(self) -> int:
        """A handle of the process that becomes the bot."""
        return self.handle

    def kill(self) -> None:
        """Kill the bot; do nothing if it has ended."""
        self.signal(signal.SIGKILL)

    def signal(self, number: int) -> None:
        """Send a signal to the process; do nothing if the process has ended."""
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self.handle, number)

    def collect(self, timeout_s: float) -> ExitReport | None:
        """Return how the process ended, or None if it still runs after `timeout_s`."""
        if not readable([self.end], timeout_s):
            return None
        report = os.read(self.end, 256)
        if report:
            return ExitReport(*marshal.loads(report))
        # The forkserver itself was killed, and all bots with it; the handle shows when this bot has ended.
        if not readable([self.handle], timeout_s):
            return None
        self._end_group()
        return ExitReport(signal.SIGKILL, 0, 0.0, lost_with="the process that starts bots")

    def _end_group(self) -> None:
        """Kill the process group, as the forkserver does: a wrapper may leave a child. Use the handle, because the process id may be reused."""
        try:
            signal.pidfd_send_signal(self.handle, signal.SIGKILL, None, _PROCESS_GROUP)
        except ProcessLookupError:
            return
        except OSError:  # Linux before 6.9
            if not Path(f"/proc/{self.pid}").exists():
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.killpg(self.pid, signal.SIGKILL)

    def close(self) -> None:
        """Close the descriptors."""
        os.close(self.handle)
        os.close(self.end)


@dataclass
class Started:
    """A process that may already be running the bot. The caller closes the descriptors.

    child: the started process; pid: the bot in our numbering (the child's, unless namespaces lie between).
    """

    child: ChildProcess
    pid: int
    stdin: int
    stdout: int
    stderr: int

    def discard(self) -> str:
        """Kill and collect the process, and close everything. Return what it had printed on stderr."""
        _end(self.child)
        output = b""
        with contextlib.suppress(BlockingIOError):
            output = os.read(self.stderr, 1 << 12)
        for fd in (self.stdin, self.stdout, self.stderr):
            os.close(fd)
        return output.decode(errors="replace").strip()


@lru_cache
def _code() -> bytes:
    """Compile the programs of the forkserver and the launcher for the same interpreter."""
    here = Path(__file__)
    names = ("forkserver", "launcher")
    return marshal.dumps(
        tuple(compile(here.with_name(f"{name}.py").read_text(), name, "exec", optimize=2) for name in names)
    )


class _ForkServer:
    """The forkserver of this process."""

    def __init__(self) -> None:
        self.socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            order = memory_file("forkserver", _code())
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
        self.in_step = True  # False while a request is unanswered: an interruption then would mix up answers.

    def fork_bot(self, plan: dict[str, Any], descriptors: Sequence[int], end: int) -> ChildProcess:
        """Fork a child that runs the plan; ``end`` is the descriptor on which its end is reported. Raise OSError."""
        self.in_step = False
        socket.send_fds(self.socket, [marshal.dumps(plan)], descriptors)
        answer, handles, _, _ = socket.recv_fds(self.socket, 4096, 1)
        self.in_step = True
        if not answer:
            raise ConnectionResetError("the process that starts bots has ended")
        reply = marshal.loads(answer)
        if not isinstance(reply, int):
            raise OSError(reply)
        if not handles:  # No descriptor was free for the handle.
            with contextlib.suppress(ProcessLookupError):
                os.kill(reply, signal.SIGKILL)
            readable([end], _GIVE_UP_S)
            raise OSError("no descriptor left for a handle of the bot")
        return ChildProcess(reply, handles[0], end)

    def close(self) -> None:
        """End the forkserver, and with it every bot that it has forked."""
        self.socket.close()
        try:
            self.process.wait(timeout=_GIVE_UP_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


_forkserver: _ForkServer | None = None
_lock = threading.Lock()


def _forget() -> None:
    """Drop the forkserver in a forked child of the worker: it belongs to the parent, and would outlive it if we held its socket too."""
    global _forkserver, _lock
    if _forkserver is not None:
        _forkserver.socket.close()
        _forkserver.process.returncode = 0  # The forkserver is not ours to wait for.
    _forkserver, _lock = None, threading.Lock()


def _close() -> None:
    if _forkserver is not None:
        _forkserver.close()


os.register_at_fork(after_in_child=_forget)
atexit.register(_close)


def ready() -> int:
    """Start the forkserver now instead of with the first bot. Return its process id. Raise SandboxError."""
    with _lock:
        return _living_forkserver().process.pid


def _living_forkserver() -> _ForkServer:
    global _forkserver
    if _forkserver is not None and (_forkserver.process.poll() is not None or not _forkserver.in_step):
        _forkserver.close()
        _forkserver = None
    if _forkserver is None:
        try:
            _forkserver = _ForkServer()
        except OSError as error:
            raise SandboxError(
                f"cannot start the process that starts bots: {error}. Raise the worker's open files and process limits."
            ) from error
    return _forkserver


def is_forkserver(pid: int) -> bool:
    """Return True if this process is a forkserver, of any worker and release. Posing as one gains a bot nothing: it has no children."""
    try:
        return _MARK.encode() in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


def memory_file(name: str, content: bytes) -> int:
    """Return a descriptor of an anonymous file that contains ``content``, positioned at its start."""
    fd = os.memfd_create(name)
    os.write(fd, content)
    os.lseek(fd, 0, os.SEEK_SET)
    return fd


class _Pipes:
    """The pipes of a bot: its three streams, the launcher's status and the report of its end."""

    def __init__(self, *, timeless: bool) -> None:
        """timeless: use sockets as streams. A pipe stores the time of its last write, which both ends can see."""
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
                f"cannot create the pipes of a bot: {error}. Raise the worker's open files limit."
            ) from error
        for fd in (self.stdin, self.stdout, self.stderr):
            os.set_blocking(fd, False)

    def _pipe(self) -> tuple[int, int]:
        ends = os.pipe()
        self._open.update(ends)
        return ends

    def _sockets(self) -> tuple[int, int]:
        """Return a pair like a pipe: the first end reads what is written to the second."""
        reading, writing = socket.socketpair()
        writing.shutdown(socket.SHUT_RD)
        ends = reading.detach(), writing.detach()
        self._open.update(ends)
        return ends

    @property
    def theirs(self) -> list[int]:
        return [self.stdin_theirs, self.stdout_theirs, self.stderr_theirs, self.status_theirs, self.end_theirs]

    def close(self, *fds: int) -> None:
        """Close these descriptors, or all that are still open and not passed on."""
        for fd in fds or tuple(self._open):
            os.close(fd)
            self._open.remove(fd)

    def hand_on(self, *fds: int) -> None:
        """Pass these descriptors on: their new owner closes them."""
        self._open.difference_update(fds)


def launch(plan: dict[str, Any], *, keep: Sequence[int] = (), timeless: bool = False) -> Started:
    """Let the launcher run ``plan`` until it has executed plan["argv"].

    keep: descriptors for the executed program, which finds them from FIRST_KEPT on. timeless: use streams that store no times. Raise SandboxError
    with the failed step, and leave nothing behind.
    """
    plan = {**plan, "cores": sorted(os.sched_getaffinity(0))}
    pipes = _Pipes(timeless=timeless)
    try:
        with _lock:
            child = _living_forkserver().fork_bot(plan, [*pipes.theirs, *keep], pipes.end)
    except OSError as error:
        pipes.close()
        raise SandboxError(
            f"cannot start a process for a bot: {error}. Check the worker's process limit and its open files limit."
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
    """Read a pipe until it is closed. Raise SandboxError if that takes too long."""
    text = b""
    while readable([fd], timeout_s):
        piece = os.read(fd, 4096)
        if not piece:
            return text.decode(errors="replace")
        text += piece
    raise SandboxError(f"the sandbox was not ready after {timeout_s:g} s; the host is overloaded, run fewer workers")


def _end(child: ChildProcess) -> None:
    """Kill and collect a child that never became a bot."""
    child.signal(signal.SIGKILL)
    try:
        if child.collect(_GIVE_UP_S) is None:
            raise SandboxError(f"process {child.pid} does not die of SIGKILL; the kernel holds it. Restart the host.")
    finally:
        child.close()
