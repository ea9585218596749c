"""Where hostile bots are played: every tier that holds here, as root and as an ordinary user."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.sandbox.support import StateDirectory, held_tiers


@pytest.fixture(scope="session")
def state() -> Iterator[StateDirectory]:
    """A state directory that every user can pass, with its runtimes."""
    with StateDirectory() as directory:
        yield directory


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say which tiers the battery ran in, and which it could not."""
    terminalreporter.section("sandbox tiers")
    for line in held_tiers.lines:
        terminalreporter.write_line(line)
