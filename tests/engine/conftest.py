"""A state directory for sandboxes, and a line at the end of the run for each interpreter that was not there to compare chance with."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.runtimes import lend

MISSING: list[str] = []


@pytest.fixture(scope="session")
def state_dir() -> Iterator[Path]:
    """Yield a directory that every user may pass: where the tests run as root, bots are other users."""
    with tempfile.TemporaryDirectory(prefix="tute-state-") as folder:
        Path(folder).chmod(0o755)
        lend(Path(folder))
        yield Path(folder)


@pytest.fixture
def missing() -> list[str]:
    """Return the versions of Python that were not found; the summary of the run names them."""
    return MISSING


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print one line for each interpreter that was not available."""
    for version in sorted(set(MISSING)):
        terminalreporter.write_line(
            f"NOT COMPARED: no Python {version} on PATH or under pyenv, so the deals were not compared with it",
            yellow=True,
        )
