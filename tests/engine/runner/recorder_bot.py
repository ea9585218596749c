"""A bot that records all that it can see and measure, on its error output: facts, and numbers."""

import contextlib
import hashlib
import json
import os
import resource
import signal
import sys
import threading
import time
from pathlib import Path

SMALL = bytearray(1 << 18)
LIMITS = [name for name in dir(resource) if name.startswith("RLIMIT_")]


def attempt(look):
    """Return what `look` returns, or the name of its error."""
    try:
        return look()
    except (OSError, ValueError, RuntimeError, AttributeError, LookupError) as error:
        return type(error).__name__


def streams():
    """Return kind and mode of each open descriptor."""
    kinds = {}
    for number in range(64):
        with contextlib.suppress(OSError):
            kinds[number] = oct(os.fstat(number).st_mode)
    return kinds


def folder():
    """Return all files in sight, with mode and size."""
    return sorted((str(path), oct(path.stat().st_mode), path.stat().st_size) for path in Path().rglob("*"))


def facts():
    """Return what has one value for a process."""
    return {
        "limits": {name: attempt(lambda name=name: resource.getrlimit(getattr(resource, name))) for name in LIMITS},
        "environment": dict(os.environ),
        "arguments": sys.argv,
        "path": sys.path,
        "directory": attempt(os.getcwd),
        "folder": attempt(folder),
        "proc": attempt(lambda: sorted(map(str, Path("/proc").iterdir()))),
        "root": attempt(lambda: sorted(map(str, Path("/").iterdir()))),
        "streams": streams(),
        "cores": attempt(lambda: len(os.sched_getaffinity(0))),
        "scheduler": attempt(lambda: os.sched_getscheduler(0)),
        "nice": attempt(lambda: os.getpriority(os.PRIO_PROCESS, 0)),
        "groups": attempt(os.getgroups),
        "leads": attempt(lambda: (os.getsid(0) == os.getpid(), os.getpgid(0) == os.getpid())),
        "system": attempt(lambda: list(os.uname())),
        "signals": attempt(lambda: sorted(map(int, signal.pthread_sigmask(signal.SIG_BLOCK, [])))),
        "umask": attempt(lambda: os.umask(0o077)),
        "first process": (process == 1, parent == 0),
        "lines": lines.hexdigest(),
    }


def usage():
    """Return the kernel's counters of this process."""
    counters = attempt(lambda: resource.getrusage(resource.RUSAGE_SELF))
    if isinstance(counters, str):
        return {}
    return {name: getattr(counters, name) for name in ("ru_nvcsw", "ru_nivcsw", "ru_minflt", "ru_majflt")}


def thread_number():
    """Return the number that the kernel gives to a new thread."""
    numbers = []
    thread = threading.Thread(target=lambda: numbers.append(threading.get_native_id()))
    thread.start()
    thread.join()
    return numbers[0]


def walk():
    """Return the CPU time of reading memory that fits into a cache."""
    began = time.process_time_ns()
    sum(SMALL[::64])
    return time.process_time_ns() - began


began_cpu, began = time.process_time_ns(), time.monotonic_ns()
pipe_age = time.time_ns() - os.fstat(1).st_mtime_ns
user, process, parent = os.getuid(), os.getpid(), os.getppid()
gaps, walks, threads, lines = [], [], [], hashlib.sha256()
before = usage()
answered = None
for line in sys.stdin:
    arrived = time.monotonic_ns()
    m = json.loads(line)
    lines.update(line.encode())
    if m["type"] == "hello":
        first_gap = arrived - began
        answer = '{"type":"ready"}'
    elif m["type"] == "act":
        gaps.append(arrived - answered)
        walks.append(walk())
        number = attempt(thread_number)
        if isinstance(number, int):
            threads.append(number)
        answer = json.dumps({"id": m["id"], "do": m["legal"][0]})
    if m["type"] == "act" and len(gaps) == 6:
        middle = len(gaps) // 2
        numbers = {
            "user": user,
            "start": began_cpu,
            "age": pipe_age,
            "hello": first_gap,
            "gap": sorted(gaps)[middle],
            "first": gaps[0],
            "shortest": min(gaps),
            "longest": max(gaps),
            "walk": sorted(walks)[middle],
            "threads": (threads[-1] - threads[0]) if threads else 0,
            "thread": (threads[0] - process) if threads else 0,
            **{name: value - before[name] for name, value in usage().items()},
        }
        print(json.dumps({"facts": facts(), "numbers": numbers}), file=sys.stderr, flush=True)
    if m["type"] == "end":
        break
    answered = time.monotonic_ns()
    print(answer, flush=True)
