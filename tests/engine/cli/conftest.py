"""The command as users run it: a process of its own, forked from one that has loaded it."""

import os
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.chaos.forked import Loaded

ROOT = Path(__file__).resolve().parents[3]
Tute = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session")
def loaded(state_dir: Path) -> Iterator[Loaded]:
    """Yield the process from which those of the command are forked."""
    environment = {**os.environ, "STATE_DIR": str(state_dir), "PYTHONPATH": str(ROOT)}
    with tempfile.TemporaryDirectory(prefix="tute-loaded-") as folder:
        process = Loaded(environment, Path(folder) / "log", "tests.engine.cli.loaded")
        yield process
        process.close()


def tute_in(folder: Path, state_dir: Path, loaded: Loaded) -> Tute:
    """Run `tute` in a folder; stdout and stderr are no terminals."""

    def run(*words: object, code: int | None = 0, timeout: float = 400) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "STATE_DIR": str(state_dir), "COLUMNS": "100"}
        with tempfile.TemporaryDirectory(prefix="tute-output-") as place:
            out, errors = Path(place) / "out", Path(place) / "errors"
            process = loaded.start("tute", list(map(str, words)), environment, out, errors, folder)
            returned = process.popen.wait(timeout)
            printed, complained = out.read_text(), errors.read_text()
        if code is not None:
            assert returned == code, printed + complained
        return subprocess.CompletedProcess(list(words), returned, printed, complained)

    return run


@pytest.fixture
def tute(state_dir: Path, loaded: Loaded, tmp_path: Path) -> Tute:
    """Run `tute` in an empty folder."""
    return tute_in(tmp_path, state_dir, loaded)
