"""The project has one version: what it says of itself anywhere is `engine.version.VERSION`."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import version

import engine
from engine.version import VERSION
from tests.support.compose import TOP


def test_command_package_and_replays_agree() -> None:
    process = subprocess.run(
        [sys.executable, "-m", "engine.cli", "--version"], cwd=TOP, capture_output=True, text=True, check=True
    )
    assert process.stdout.startswith(f"tute {VERSION}, rules: ")
    assert engine.__version__ == VERSION
    assert version("tute-league") == VERSION, "the installed project is of another version: .ci/venv dev"
    state = engine.load("partnership").new_match(seed=1, record=True)
    assert engine.replay.make(state)["engine"] == VERSION


def test_nothing_else_states_the_number() -> None:
    """A second copy would be forgotten by the next release."""
    for name in ("pyproject.toml", "setup.py", "docker/Dockerfile", "engine/__init__.py", "engine/replay.py"):
        path = TOP / name
        assert not path.exists() or VERSION not in path.read_text(encoding="utf-8"), name
