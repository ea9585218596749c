"""A tier is one file and one line: a copy of the project gets another one, and everything that asks for tiers knows it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.engine.sandbox.support import REPOSITORY, StateDirectory

SCRATCH = '''
"""The strictest tier of this test: it starts nobody."""

from engine.sandbox.errors import SandboxError
from engine.sandbox.tiers.tier import Tier


def start(place, runtime, entry, policy, core):
    raise SandboxError("scratch starts nobody")


TIER = Tier(
    name="scratch",
    held_by="the absence of any start",
    needs="nothing",
    leaves_open="nothing",
    remedies=("Use another tier.",),
    start=start,
)
'''
SETTINGS_CHECKED = """
import django
django.setup()
from league.service import checks
print([found.hint for found in checks.sandbox_settings()])
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Copy the project and add another tier as a person would: a file, and a word in a list."""
    for name in ("engine", "league", "bots"):
        ignored = shutil.ignore_patterns("*.so", "static")
        shutil.copytree(REPOSITORY / name, tmp_path / name, ignore=ignored)
    tiers = tmp_path / "engine" / "sandbox" / "tiers"
    (tiers / "scratch.py").write_text(SCRATCH)
    order = (tiers / "__init__.py").read_text()
    (tiers / "__init__.py").write_text(order.replace('("namespaces", ', '("scratch", "namespaces", '))
    return tmp_path


def run(project: Path, state: Path, *words: str, code: int = 0, **settings: str) -> str:
    ours = {"PYTHONPATH": str(project), "STATE_DIR": str(state), "DJANGO_SETTINGS_MODULE": "league.settings"}
    environment = os.environ | ours | settings
    process = subprocess.run([sys.executable, *words], cwd=project, capture_output=True, text=True, env=environment)
    assert process.returncode == code, process.stderr
    return process.stdout if code == 0 else process.stderr  # Progress goes to the other stream


@pytest.mark.slow
def test_everything_that_asks_for_tiers_knows_a_new_one(
    project: Path, state: StateDirectory, tiers_here: list[str]
) -> None:
    tute = ("-m", "engine.cli")

    checked = json.loads(run(project, state.path, *tute, "sandbox", "check", "--json"))["tiers"]
    assert checked[0]["name"] == "scratch"
    assert not checked[0]["holds"]
    assert checked[0]["reasons"] == ["scratch starts nobody"]
    assert checked[0]["remedies"] == ["Use another tier."]
    listed = run(project, state.path, *tute, "sandbox", "tiers").splitlines()
    assert listed[2] == "| `scratch` | the absence of any start | nothing | nothing |"
    played = ("play", "random", "random", "-g", "a_dos", "-n", "1", "--json")
    helped = run(project, state.path, *tute, "play", "--help")
    assert "auto, scratch, namespaces, landlock, none" in " ".join(helped.split())
    assert json.loads(run(project, state.path, *tute, *played))["host"]["tier"] == tiers_here[0]
    refused = run(project, state.path, *tute, *played, "--sandbox", "scratch", code=3)
    assert "scratch: scratch starts nobody" in refused
    assert "Use another tier." in refused

    jail = run(project, state.path, "-c", SETTINGS_CHECKED, SANDBOX_TIER="jail")
    assert "Use auto, scratch, namespaces, landlock, none." in jail
    none = run(project, state.path, "-c", SETTINGS_CHECKED, SANDBOX_TIER="none")
    assert "Use scratch or namespaces or landlock." in none
