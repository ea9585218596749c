"""How far this host's clocks can be trusted: measured before the first match, so that no bot loses to the host."""

from __future__ import annotations

import os
import signal
import sys
import time
from functools import cache

from engine.runner.limits import Noise
from engine.sandbox.process import watch

ROUNDS = 24
WORK_S = 0.004  # CPU time of one round, about
MOST_CPU = 0.5  # a host that is worse is taken to be as bad as this
MOST_STOP_S = 0.02


# A worker that is killed meanwhile takes it along: PR_SET_PDEATHSIG, SIGKILL, and a look whether that came too late. It says when that is so,
# since a child that is stopped before would stay so for ever.
_COMPUTES = """
import ctypes, os, sys
ctypes.CDLL(None).prctl(1, 9)
os.write(1, b".")
while os.getppid() == int(sys.argv[1]): pass
"""


@cache
def measure_noise() -> Noise:
    """Measured once a process, in about a third of a second."""
    return Noise(cpu=_cpu(), stop_s=_stop(), late_s=_late())


def _cpu() -> float:
    def work(loops: int) -> float:
        began = time.thread_time()
        for _ in range(loops):
            pass
        return time.thread_time() - began

    loops = 10_000
    while (took := work(loops)) < WORK_S / 2:
        loops *= 2
    rounds = sorted(work(loops) for _ in range(ROUNDS))
    return min(MOST_CPU, rounds[-1] / rounds[len(rounds) // 2] - 1.0) if took else 0.0


def _late() -> float:
    worst = 0.0
    for _ in range(ROUNDS):
        began = time.monotonic()
        time.sleep(0.001)
        worst = max(worst, time.monotonic() - began - 0.001)
    return worst


def _stop() -> float:
    """A child that computes is stopped as bots are, and its clock read at once and later."""
    hear, say = os.pipe()
    with os.fdopen(hear, "rb", buffering=0) as told:
        try:
            words = [sys.executable, "-I", "-S", "-c", _COMPUTES, str(os.getpid())]
            child = os.posix_spawn(sys.executable, words, {}, file_actions=[(os.POSIX_SPAWN_DUP2, say, 1)])
        finally:
            os.close(say)
        try:
            if not told.read(1):
                raise OSError("the child that is stopped to measure the clock of this host did not start")
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
