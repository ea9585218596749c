"""Measure how far this host's clocks can be trusted, before the first match, so that no bot loses because of the host."""

from __future__ import annotations

import os
import signal
import sys
import time
from functools import cache

from engine.runner.limits import Noise
from engine.sandbox.process import watch

ROUNDS = 24
WORK_S = 0.004  # Approximate CPU time of one round.
MOST_CPU = 0.5  # Upper limit for the result; worse hosts are not believed.
MOST_STOP_S = 0.02


# The child dies with its worker (PR_SET_PDEATHSIG, SIGKILL) and checks whether the worker had already ended. It writes
# a byte when that is done, because a child stopped earlier would stay stopped for ever.
_COMPUTES = """
import ctypes, os, sys
ctypes.CDLL(None).prctl(1, 9)
os.write(1, b".")
while os.getppid() == int(sys.argv[1]): pass
"""


@cache
def measure_noise() -> Noise:
    """Measure the noise once per process, in about a third of a second."""
    return Noise(cpu=_cpu(), stop_s=_stop(), late_s=_late())


def _cpu() -> float:
    def work(loops: int) -> float:
        began = time.thread_time()
        for _ in range(loops):
            pass
        return time.thread_time() - began

    loops = 10_000
    while work(loops) < WORK_S / 2:
        loops *= 2
    rounds = sorted(work(loops) for _ in range(ROUNDS))
    median = rounds[len(rounds) // 2]  # 0 with a clock that ticks a hundred times a second, as in User Mode Linux.
    return min(MOST_CPU, rounds[-1] / median - 1.0) if median else MOST_CPU


def _late() -> float:
    worst = 0.0
    for _ in range(ROUNDS):
        began = time.monotonic()
        time.sleep(0.001)
        worst = max(worst, time.monotonic() - began - 0.001)
    return worst


def _stop() -> float:
    """Stop a computing child as bots are stopped, and read its clock at once and later."""
    reader, writer = os.pipe()
    with os.fdopen(reader, "rb", buffering=0) as pipe:
        try:
            words = [sys.executable, "-I", "-S", "-c", _COMPUTES, str(os.getpid())]
            child = os.posix_spawn(sys.executable, words, {}, file_actions=[(os.POSIX_SPAWN_DUP2, writer, 1)])
        finally:
            os.close(writer)
        try:
            if not pipe.read(1):
                raise OSError("the child process that measures the clock of this host did not start")
            return min(MOST_STOP_S, _stopped(child))
        finally:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)


def _stopped(child: int) -> float:
    clock = watch.clock(child)
    worst = 0.0
    for _ in range(ROUNDS // 2):
        os.kill(child, signal.SIGSTOP)
        before = time.clock_gettime(clock)
        time.sleep(0.002)
        worst = max(worst, time.clock_gettime(clock) - before)
        os.kill(child, signal.SIGCONT)
        time.sleep(0.001)
    return worst
