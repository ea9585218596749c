"""Fixtures of the sandbox tests: one state directory with its runtimes, and bots written on the spot."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from engine.sandbox import TIERS
from tests.engine.sandbox.support import StateDirectory, held_tiers


@pytest.fixture(scope="session")
def state() -> Iterator[StateDirectory]:
    """Yield a state directory that every user can pass, with its runtimes."""
    with StateDirectory() as directory:
        yield directory


@pytest.fixture(scope="session")
def tiers_here(state: StateDirectory) -> list[str]:
    """Return the tiers that hold for the present user; that none does is a failure, not a reason to pass over tests."""
    tiers = []
    for name in (tier.name for tier in TIERS if tier.isolates):
        report = state.reports[name]
        held_tiers.tell("the tests' user", name, report.holds, report.reasons)
        tiers += [name] if report.holds else []
    assert tiers, held_tiers.lines
    return tiers


@pytest.fixture
def bot(tmp_path: Path) -> Callable[[str], Path]:
    """Write a Python bot; returns its directory."""

    def write(source: str) -> Path:
        directory = tmp_path / "bot"
        directory.mkdir(exist_ok=True)
        (directory / "bot.py").write_text(source)
        return directory

    return write
