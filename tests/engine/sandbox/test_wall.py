"""The wall-clock cap runs for a bot that waits, and not for a machine that is busy."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from engine.sandbox.process import watch
from engine.sandbox.process.wall import Wall
from tests.support.processes import wait_for


def test_the_wall_clock_does_not_run_while_the_bot_waits_for_a_processor() -> None:
    """Two programs on one core: one that computes gets half of the time, and its cap lasts about twice as long."""
    core = max(os.sched_getaffinity(0))
    code = f"import os\nos.sched_setaffinity(0, {{{core}}})\nprint(flush=True)\nwhile True: pass"
    with (
        subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as first,
        subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as other,
    ):
        try:
            for process in (first, other):
                assert process.stdout
                process.stdout.readline()
            began = time.monotonic()
            wall = Wall(first.pid, 0.2, began)
            while wall.remaining_s(time.monotonic()) > 0:
                time.sleep(0.01)
            lasted = time.monotonic() - began
        finally:
            first.kill()
            other.kill()
    assert lasted > 0.27


def test_a_late_look_at_the_wall_clock_counts_as_one_in_time() -> None:
    wall = Wall(os.getpid(), 1.0, 100.0)
    assert wall.remaining_s(100.05) == pytest.approx(0.95)
    assert wall.remaining_s(160.05) == pytest.approx(0.95 - watch.SAMPLE_S)
    assert wall.remaining_s(160.10) == pytest.approx(0.90 - watch.SAMPLE_S)


def test_threads_that_wait_for_one_another_do_not_stop_the_wall_clock() -> None:
    """Three threads share a core: each waits two thirds of the time, all of it for the others."""
    account = watch.Account
    before = {"1": account(1.0, 5.0), "2": account(0.0, 0.0)}
    now = {"1": account(2.0, 7.0), "2": account(1.0, 2.0), "3": account(1.0, 2.0)}

    assert watch.waited(before, now, cpu_s=3.0) == 0.0
    assert watch.waited(before, {**now, "2": account(1.0, 2.5)}, cpu_s=3.0) == pytest.approx(
        0.5
    )  # Taken by another process
    assert watch.waited(before, {"1": account(1.0, 9.0)}, cpu_s=0.0) == pytest.approx(4.0)
    assert watch.waited(before, {}, cpu_s=0.0) == 0.0


def test_sleepers_among_busy_threads_get_no_more_than_their_cap() -> None:
    """Fifteen threads on one core wait for most of the time in sum; the process has computed all the time and is cut off at its cap."""
    core = max(os.sched_getaffinity(0))
    code = (
        f"import os, threading, time\nos.sched_setaffinity(0, {{{core}}})\n"
        "def busy():\n    while True: pass\n"
        "for _ in range(15): threading.Thread(target=busy, daemon=True).start()\n"
        "print(flush=True)\ntime.sleep(600)"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as process:
        assert process.stdout
        process.stdout.readline()
        waits = watch.Waits(process.pid)
        began, cpu = time.monotonic(), time.clock_gettime(watch.clock(process.pid))
        while time.clock_gettime(watch.clock(process.pid)) - cpu < 0.25:
            time.sleep(0.01)
        used = time.clock_gettime(watch.clock(process.pid)) - cpu
        counted = waits.seconds()
        lasted = time.monotonic() - began  # Last, because this test may itself wait for a processor between these lines
        process.kill()
    assert counted <= lasted - used + 0.1  # never more than the time in which it did not compute


def test_a_wait_for_a_processor_that_still_lasts_stops_the_wall_clock() -> None:
    """The kernel reports a wait when it is over: a wait for the core that this test holds has not ended while the test looks."""
    core = max(os.sched_getaffinity(0))
    code = f"import os\nos.sched_setaffinity(0, {{{core}}})\nprint(flush=True)\nwhile True: pass"
    before = os.sched_getaffinity(0)
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as other:
        assert other.stdout
        other.stdout.readline()
        os.sched_setaffinity(0, {core})
        try:
            assert any(_ten_looks(other.pid) > 0 for _ in range(1000)), "undisturbed at least once"
        finally:
            os.sched_setaffinity(0, before)
            other.kill()


def _ten_looks(pid: int) -> float:
    """Return the time left of a cap of eight steps after ten."""
    wall = Wall(pid, 8 * watch.SAMPLE_S, 100.0)
    return [wall.remaining_s(100.0 + watch.SAMPLE_S * number) for number in range(11)][-1]


def test_a_wait_for_a_disk_counts_only_beyond_one_more_cap(tmp_path: Path) -> None:
    """The kernel holds who waits for a process that it has made by vfork, in the same state as who waits for a disk."""
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    code = (
        "import os\nprint(flush=True)\n"
        f"os.posix_spawn('/bin/true', ['true'], {{}}, file_actions=[(os.POSIX_SPAWN_OPEN, 0, {str(fifo)!r}, os.O_RDONLY, 0)])"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as process:
        assert process.stdout
        process.stdout.readline()
        try:
            wait_for(lambda: watch.held_by_kernel(process.pid), "the kernel holds it", 60)
            wall = Wall(process.pid, 0.4, 100.0)
            seconds = [wall.remaining_s(100.0 + watch.SAMPLE_S * number) for number in range(1, 19)]
        finally:
            process.kill()
            os.close(os.open(fifo, os.O_RDWR | os.O_NONBLOCK))  # lets the other half go on

    assert min(seconds[:15]) > 0
    assert max(seconds[17:]) <= 0
    assert wall.held_s() == pytest.approx(0.4)
