"""Start the launcher in a new process and wait until it has become the bot, or has said why not."""

from __future__ import annotations

import contextlib
import marshal
import os
import queue
import resource
import select
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import CodeType
from typing import Any

from .errors import SandboxError

HANDSHAKE_S = 20.0  # a start takes 0.02 s; a host that needs a thousand times that cannot keep time for matches
_BOOT = "import sys,marshal\nwith open(int(sys.argv[1]),'rb') as f:code,plan=marshal.load(f)\nm={}\nexec(code,m)\nm['run'](plan)"


@dataclass
class Started:
    """A process that may already be running the bot. Descriptors are ours to close.

    child: our own child, to be reaped; pid: the bot as this process counts (the same unless namespaces lie between);
    our_peak_kib: the most memory this process ever held, KiB.
    """

    child: subprocess.Popen[bytes]
    pid: int
    stdin: int
    stdout: int
    stderr: int
    our_peak_kib: int

    def discard(self) -> str:
        """Kill it, reap it, close the pipes. Returns what it had printed on stderr."""
        end(self.child)
        said = b""
        with contextlib.suppress(BlockingIOError):
            said = os.read(self.stderr, 1 << 12)
        for fd in (self.stdin, self.stdout, self.stderr):
            os.close(fd)
        return said.decode(errors="replace").strip()


class _Starter:
    """One thread that starts every bot of this process and lives as long as it.

    A bot is killed when the *thread* that started it ends (PR_SET_PDEATHSIG is per thread), so bots are never started
    from a caller's thread, which might end before the match does.
    """

    def __init__(self) -> None:
        self.pid = os.getpid()
        self._orders: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        threading.Thread(target=self._serve, name="bot-starter", daemon=True).start()

    def _serve(self) -> None:
        while True:
            self._orders.get()()

    def call(self, work: Callable[[], subprocess.Popen[bytes]]) -> subprocess.Popen[bytes]:
        answer: queue.SimpleQueue[subprocess.Popen[bytes] | BaseException] = queue.SimpleQueue()

        def order() -> None:
            try:
                answer.put(work())
            except BaseException as error:
                answer.put(error)

        self._orders.put(order)
        result = answer.get()
        if isinstance(result, BaseException):
            raise result
        return result


_starter: _Starter | None = None
_starter_lock = threading.Lock()


def _this_starter() -> _Starter:
    global _starter
    with _starter_lock:
        if _starter is None or _starter.pid != os.getpid():  # a forked worker has no thread of its parent's
            _starter = _Starter()
        return _starter


@lru_cache
def _launcher_code() -> CodeType:
    source = Path(__file__).with_name("launcher.py")
    return compile(source.read_text(), "launcher", "exec", optimize=2)


def popen(argv: Sequence[str], keep: Sequence[int], stdin: int, stdout: int, stderr: int) -> subprocess.Popen[bytes]:
    """A child of the starter thread with an empty environment and only ``keep`` besides its standard streams."""
    return _this_starter().call(
        lambda: subprocess.Popen(
            argv,
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            pass_fds=tuple(keep),
            env={},
            cwd="/",
            start_new_session=True,
        )
    )


def memory_file(name: str, content: bytes) -> int:
    """A descriptor of an anonymous file with ``content``, at its start."""
    fd = os.memfd_create(name)
    os.write(fd, content)
    os.lseek(fd, 0, os.SEEK_SET)
    return fd


class Pipes:
    """The three pipes of a bot. ``ours`` stay with us, ``theirs`` are closed once the child has them."""

    def __init__(self) -> None:
        self.ours: list[int] = []
        self.theirs: list[int] = []
        try:
            for ours_reads in (False, True, True):
                reading, writing = os.pipe()
                self.ours.append(reading if ours_reads else writing)
                self.theirs.append(writing if ours_reads else reading)
        except OSError as error:
            self.close()
            raise SandboxError(
                f"cannot make the pipes of a bot: {error}. Raise the worker's open files limit."
            ) from error
        for fd in self.ours:
            os.set_blocking(fd, False)

    def close_theirs(self) -> None:
        """Close the child's ends on our side."""
        while self.theirs:
            os.close(self.theirs.pop())

    def close(self) -> None:
        """Close every end that is still ours to close."""
        self.close_theirs()
        while self.ours:
            os.close(self.ours.pop())


def launch(plan: dict[str, Any], *, keep: Sequence[int] = ()) -> Started:
    """Run the launcher with ``plan`` until it has executed plan["argv"].

    keep: descriptors the executed program needs. Raises SandboxError, with the step that failed, and leaves nothing.
    """
    pipes = Pipes()
    try:
        status_in, status_out = os.pipe()
    except OSError as error:
        pipes.close()
        raise SandboxError(f"cannot make the pipes of a bot: {error}. Raise the worker's open files limit.") from error
    try:
        plan = {**plan, "status": status_out, "keep": list(keep), "parent": os.getpid()}
        order = memory_file("plan", marshal.dumps((_launcher_code(), plan)))
        try:
            argv = [os.path.realpath(sys.executable), "-I", "-S", "-E", "-c", _BOOT, str(order)]
            child = popen(argv, [order, status_out, *keep], *pipes.theirs)
        finally:
            os.close(order)
    except OSError as error:
        pipes.close()
        os.close(status_in)
        raise SandboxError(
            f"cannot start a process for a bot: {error}. Look at the worker's process limit and its open files limit."
        ) from error
    except BaseException:
        pipes.close()
        os.close(status_in)
        raise
    finally:
        os.close(status_out)
    pipes.close_theirs()
    try:
        complaint = read_to_end(status_in, HANDSHAKE_S)
        if complaint:
            raise SandboxError(f"the bot was not started, the sandbox failed at {complaint}")
    except BaseException:
        end(child)
        pipes.close()
        raise
    finally:
        os.close(status_in)
    stdin, stdout, stderr = pipes.ours
    return Started(child, child.pid, stdin, stdout, stderr, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)


def read_to_end(fd: int, timeout_s: float) -> str:
    """All that is written to a pipe until it is closed. Raises SandboxError when that takes too long."""
    text = b""
    while select.select([fd], [], [], timeout_s)[0]:
        piece = os.read(fd, 4096)
        if not piece:
            return text.decode(errors="replace")
        text += piece
    raise SandboxError(f"the sandbox was not ready after {timeout_s:g} s; the host is overloaded, run fewer workers")


def end(child: subprocess.Popen[bytes]) -> None:
    """Kill and reap a child that never became a bot."""
    with contextlib.suppress(ProcessLookupError):
        child.kill()
    child.wait(timeout=10)
