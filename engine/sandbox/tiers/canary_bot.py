"""The canary: tries to break out of the sandbox it is started in, then plays like any other bot.

It is started as a bot, never imported. First line in: {"sentinel": path, "worker": pid, "port": TCP port, "listener": abstract socket name,
"memory_mb": limit, "directory": a directory the worker may write to}. First line out: attempt -> what it achieved, or null. Then it answers every
line with the line itself; "spin" leaves a computing thread behind, "burn" never answers.
"""

import ctypes
import errno
import json
import mmap
import os
import resource
import socket
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

MIB = 1 << 20
PTRACE_SEIZE = 0x4206  # Unlike attaching, it would not stop the worker.
KNOWN_VARIABLES = {
    "PATH",
    "HOME",
    "LANG",
    "LOCPATH",
    "PYTHONHASHSEED",
    "PYTHONDONTWRITEBYTECODE",
    "PYTHONPATH",
    "PWD",
    "LC_CTYPE",
}
SYSCALLS = {
    "x86_64": {"keyctl": 250, "io_uring_setup": 425, "bpf": 321, "perf_event_open": 298, "timer_create": 222,
               "memfd_create": 319, "setns": 308, "add_key": 248, "userfaultfd": 323, "pidfd_open": 434},
    "aarch64": {"keyctl": 219, "io_uring_setup": 425, "bpf": 280, "perf_event_open": 241, "timer_create": 107,
                "memfd_create": 279, "setns": 268, "add_key": 217, "userfaultfd": 282, "pidfd_open": 434},
}  # fmt: skip
libc = ctypes.CDLL(None, use_errno=True)


def let_through(result: int) -> str | None:
    """Return what a C call achieved. Some calls have bad arguments, so that they do no harm; only a refusal counts as contained."""
    error = ctypes.get_errno()
    return None if result < 0 and error in (errno.EPERM, errno.ENOSYS) else f"returned {result}, errno {error}"


def system_call(name: str, *arguments: int) -> str | None:
    """Make a raw system call."""
    number = SYSCALLS[os.uname().machine][name]
    return let_through(libc.syscall(ctypes.c_long(number), *[ctypes.c_long(word) for word in arguments]))


def read(path: str) -> str:
    """Read the beginning of a file."""
    return f"read {Path(path).read_bytes()[:20]!r}"


def environment() -> str | None:
    more = set(os.environ) - KNOWN_VARIABLES
    return f"sees {sorted(more)}" if more else None


def descriptors() -> str | None:
    descriptors_left = []
    for fd in range(3, 512):
        try:
            os.fstat(fd)
            descriptors_left.append(fd)
        except OSError:
            pass
    return f"has {descriptors_left}" if descriptors_left else None


def list_root() -> str | None:
    more = {path.name for path in Path("/").iterdir()} - {"bot", "dev", "lib", "python", "tmp"}
    return f"sees {sorted(more)}" if more else None


def write(directory: str) -> str:
    path = Path(directory, "canary-was-here")
    path.touch()
    path.unlink()
    return f"wrote {path}"


def connect(family: int, address: tuple[str, int] | str) -> str:
    with socket.socket(family, socket.SOCK_STREAM) as client:
        client.settimeout(1)
        client.connect(address)
    return f"reached {address!r}"


def datagram(address: str) -> str:
    near, _far = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    try:
        near.sendto(b"canary", address)
    except OSError as error:
        if error.errno == errno.EPERM:
            raise
    return f"reached {address!r}"


def fork() -> str:
    child = os.fork()
    if not child:
        os._exit(0)
    os.waitpid(child, 0)
    return "made a process"


def signal_process(pid: int) -> str:
    os.kill(pid, 0)
    return f"may signal {pid}"


def allocate(size: int) -> str:
    block = bytearray(size)
    return f"got {len(block) // MIB} MiB"


def shared_memory(size: int) -> str:
    mmap.mmap(-1, size).close()
    return f"got {size // MIB} MiB of shared memory"


def stack_like_memory(size: int) -> str:
    mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x100).close()
    return f"got {size // MIB} MiB of memory that grows down"


def raise_limit() -> str:
    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
    resource.setrlimit(resource.RLIMIT_DATA, (2 * hard, 2 * hard))
    return "raised its memory limit"


def attempts(goal: dict[str, Any]) -> dict[str, Callable[[], str | None]]:
    """Return name -> attempt. An attempt is contained if it raises or returns None."""
    worker, twice = goal["worker"], 2 * goal["memory_mb"] * MIB
    return {
        "read a file of the host": lambda: read(goal["sentinel"]),
        "read /etc/passwd": lambda: read("/etc/passwd"),
        "read the worker's environment": lambda: read(f"/proc/{worker}/environ"),
        "read the first process's environment": lambda: read("/proc/1/environ"),
        "see the worker's variables": environment,
        "inherit descriptors": descriptors,
        "list the root directory": list_root,
        "write in its directory": lambda: write("."),
        "write in /tmp": lambda: write("/tmp"),
        "write in /dev/shm": lambda: write("/dev/shm"),
        "write in a directory of the worker": lambda: write(goal["directory"]),
        "connect to the local network": lambda: connect(socket.AF_INET, ("127.0.0.1", goal["port"])),
        "connect to the local network by IPv6": lambda: connect(socket.AF_INET6, ("::1", goal["port"])),
        "connect to a local socket": lambda: connect(socket.AF_UNIX, "\0" + goal["listener"]),
        "send to a local socket from a pair": lambda: datagram("\0" + goal["listener"]),
        "start a process": fork,
        "signal the worker": lambda: signal_process(worker),
        "signal everybody": lambda: signal_process(-1),
        "trace the worker": lambda: let_through(libc.ptrace(PTRACE_SEIZE, worker, 0, 0)),
        "make a user namespace": lambda: let_through(libc.unshare(0x10000000)),
        "make a mount namespace": lambda: let_through(libc.unshare(0x00020000)),
        "mount": lambda: let_through(libc.mount(b"none", b"/nowhere", b"tmpfs", 0, None)),
        "change the root": lambda: let_through(libc.chroot(b"/tmp")),
        "become root": lambda: let_through(libc.setuid(0)),
        "enter a namespace": lambda: system_call("setns", 0, 0),
        "reach the kernel's keys": lambda: system_call("keyctl", 0, -3, 0),
        "use io_uring": lambda: system_call("io_uring_setup", 1, 0),
        "load a BPF program": lambda: system_call("bpf", 0, 0, 0),
        "count performance events": lambda: system_call("perf_event_open", 0, 0, -1, -1, 0),
        "handle page faults": lambda: system_call("userfaultfd", 1),
        "hold another process": lambda: system_call("pidfd_open", worker, 0),
        "make a memory file": lambda: system_call("memfd_create", id("x"), 0),
        "make a timer that wakes it": lambda: system_call("timer_create", 1, 0, id("x")),
        "hold twice its memory": lambda: allocate(twice),
        "hold shared memory": lambda: shared_memory(twice),
        "hold stack-like memory": lambda: stack_like_memory(twice),
        "raise its limits": raise_limit,
    }


def outcome(attempt: Callable[[], str | None]) -> str | None:
    """Return what an attempt achieved."""
    try:
        return attempt()
    except (OSError, MemoryError, ValueError):
        return None


def compute() -> None:
    while True:
        pass


def main() -> None:
    goal = json.loads(sys.stdin.readline())
    print(json.dumps({name: outcome(attempt) for name, attempt in attempts(goal).items()}), flush=True)
    for line in sys.stdin:
        if line == "spin\n":
            threading.Thread(target=compute, daemon=True).start()
        elif line == "burn\n":
            compute()
        print(line, end="", flush=True)


if __name__ == "__main__":
    main()
