"""The canary of sealed bots: reads every clock there is. It is started as a bot, never imported.

Each input line is {"vsyscall": true if the kernel has the oldest of its clocks at their fixed address}; the answer is a line with clock -> the
seconds it shows, or null if it was refused. The value of an action that would open a clock differs each time if the action succeeds.
"""

import ctypes
import errno
import itertools
import json
import mmap
import os
import select
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

HERE = Path(__file__).parent
CALL = {"clock_gettime": 228, "gettimeofday": 96, "time": 201, "times": 100, "getrusage": 98, "adjtimex": 159}
CLOCKS = (0, 1, 4, 5, 6, 7, 8, 9, 11)  # All clocks that run on while a process is stopped.
ARCH_MAP_VDSO_64 = 0x2003
RDTSC, RDTSCP = bytes.fromhex("0f31"), bytes.fromhex("0f01f9")
SHIFT_AND_RETURN = bytes.fromhex("48c1e2204809d0c3")  # Machine code that combines both halves into the answer.
VSYSCALL_TIME = 0xFFFF_FFFF_FF60_0400

libc = ctypes.CDLL(None, use_errno=True)
open_seconds = itertools.count()


class Pair(ctypes.Structure):
    """Seconds, and a fraction of a second."""

    _fields_ = (("seconds", ctypes.c_long), ("fraction", ctypes.c_long), ("more", ctypes.c_long * 30))


def read_into_pair(name: str, *words: object, units: float = 1e9) -> float | None:
    """Read a clock by a system call that writes a pair. Return seconds; None if the call fails."""
    pair = Pair()
    failed = libc.syscall(ctypes.c_long(CALL[name]), *words, ctypes.byref(pair), None) < 0
    return None if failed else pair.seconds + pair.fraction / units


def read_as_result(name: str) -> float | None:
    """Make a system call that returns the time."""
    answer = libc.syscall(ctypes.c_long(CALL[name]), None)
    return None if answer < 0 else float(answer)


def counter(instruction: bytes) -> float:
    """Read the time stamp counter by an instruction, in units of 10^9."""
    code = mmap.mmap(
        -1, mmap.PAGESIZE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC
    )
    code.write(instruction + SHIFT_AND_RETURN)
    address = ctypes.addressof(ctypes.c_char.from_buffer(code))
    value: int = ctypes.CFUNCTYPE(ctypes.c_uint64)(address)()
    return value / 1e9


def map_clocks() -> float | None:
    """Try to map the kernel's clocks again, or find them still mapped."""
    libc.syscall.restype = ctypes.c_long
    at: int = libc.syscall(ctypes.c_long(158), ctypes.c_long(ARCH_MAP_VDSO_64), ctypes.c_long(0x10_0000_0000))
    exists = at >= 0 or ctypes.get_errno() == errno.EEXIST
    return float(next(open_seconds)) if exists else None


def start_program() -> float | None:
    """Start a new program, which has new clocks. If it is refused, return None; if it succeeds, its output shows that."""
    try:
        os.execv(sys.executable, [sys.executable, "-c", "import time; print(time.time())"])  # noqa: S606 - refused where it matters
    except OSError:
        return None


def own_pipe() -> float:
    """Return the creation time of a pipe."""
    ends = os.pipe()
    try:
        return os.fstat(ends[0]).st_mtime
    finally:
        os.close(ends[0])
        os.close(ends[1])


def first_read(name: str) -> float | None:
    """Read a file or a directory; return its access time if reading has changed it. Files differ in the time of their copy, which is no clock."""
    path = HERE / name
    before = path.stat().st_atime_ns
    _ = list(path.iterdir()) if path.is_dir() else path.read_bytes()
    return None if path.stat().st_atime_ns == before else path.stat().st_atime


def start_counter() -> float:
    """Start a second thread, whose counting would be a clock while this one waits."""
    thread = threading.Thread(target=int)
    thread.start()
    thread.join()
    return float(next(open_seconds))


def wait_of(wait: Callable[[], object]) -> Callable[[], float | None]:
    """Return a function that measures a wait of five seconds by the monotonic clock."""

    def measure() -> float:
        before = time.monotonic()
        wait()
        return time.monotonic() - before

    return measure


LOOKS: dict[str, Callable[[], float | None]] = {
    "time.time": time.time,
    "time.monotonic": time.monotonic,
    "time.perf_counter": time.perf_counter,
    **{f"clock {clock} of the library": partial(time.clock_gettime, clock) for clock in CLOCKS},
    **{
        f"clock {clock} by its call": partial(read_into_pair, "clock_gettime", ctypes.c_long(clock)) for clock in CLOCKS
    },
    "gettimeofday by its call": lambda: read_into_pair("gettimeofday", units=1e6),
    "time by its call": lambda: read_as_result("time"),
    "times": lambda: read_as_result("times"),
    "adjtimex": lambda: read_into_pair("adjtimex", units=1e6),
    "rusage": lambda: read_into_pair("getrusage", ctypes.c_long(0), units=1e6),
    "rdtsc": lambda: counter(RDTSC),
    "rdtscp": lambda: counter(RDTSCP),
    "ARCH_MAP_VDSO": map_clocks,
    "execve": start_program,
    "its input": lambda: os.fstat(0).st_mtime,
    "its output": lambda: os.fstat(1).st_mtime,
    "its errors": lambda: os.fstat(2).st_mtime,
    "a pipe": own_pipe,
    "another thread": start_counter,
    "sleep": wait_of(lambda: time.sleep(5)),
    "a lock": wait_of(lambda: threading.Lock().acquire() and threading.Event().wait(5)),
    "poll": wait_of(lambda: select.poll().poll(5000)),
    "select": wait_of(lambda: select.select([], [], [], 5)),
    "epoll": wait_of(lambda: select.epoll().poll(5)),
}


def look() -> dict[str, float | None]:
    """Read every clock, as far as possible."""
    readings: dict[str, float | None] = {}
    for name, reading in LOOKS.items():
        try:
            readings[name] = reading()
        except (OSError, RuntimeError):
            readings[name] = None
    return readings


def oldest() -> float | None:
    """Read the oldest clock, at its fixed address."""
    reading: int = ctypes.CFUNCTYPE(ctypes.c_long, ctypes.c_void_p)(VSYSCALL_TIME)(None)
    return None if reading < 0 else float(reading)


def main() -> None:
    """Read all clocks whenever a line arrives."""
    unread = iter(sorted(path.name for path in HERE.iterdir()))
    for line in sys.stdin:
        answer = look()
        answer["vsyscall"] = oldest() if json.loads(line)["vsyscall"] else None
        name = next(unread, None)
        answer["a file read first"] = first_read(name) if name else None
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
