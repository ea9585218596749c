"""Cores are shared out among the matches of a machine."""

import os
import subprocess
import sys

import pytest

from engine.runner import cores
from engine.runner.cores import pinned


@pytest.fixture(autouse=True)
def cores_of_ones_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Matches of other programs on this machine hold cores, too."""
    monkeypatch.setattr(cores, "NAME", f"tute-test-{os.getpid()}-")


def test_match_is_pinned_and_let_go() -> None:
    before = os.sched_getaffinity(0)

    with pinned() as core:
        during = os.sched_getaffinity(0)

    assert os.sched_getaffinity(0) == before
    assert during == {core}


def test_no_core_is_held_twice() -> None:
    held = []
    allowed = os.sched_getaffinity(0)

    def nested(left: int) -> None:
        with pinned() as core:
            held.append(core)
            os.sched_setaffinity(0, allowed)
            if left:
                nested(left - 1)

    nested(len(allowed))

    assert held == [*sorted(allowed, reverse=True), None]


def test_core_of_a_killed_process_is_free_again() -> None:
    code = (
        "import sys\nfrom engine.runner import cores\ncores.NAME = sys.argv[1]\n"
        "with cores.pinned() as core:\n    print(core, flush=True)\n    sys.stdin.read()"
    )
    command = [sys.executable, "-c", code, cores.NAME]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as holder:
        assert holder.stdout is not None
        held = int(holder.stdout.readline())
        with pinned() as other:
            assert other != held
        holder.kill()

    with pinned() as core:
        assert core == held


def test_not_wanted_pins_nothing() -> None:
    with pinned(False) as core:
        assert core is None
