"""Says at the end of the run which interpreters were not there to compare chance with."""

from __future__ import annotations

from typing import Any

import pytest

MISSING: list[str] = []


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
