"""The wall-clock cap runs for a bot that waits, and not for a machine that is busy."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import pytest

from engine.sandbox.process import watch
from engine.sandbox.process.wall import Wall


def test_the_wall_clock_does_not_run_while_the_bot_waits_for_a_processor() -> None:
    """Two programs on one core: one that computes gets half of the time, and its cap lasts about twice as long."""
    core = max(os.sched_getaffinity(0))
    code = f"import os\nos.sched_setaffinity(0, {{{core}}})\nprint(flush=True)\nwhile True: pass"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as one:
        with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as other:
            for process in (one, other):
                assert process.stdout
                process.stdout.readline()
            began = time.monotonic()
            left = Wall(one.pid, 0.3, began)
            while left.left(time.monotonic()) > 0:
                time.sleep(0.01)
            lasted = time.monotonic() - began
            other.kill()
        one.kill()
    assert lasted > 0.4


def test_a_late_look_at_the_wall_clock_counts_as_one_in_time() -> None:
    wall = Wall(os.getpid(), 1.0, 100.0)
    assert wall.left(100.05) == pytest.approx(0.95)
    assert wall.left(160.05) == pytest.approx(0.95 - watch.SAMPLE_S)
    assert wall.left(160.10) == pytest.approx(0.90 - watch.SAMPLE_S)
