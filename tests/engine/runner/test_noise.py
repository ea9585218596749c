"""The noise of this host's clocks: measured once, within bounds, and stored with every result."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from engine.runner import BotSpec, noise
from engine.runner.limits import LEAST_NOISE_S, Noise
from engine.runner.match import play_match
from engine.runner.noise import MOST_CPU, MOST_STOP_S, measure_noise
from engine.runner.seat import Seat
from engine.sandbox import Sandbox
from engine.sandbox.process.bot import PONDERING_S
from tests.support.bots import SHORT, match
from tests.support.processes import wait_for


def test_noise_is_measured_once_and_within_bounds() -> None:
    measured = measure_noise()

    assert 0 <= measured.cpu <= MOST_CPU
    assert 0 <= measured.stop_s <= MOST_STOP_S
    assert measured.late_s > 0
    assert measure_noise() is measured
    assert not spinners(os.getpid())


def spinners(parent_pid: int) -> list[str]:
    """Return the busy children of a process that the measurement starts."""
    return [pid for pid in os.listdir("/proc") if pid.isdigit() and _is_spinner(pid, parent_pid)]  # noqa: PTH208


def _is_spinner(pid: str, parent_pid: int) -> bool:
    folder = Path("/proc", pid)
    try:
        parent = int((folder / "stat").read_bytes().rpartition(b")")[2].split()[1])
        return parent == parent_pid and noise._COMPUTES.encode() in (folder / "cmdline").read_bytes()
    except OSError:
        return False


def test_who_is_killed_while_it_measures_leaves_nobody_who_computes() -> None:
    code = "from engine.runner import noise\nnoise.ROUNDS = 10**9\nnoise._stop()"
    with subprocess.Popen([sys.executable, "-c", code]) as worker:
        wait_for(lambda: spinners(worker.pid), "the busy child", 60)
        [child] = spinners(worker.pid)
        worker.kill()
    assert wait_for(lambda: not Path("/proc", child).exists(), "the end of the child", 60)


# A worker that is killed while its child stands still, as early as the measurement does that
KILLED = """
import os
from engine.runner import noise

kill = os.kill
def stop(pid, sign):
    kill(pid, sign)
    print(pid, flush=True)
    kill(os.getpid(), 9)
os.kill = stop
noise._stop()
"""


def test_who_is_killed_while_its_child_stands_still_leaves_nobody_either() -> None:
    child = subprocess.run([sys.executable, "-c", KILLED], stdout=subprocess.PIPE, check=False).stdout.strip()
    assert child
    wait_for(lambda: not Path("/proc", child.decode()).exists(), "the end of the child", 60)


def test_every_result_says_how_noisy_its_host_was(box: Sandbox, honest: BotSpec) -> None:
    host = play_match(match(honest, honest, boards=1), box).host

    measured = measure_noise()
    assert (host["cpu_noise"], host["stop_ms"], host["late_ms"]) == (
        round(measured.cpu, 3),
        round(1000 * measured.stop_s, 3),
        round(1000 * measured.late_s, 3),
    )


def test_a_bot_is_given_the_noise_of_its_host(box: Sandbox, honest: BotSpec) -> None:
    from engine.runner import runtimes
    from engine.sandbox import Policy

    host_noise = Noise(cpu=0.25, stop_s=0.01)
    with box.start(honest.path, runtimes.get("python", box.state_dir), honest.entry, Policy()) as process:
        assert process.pondering_s == PONDERING_S
        seat = Seat(0, 0, process, SHORT, host_noise)
        assert process.pondering_s == 0.01
    assert seat.clock.upper_s == (SHORT.move_s + SHORT.bank_s) * 1.25 + LEAST_NOISE_S
