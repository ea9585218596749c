"""Cores are shared out among the matches of a machine."""

import os
from pathlib import Path

import pytest

from engine.runner.cores import pinned
from engine.sandbox.cgroups import reservations
from tests.engine.sandbox.support import elsewhere, worker

HOLD = """
import sys
from engine.runner.cores import pinned
with pinned() as core:
    print(core, flush=True)
    sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Return a folder that stands for a machine: matches of other programs on this one hold cores, too."""
    folder = tmp_path / "machine"
    monkeypatch.setenv(reservations.SETTING, str(folder))
    return folder


def test_match_is_pinned_and_let_go() -> None:
    before = os.sched_getaffinity(0)

    with pinned() as core:
        during = os.sched_getaffinity(0)

    assert os.sched_getaffinity(0) == before
    assert during == {core}


def test_no_core_is_held_twice() -> None:
    cores_taken = []
    allowed = os.sched_getaffinity(0)

    def nested(depth: int) -> None:
        with pinned() as core:
            cores_taken.append(core)
            os.sched_setaffinity(0, allowed)
            if depth:
                nested(depth - 1)

    nested(len(allowed))

    assert cores_taken == [*sorted(allowed, reverse=True), None]


def held_by(holders: list) -> list[str]:
    """Return the core that each holds while all hold one, and end them."""
    cores = [holder.stdout.readline().strip() for holder in holders]
    for holder in holders:
        holder.communicate("", timeout=60)
    return cores


def all_and_none() -> list[str]:
    """Return every core of this machine once, and None for one process more."""
    return sorted([*map(str, os.sched_getaffinity(0)), "None"])


def test_other_leagues_do_not_take_the_same_core(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """One has only another state folder, another one a network, the others the namespaces of a container."""
    container = ["--net", "--ipc", "--uts", "--mount", "--pid", "--fork"]
    holders = []
    for number in range(len(os.sched_getaffinity(0)) + 1):
        monkeypatch.setenv("STATE_DIR", str(tmp_path / f"state-{number}"))
        before = ([], elsewhere("--net"), elsewhere(*container))[min(number, 2)]
        holders.append(worker(HOLD, before=before))
    assert sorted(held_by(holders)) == all_and_none()


def test_containers_that_share_nothing_do_not_pin(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each would take the last core, and leave the others idle."""
    monkeypatch.delenv(reservations.SETTING)
    assert held_by([worker(HOLD, before=elsewhere("--ipc", "--net")) for _ in range(2)]) == ["None", "None"]


def test_a_folder_that_cannot_be_used_pins_nothing_and_says_so(machine: Path, caplog: pytest.LogCaptureFixture) -> None:
    machine.write_text("not a folder")
    with pinned() as core:
        assert core is None
    assert "matches are not pinned to cores: cannot reserve core-" in caplog.text


def test_core_of_a_killed_process_is_free_again() -> None:
    holder = worker(HOLD)
    core_of_holder = int(holder.stdout.readline())
    with pinned() as other:
        assert other != core_of_holder
    holder.kill()
    holder.communicate(timeout=60)

    with pinned() as core:
        assert core == core_of_holder


def test_not_wanted_pins_nothing() -> None:
    with pinned(False) as core:
        assert core is None
