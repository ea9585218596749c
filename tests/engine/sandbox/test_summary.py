"""A run says at its end in which tiers the sandbox was tested, however many processes it has."""

from __future__ import annotations

import subprocess
import sys

import pytest

from engine.sandbox import TIERS
from tests.engine.sandbox.support import REPOSITORY


@pytest.mark.slow
def test_the_end_of_a_run_says_which_tiers_were_tested() -> None:
    words = [
        "-m",
        "pytest",
        "-q",
        "-n",
        "1",
        "-p",
        "no:cacheprovider",
        "tests/engine/sandbox/test_forkserver.py",
        "-k",
        "spare_that_was_killed",
    ]
    process = subprocess.run([sys.executable, *words], cwd=REPOSITORY, capture_output=True, text=True, check=False)

    assert process.returncode == 0, process.stdout
    summary = process.stdout.partition(" sandbox tiers ")[2]
    for tier in TIERS:
        assert not tier.isolates or f"\n{tier.name} as the tests' user: " in summary
