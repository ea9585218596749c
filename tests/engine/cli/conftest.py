"""The command as users run it: a process of its own."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.runtimes import lend

ROOT = Path(__file__).resolve().parents[3]
Tute = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session")
def state_dir() -> Iterator[Path]:
    """Yield a directory that every user may pass: where the tests run as root, bots are other users."""
    with tempfile.TemporaryDirectory(prefix="tute-state-") as folder:
        Path(folder).chmod(0o755)
        lend(Path(folder))
        yield Path(folder)


def tute_in(folder: Path, state_dir: Path) -> Tute:
    """Run `tute` in a folder; stdout and stderr are no terminals."""

    def run(*words: object, code: int | None = 0, timeout: float = 400) -> subprocess.CompletedProcess[str]:
        process = subprocess.run(
            [sys.executable, "-m", "engine.cli", *map(str, words)],
            cwd=folder,
            env={**os.environ, "STATE_DIR": str(state_dir), "PYTHONPATH": str(ROOT), "COLUMNS": "100"},
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )
        if code is not None:
            assert process.returncode == code, process.stdout + process.stderr
        return process

    return run


@pytest.fixture
def tute(state_dir: Path, tmp_path: Path) -> Tute:
    """Run `tute` in an empty folder."""
    return tute_in(tmp_path, state_dir)
