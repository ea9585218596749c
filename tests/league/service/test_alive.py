"""Signs of life: of real processes, read by the check that containers run."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from league.domain.core.loops import Loops
from league.service import alive
from tests.support.compose import TOP

SHOW = """
import sys
from league.service.alive import Signs
signs = Signs("worker")
for line in sys.stdin:
    name, patience, error = line.rstrip("\\n").split(" ", 2)
    signs.show(name, float(patience), error)
    print("shown", flush=True)
signs.close()
"""


@pytest.fixture(autouse=True)
def own_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The folder of temporary files, as a container has one."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    return tmp_path


class Shower:
    """A process that shows signs of life on command."""

    def __init__(self) -> None:
        pipe = subprocess.PIPE
        self.popen = subprocess.Popen([sys.executable, "-c", SHOW], stdin=pipe, stdout=pipe, text=True, cwd=TOP)
        self.pid = self.popen.pid

    def show(self, name: str, patience: float, error: str = "") -> None:
        assert self.popen.stdin is not None
        assert self.popen.stdout is not None
        self.popen.stdin.write(f"{name} {patience} {error}\n")
        self.popen.stdin.flush()
        assert self.popen.stdout.readline() == "shown\n"


@pytest.fixture
def shower() -> Iterator[Shower]:
    shower = Shower()
    yield shower
    shower.popen.kill()
    shower.popen.communicate()


def check(*words: str) -> str:
    """Run the check with the standard library alone and no database address; return its trouble, or ""."""
    command = [sys.executable, "-S", str(TOP / "docker" / "healthcheck.py"), *words]
    environment = {"PATH": os.environ["PATH"], "TMPDIR": os.environ["TMPDIR"]}
    process = subprocess.run(command, env=environment, cwd="/", capture_output=True, text=True)
    assert (process.returncode == 0) == (process.stderr == "")
    return process.stderr.strip()


def test_a_process_is_well_while_it_lives_and_all_its_loops_come_round(shower: Shower) -> None:
    assert check("worker") == "unhealthy: no worker lives here"
    shower.show("pulse", 1000)
    assert check("worker") == ""
    assert check("scheduler") == "unhealthy: no scheduler lives here"
    shower.show("look", -1)  # it was to come again before it came
    assert check("worker").startswith(f"unhealthy: the loop 'look' of the worker {shower.pid} has stood still for ")
    shower.popen.kill()
    shower.popen.wait()
    assert check("worker") == "unhealthy: no worker lives here"


def test_a_stopped_process_is_not_well(shower: Shower) -> None:
    shower.show("pulse", 1000)
    shower.popen.send_signal(signal.SIGSTOP)
    os.waitpid(shower.pid, os.WUNTRACED)
    assert check("worker") == f"unhealthy: the worker {shower.pid} is stopped"
    shower.popen.send_signal(signal.SIGCONT)
    os.waitpid(shower.pid, os.WCONTINUED)
    assert check("worker") == ""


def test_a_loop_that_fails_and_a_refusal_are_no_reason_to_start_again(shower: Shower) -> None:
    shower.show("pulse", 1000, "OperationalError: the server is away")
    assert check("worker") == ""
    assert check("worker", "ready") == "unhealthy: the loop 'pulse' fails: OperationalError: the server is away"
    shower.show("pulse", 1000)
    shower.show(alive.REFUSAL, alive.NEVER_S, "no sandbox holds here")
    assert check("worker") == ""
    assert check("worker", "ready") == f"unhealthy: the worker {shower.pid} refuses to work: no sandbox holds here"


def test_another_process_of_the_same_number_is_not_the_one(shower: Shower, own_folder: Path) -> None:
    shower.show("pulse", 1000)
    (place,) = alive.folder().iterdir()
    place.rename(place.with_name(f"worker-{shower.pid}-1"))
    assert check("worker") == "unhealthy: no worker lives here"


def test_what_killed_processes_leave_is_removed_by_the_next_one(shower: Shower) -> None:
    dead = Shower()
    dead.show("pulse", 1000)
    dead.popen.kill()
    dead.popen.communicate()
    shower.show("pulse", 1000)
    assert [place.name.split("-")[1] for place in alive.folder().iterdir()] == [str(shower.pid)]
    shower.popen.communicate("")
    assert list(alive.folder().iterdir()) == [], "one that ends in good order leaves nothing"


def test_loops_show_their_rounds_and_their_errors() -> None:
    loops = Loops("worker")

    def fail() -> None:
        raise KeyError("nobody")

    loops.be("hints")
    loops.start("look", fail, 0.001)
    loops.refuse("no room")
    try:
        while "'look' fails" not in (trouble := check("worker", "ready")):
            assert "refuses to work: no room" in trouble or not trouble
            loops.refuse("")
        assert trouble == "unhealthy: the loop 'look' fails: KeyError: 'nobody'"
        assert check("worker") == ""
    finally:
        loops.leave()
    assert check("worker") == "unhealthy: no worker lives here"


def test_a_folder_that_takes_no_signs_harms_nothing(own_folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    alive.folder().write_text("not a folder")
    signs = alive.Signs("worker")
    signs.show("pulse", 1)
    signs.show("pulse", 1, "again")
    assert [record.getMessage().partition(":")[0] for record in caplog.records] == [
        "cannot write a sign of life of the loop 'pulse'"
    ]
    assert check("worker") == "unhealthy: no worker lives here"


@pytest.mark.parametrize("words", [(), ("postgres",), ("worker", "live")])
def test_wrong_words_are_refused(words: tuple[str, ...]) -> None:
    assert check(*words) == "usage: healthcheck.py web|scheduler|worker [ready]"
