"""Says at the end of the run which interpreters were not there to compare chance with."""

from __future__ import annotations

from typing import Any

import pytest

MISSING: list[str] = []


@pytest.fixture
def missing() -> list[str]:
    """Versions of Python that were looked for and not found; named in the summary of the run."""
    return MISSING


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """One line for each interpreter that could not be had."""
    for version in sorted(set(MISSING)):
        terminalreporter.write_line(
            f"NOT COMPARED: no Python {version} on PATH or under pyenv, so the deals were not compared with it",
            yellow=True,
        )
