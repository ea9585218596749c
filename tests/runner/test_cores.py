"""Cores are shared out among the matches of a machine."""

import os
import subprocess
import sys

from engine.runner.cores import pinned


def test_match_is_pinned_and_let_go() -> None:
    before = os.sched_getaffinity(0)

    with pinned() as core:
        during = os.sched_getaffinity(0)

    assert os.sched_getaffinity(0) == before
    assert during == ({core} if core is not None else before)


def test_no_core_is_held_twice() -> None:
    held = []
    cores = len(os.sched_getaffinity(0))

    def nested(left: int) -> None:
        with pinned() as core:
            held.append(core)
            os.sched_setaffinity(0, range(os.cpu_count() or 1))
            if left:
                nested(left - 1)

    nested(cores)

    taken = [core for core in held if core is not None]
    assert len(taken) == len(set(taken))
    assert held[-1] is None


def test_core_of_a_killed_process_is_free_again() -> None:
    code = "import os, time\nfrom engine.runner.cores import pinned\nwith pinned() as core:\n    print(core, flush=True)\n    time.sleep(60)"
    holder = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert holder.stdout is not None
    core = holder.stdout.readline().strip()

    with pinned() as other:
        assert str(other) != core or core == "None"
    holder.kill()
    holder.communicate()


def test_not_wanted_pins_nothing() -> None:
    with pinned(False) as core:
        assert core is None
