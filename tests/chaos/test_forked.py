"""Processes of the chaos tests can be ended at any time, even at their very start."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from tests.chaos.forked import Loaded
from tests.support.compose import TOP


@pytest.mark.slow
def test_who_is_killed_as_soon_as_it_is_there_has_ended(tmp_path: Path) -> None:
    """It has a group of its own by then: `kill` ends that group, and waited for ever where there was none yet."""
    environment = {**os.environ, "DEBUG": "1", "STATE_DIR": str(tmp_path), "PYTHONPATH": str(TOP)}
    loaded = Loaded(environment, tmp_path / "loaded.log")
    for number in range(20):
        process = loaded.start("check", ["check"], {}, tmp_path / f"{number}.log")
        assert os.getpgid(process.popen.pid) == process.popen.pid
        process.kill()
        assert process.popen.returncode == -signal.SIGKILL
    loaded.close()
