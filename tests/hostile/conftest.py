"""The places where hostile bots are played: every tier that holds here, as root and as an ordinary user."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.engine.sandbox.support import StateDirectory


@pytest.fixture(scope="session")
def state() -> Iterator[StateDirectory]:
    """Yield a state directory that every user can pass, with its runtimes."""
    with StateDirectory() as directory:
        yield directory
