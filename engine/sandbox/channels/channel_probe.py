"""The channel probe: runs in the sandbox as one of two bots that try to communicate without the referee. Standard library only.

Each channel has three acts, one per request: the receiver prepares, the transmitter sends a symbol, the receiver hears a number. Between the acts
both bots are frozen, as at a table. An act that the kernel refuses raises OSError, which is reported.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import json
import mmap
import operator
import os
import platform
import random
import select
import signal
import socket
import struct
import sys
import threading
import time
from collections.abc import Callable
from resource import RUSAGE_SELF, getrusage
from typing import Any

LIBRARY = json.__file__  # A file that all bots share.
STEP_S = 0.006  # Duration of one symbol step: longer than most delays on a busy machine.
SHORT_S = 0.001
MIB = 1 << 20
LINE = 64  # Bytes of a processor cache line.
SMALL, LARGE = bytearray(MIB // 2), bytearray(24 * MIB)
WALK = operator.itemgetter(*random.Random(1).sample(range(0, len(SMALL), LINE), len(SMALL) // LINE))  # noqa: S311 - an order, no secret
SO_COOKIE = 57
PAGEOUT = 21
GET_HINT, SET_HINT = 1035, 1036
# Machine code with a list of addresses and its length. Reading: lfence; mov rax, [rdi]; mov al, [rax]; add rdi, 8; dec esi; jnz. Flushing: clflush.
READ_LINES = bytes.fromhex("0faee8 488b07 8a00 4883c708 ffce 75f0 c3")
FLUSH_LINES = bytes.fromhex("488b07 0fae38 4883c708 ffce 75f2 0faef0 c3")
SHARED = os.path.join(os.path.dirname(os.__file__), "_pydecimal.py")  # noqa: PTH118, PTH120 - a large file that all bots share
RDTSC = b"\x0f\x31\x48\xc1\xe2\x20\x48\x09\xd0\xc3"  # rdtsc; shl rdx, 32; or rax, rdx; ret

libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.syscall.restype = ctypes.c_long


def call(number: int, *arguments: int) -> int:
    """Make a raw system call. Raise OSError."""
    result: int = libc.syscall(ctypes.c_long(number), *[ctypes.c_long(word) for word in arguments])
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def spend(symbol: int) -> None:
    """Compute for `symbol` steps. Sleeping would not do: in a sealed bot no time passes while it sleeps."""
    until = time.process_time() + symbol * STEP_S
    while time.process_time() < until:
        pass


_pages: list[mmap.mmap] = []  # They live as long as the functions in them.


def machine_code(code: bytes) -> Any:
    """Return machine code as a function. Raise OSError on another machine."""
    if platform.machine() != "x86_64":
        raise OSError("this is machine code for x86-64")
    place = mmap.mmap(-1, mmap.PAGESIZE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, 7)
    place.write(code)
    function = ctypes.CFUNCTYPE(ctypes.c_uint64, ctypes.c_void_p, ctypes.c_int)(
        ctypes.addressof(ctypes.c_char.from_buffer(place))
    )
    _pages.append(place)
    return function


class Stopwatch:
    """The finest clock of CPU time that a bot has.

    The clock of a thread is exact. A sealed bot has only that of the process, which stands still between two events of the scheduler, milliseconds
    apart, but shows an exact time at each. So it counts the turns of a loop between two events, works, and counts the turns until the third.
    """

    def __init__(self) -> None:
        self.exact = len({time.thread_time_ns() for _ in range(50)}) > 25

    def _turns(self) -> int:
        clock = time.process_time_ns
        now, turns = clock(), 0
        while clock() == now:
            turns += 1
        return turns

    def time(self, work: Callable[[], object]) -> float:
        """Return the CPU time of some work, in ns."""
        if self.exact:
            began = time.thread_time_ns()
            work()
            return float(time.thread_time_ns() - began)
        self._turns()
        began = time.process_time_ns()
        turns = self._turns()
        middle = time.process_time_ns()
        work()
        turns_after = self._turns()
        return time.process_time_ns() - middle - (middle - began) * turns_after / max(1, turns)


def settle() -> None:
    """Let the other threads of this process finish, if they can."""
    for _ in range(20):
        time.sleep(0)
        os.sched_yield()


class ProbeChannel:
    """The two ends of a channel. numbers: the numbers of the system calls; peer: the transmitter's process id, as the worker knows it."""

    def __init__(self, numbers: dict[str, int], peer: int) -> None:
        self.numbers = numbers
        self.peer = peer
        self.before = 0.0

    def look(self) -> float:
        """Return a number that the other bot may have changed."""
        raise NotImplementedError

    def prepare(self) -> None:
        """Prepare the receiver."""
        self.before = self.look()

    def send(self, symbol: int) -> None:
        """Send a symbol."""
        spend(symbol)

    def hear(self) -> float:
        """Return what the receiver observes."""
        return self.look() - self.before

    def sees(self) -> bool:
        """Return True if the receiver has what it measures with."""
        return True


class WallClock(ProbeChannel):
    def look(self) -> float:
        return time.monotonic()


class TimeStampCounter(ProbeChannel):
    def look(self) -> float:
        if platform.machine() != "x86_64":
            raise OSError("this machine does not have one")
        code = mmap.mmap(-1, mmap.PAGESIZE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, 7)
        code.write(RDTSC)
        return float(ctypes.CFUNCTYPE(ctypes.c_uint64)(ctypes.addressof(ctypes.c_char.from_buffer(code)))())


class PipeTimes(ProbeChannel):
    """The inode of the pipe shows when the referee wrote the request."""

    def look(self) -> float:
        return os.fstat(0).st_mtime


class IntervalTimer(ProbeChannel):
    def look(self) -> float:
        return -signal.getitimer(signal.ITIMER_REAL)[0]

    def prepare(self) -> None:
        signal.setitimer(signal.ITIMER_REAL, 1000)
        super().prepare()


class TimerDescriptor(ProbeChannel):
    def prepare(self) -> None:
        self.timer = call(self.numbers["timerfd_create"], 1, 0)
        every = struct.pack("=4q", 0, int(SHORT_S * 1e9), 0, int(SHORT_S * 1e9))
        timing = ctypes.create_string_buffer(every)
        call(self.numbers["timerfd_settime"], self.timer, 0, ctypes.addressof(timing), 0)

    def hear(self) -> float:
        count: int = struct.unpack("=Q", os.read(self.timer, 8))[0]
        os.close(self.timer)
        return float(count)


class TimedWait(ProbeChannel):
    """A thread waits for a time that also passes while the process is stopped."""

    def wait(self, seconds: float) -> None:
        select.poll().poll(seconds * 1000)

    def prepare(self) -> None:
        self.over = False
        self.failed: OSError | None = None
        self.thread = threading.Thread(target=self._wait)
        self.thread.start()

    def _wait(self) -> None:
        try:
            self.wait(2 * STEP_S)
            self.over = True
        except OSError as error:
            self.failed = error

    def send(self, symbol: int) -> None:
        spend(4 * symbol)

    def hear(self) -> float:
        settle()
        over = self.over
        self.thread.join()
        if self.failed:
            raise self.failed
        return float(over)


class TimedSignal(TimedWait):
    def wait(self, seconds: float) -> None:
        signal.sigtimedwait([signal.SIGUSR1], seconds)


class PipeNumbers(ProbeChannel):
    def look(self) -> float:
        ends = os.pipe()
        number = os.fstat(ends[0]).st_ino
        for end in ends:
            os.close(end)
        return float(number)

    def send(self, symbol: int) -> None:
        for _ in range(symbol):
            PipeNumbers.look(self)


class SocketNumbers(ProbeChannel):
    def look(self) -> float:
        near, far = socket.socketpair()
        with near, far:
            return self.number(near)

    def number(self, end: socket.socket) -> float:
        return float(os.fstat(end.fileno()).st_ino)

    def send(self, symbol: int) -> None:
        for _ in range(symbol):
            self.look()


class SocketCookies(SocketNumbers):
    def number(self, end: socket.socket) -> float:
        return float(struct.unpack("=Q", end.getsockopt(socket.SOL_SOCKET, SO_COOKIE, 8))[0])


class DescriptorNumbers(PipeNumbers):
    """Inode numbers of event counters and of epoll descriptors."""

    def look(self) -> float:
        with select.epoll() as watcher:
            event = os.eventfd(0)
            total = os.fstat(event).st_ino + os.fstat(watcher.fileno()).st_ino
            os.close(event)
        return float(total)

    def send(self, symbol: int) -> None:
        for _ in range(symbol):
            self.look()


class SharedFutex(ProbeChannel):
    """A thread waits on a page of a file that all bots share."""

    def page(self) -> int:
        with open(LIBRARY, "rb") as file:  # noqa: PTH123 - the kernel is measured, not pathlib
            return int(libc.mmap(None, 4096, mmap.PROT_READ, mmap.MAP_SHARED, file.fileno(), 0))

    def prepare(self) -> None:
        self.woken = False
        self.failed: OSError | None = None
        self.at = self.page()
        self.thread = threading.Thread(target=self._wait)
        self.thread.start()
        time.sleep(SHORT_S)
        if self.failed:
            raise self.failed

    def _wait(self) -> None:
        word = ctypes.c_uint32.from_address(self.at).value
        limit = ctypes.create_string_buffer(struct.pack("=2q", 0, int(5 * STEP_S * 1e9)))
        try:
            call(self.numbers["futex"], self.at, 0, word, ctypes.addressof(limit))
            self.woken = True
        except TimeoutError:
            pass
        except OSError as error:
            self.failed = error

    def send(self, symbol: int) -> None:
        if symbol:
            call(self.numbers["futex"], self.page(), 1, 99)

    def hear(self) -> float:
        self.thread.join()
        return float(self.woken)


class EndOfThread(SharedFutex):
    """A futex that the kernel itself wakes: when a thread ends, the kernel wakes an address that the thread has chosen."""

    def send(self, symbol: int) -> None:
        address = self.page()
        work = (lambda: call(self.numbers["set_tid_address"], address)) if symbol else (lambda: 0)
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        time.sleep(SHORT_S)  # The thread ends a little after its Python part.


class ThreadNumbers(ProbeChannel):
    def look(self) -> float:
        numbers: list[int] = []
        thread = threading.Thread(target=lambda: numbers.append(threading.get_native_id()))
        thread.start()
        thread.join()
        return float(numbers[0])

    def send(self, symbol: int) -> None:
        for _ in range(symbol):
            self.look()


class ThreadsOfOthers(ProbeChannel):
    """Test whether a number belongs to a live thread of another process."""

    end: threading.Event | None = None
    thread: threading.Thread

    def ask(self, pid: int) -> None:
        call(self.numbers["getpriority"], 0, pid)

    def prepare(self) -> None:
        self.ask(self.peer)

    def send(self, symbol: int) -> None:
        end = threading.Event()
        if self.end:
            self.end.set()
            self.thread.join()
        self.end = end
        self.thread = threading.Thread(target=end.wait, daemon=True)
        self.thread.start()
        if not symbol:
            end.set()
            self.thread.join()

    def hear(self) -> float:
        threads = 0
        for pid in range(self.peer + 1, self.peer + 400):
            with contextlib.suppress(OSError):
                self.ask(pid)
                threads += 1
        return float(threads)


class SessionsOfOthers(ThreadsOfOthers):
    def ask(self, pid: int) -> None:
        call(self.numbers["getsid"], pid)


class ProcessDirectory(ThreadsOfOthers):
    """Landlock does not cover `stat`, so the bots of a worker that is not root see the link count of another process's thread directory."""

    def prepare(self) -> None:
        self.hear()

    def hear(self) -> float:
        return float(os.stat(f"/proc/{self.peer}/task").st_nlink)  # noqa: PTH116


class FileTimes(ProbeChannel):
    def look(self) -> float:
        return os.stat(LIBRARY).st_atime  # noqa: PTH116

    def send(self, symbol: int) -> None:
        if symbol:
            with open(LIBRARY, "rb") as file:  # noqa: PTH123
                file.read()


class WriteHints(ProbeChannel):
    """Write hints stay with the file if its owner sets them."""

    def prepare(self) -> None:
        self.hear()

    def send(self, symbol: int) -> None:
        with open(LIBRARY, "rb") as file:  # noqa: PTH123
            fcntl.fcntl(file, SET_HINT, struct.pack("=Q", symbol))

    def hear(self) -> float:
        with open(LIBRARY, "rb") as file:  # noqa: PTH123
            return float(struct.unpack("=Q", fcntl.fcntl(file, GET_HINT, bytes(8)))[0])


class Locks(ProbeChannel):
    def prepare(self) -> None:
        self.file = open(LIBRARY, "rb")  # noqa: PTH123, SIM115
        fcntl.flock(self.file, fcntl.LOCK_UN)

    def send(self, symbol: int) -> None:
        self.prepare()
        if symbol:
            fcntl.flock(self.file, fcntl.LOCK_EX)

    def hear(self) -> float:
        with self.file:
            try:
                fcntl.flock(self.file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return 1.0
            return 0.0


class Keys(ProbeChannel):
    """A key of the user's own keyring."""

    def look(self) -> float:
        return float(call(self.numbers["keyctl"], 6, -4, 0, 0))

    def send(self, symbol: int) -> None:
        text = ctypes.create_string_buffer(b"user")
        for _ in range(symbol):
            call(self.numbers["add_key"], ctypes.addressof(text), ctypes.addressof(text), ctypes.addressof(text), 4, -4)


class PageCache(ProbeChannel):
    """Pages of a shared file are evicted from memory, and read again."""

    def _map(self) -> tuple[int, int]:
        size = os.path.getsize(os.__file__)  # noqa: PTH202
        with open(os.__file__, "rb") as file:  # noqa: PTH123
            return int(libc.mmap(None, size, mmap.PROT_READ, mmap.MAP_SHARED, file.fileno(), 0)), size

    def prepare(self) -> None:
        self.hear()

    def send(self, symbol: int) -> None:
        address, size = self._map()
        call(self.numbers["madvise"], address, size, PAGEOUT if symbol else 0)
        libc.munmap(ctypes.c_void_p(address), ctypes.c_size_t(size))

    def hear(self) -> float:
        address, size = self._map()
        before = getrusage(RUSAGE_SELF).ru_majflt
        ctypes.string_at(address, size)
        libc.munmap(ctypes.c_void_p(address), ctypes.c_size_t(size))
        return float(getrusage(RUSAGE_SELF).ru_majflt - before)


class Timed(ProbeChannel):
    """The receiver does the same work each time, and measures how long it takes."""

    watch: Stopwatch | None = None

    def work(self) -> None:
        """Do what takes longer after one symbol than after the other."""
        raise NotImplementedError

    def hear(self) -> float:
        self.watch = self.watch or Stopwatch()
        return self.watch.time(self.work)

    def work_twice(self) -> None:
        """Do the work, and again."""
        self.work()
        self.work()

    def sees(self) -> bool:
        """Return True if the clock shows that the work was done twice."""
        self.watch = watch = self.watch or Stopwatch()
        longer = [watch.time(self.work_twice) > watch.time(self.work) > 0 for _ in range(9)]
        return sum(longer) > 0.75 * len(longer)


class FlushedPages(Timed):
    """The receiver flushes a file that all bots share from the caches; reading it is fast again if the transmitter has read it meanwhile."""

    lines: Any = None

    def prepare(self) -> None:
        if self.lines is None:
            self.read, self.flush = machine_code(READ_LINES), machine_code(FLUSH_LINES)
            size = os.path.getsize(SHARED)  # noqa: PTH202
            with open(SHARED, "rb") as file:  # noqa: PTH123
                at = int(libc.mmap(None, size, mmap.PROT_READ, mmap.MAP_SHARED, file.fileno(), 0))
            places = random.Random(1).sample(range(at, at + size, LINE), size // LINE)  # noqa: S311 - in an order that the processor cannot foresee
            self.lines = (ctypes.c_uint64 * len(places))(*places)
            self.work()
        self.flush(self.lines, len(self.lines))

    def work(self) -> None:
        self.read(self.lines, len(self.lines))

    def sees(self) -> bool:
        self.prepare()
        self.watch = watch = self.watch or Stopwatch()
        longer = []
        for _ in range(9):
            self.flush(self.lines, len(self.lines))
            longer.append(watch.time(self.work) > watch.time(self.work))
        return sum(longer) > 0.75 * len(longer)

    def send(self, symbol: int) -> None:
        self.prepare()
        if symbol:
            self.work()


class Caches(Timed):
    """The transmitter reads much memory or none; after much, the same reads take the receiver more CPU time."""

    def work(self) -> None:
        WALK(SMALL)

    def prepare(self) -> None:
        for _ in range(3):
            WALK(SMALL)

    def send(self, symbol: int) -> None:
        if symbol:
            LARGE[::LINE]


class Load(Timed):
    """The transmitter computes or rests; a warm or busy processor needs a different time for the same work."""

    def prepare(self) -> None:
        self.hear()

    def send(self, symbol: int) -> None:
        spend(symbol)

    def work(self) -> None:
        for _ in range(20_000):
            pass


class MemoryPressure(Timed):
    """The transmitter allocates and frees much memory, the receiver a little."""

    def prepare(self) -> None:
        self.hear()

    def send(self, symbol: int) -> None:
        if symbol:
            bytearray(b"\1") * (64 * MIB)

    def work(self) -> None:
        bytearray(b"\1") * (4 * MIB)


class OwnCounters(ProbeChannel):
    """The kernel's counters of the receiver itself, while the transmitter computes or rests."""

    def look(self) -> float:
        use = getrusage(RUSAGE_SELF)
        return float(use.ru_nivcsw + use.ru_nvcsw + use.ru_minflt + use.ru_majflt)

    def prepare(self) -> None:
        self.before = self.look()

    def hear(self) -> float:
        return self.look() - self.before


def act(channel: ProbeChannel, request: dict[str, Any]) -> float | None:
    """Carry out one act of a channel; return the number heard, if it was a "hear"."""
    if request["act"] == "hear":
        return channel.hear()
    if request["act"] == "sees":
        channel.prepare()
        return float(channel.sees())
    if request["act"] == "send":
        channel.send(request["symbol"])
    else:
        channel.prepare()
    return None


def main() -> None:
    """Act on each request line."""
    threading.stack_size(64 * 1024)
    acting: dict[str, ProbeChannel] = {}
    answer: dict[str, float | str | None]
    for line in sys.stdin:
        request: dict[str, Any] = json.loads(line)
        name = request["channel"]
        if name not in acting:
            acting[name] = globals()[name](request["numbers"], request["peer"])
        try:
            answer = {"seen": act(acting[name], request)}
        except (OSError, RuntimeError) as error:  # The system refuses a thread by a RuntimeError.
            answer = {"refused": str(error)}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
