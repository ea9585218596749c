"""The process that judges works for any process that starts it, and ends with that process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import engine

TOP = Path(engine.__file__).parent.parent
# As the first process of a namespace of its own: what a container starts
FIRST = ("unshare", "--user", "--map-root-user", "--pid", "--fork")
JUDGES = """
import json, os, sys
from engine.judging import Child
child = Child(cpu_s=60, nodes=50)
found, whole = child.judge(json.loads(sys.argv[1]), stop=lambda: False)
child.close()
print(os.getpid(), len(found), whole)
"""


def record() -> dict:
    """Return a deal of two players, in which everybody takes the first choice."""
    state = engine.load("two_player").new_match(seed="judging", deals=1)
    while not state.is_over:
        state.apply(state.legal_actions()[0])
    return engine.replay.make(state)


def can_be_first() -> bool:
    """Return True if a process may have such a namespace here."""
    try:
        return subprocess.run([*FIRST, "true"], capture_output=True, check=False).returncode == 0
    except OSError:
        return False


@pytest.mark.parametrize("alone", [False, True], ids=["below another", "first of its container"])
def test_it_judges_for_whoever_has_started_it(alone: bool) -> None:
    if alone and not can_be_first():
        pytest.skip("no namespaces for users here")
    command = [*(FIRST if alone else ()), sys.executable, "-c", JUDGES, json.dumps(record())]
    process = subprocess.run(command, capture_output=True, text=True, cwd=TOP, check=False)
    assert process.returncode == 0, process.stderr
    pid, decisions, whole = process.stdout.split()
    assert (pid == "1", int(decisions) > 0, whole) == (alone, True, "True")


def test_it_ends_where_who_started_it_has_ended_before() -> None:
    """Whoever takes the orphan over: not everywhere that is process 1."""
    order = {
        "fair": None,
        "puzzles": None,
        "margin": None,
        "nodes": 50,
        "cpu_s": 60,
        "memory": 1 << 30,
        "parent": os.getppid(),
    }
    lines = json.dumps(order) + "\n" + json.dumps(record()) + "\n"
    command = [sys.executable, "-P", "-m", "engine.judging"]
    process = subprocess.run(
        command, input=lines, capture_output=True, text=True, cwd=TOP, env={"PYTHONPATH": str(TOP)}, check=False
    )
    assert (process.returncode, process.stdout) == (1, "")
    assert "the process that started this one has ended" in process.stderr
