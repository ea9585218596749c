"""A virtual environment with requirements.lock and nothing else, as in the image and in `make demo`.

It lacks packages that only the tests' lock brings, so a process that needs such a package fails here as it would in production. The environment stays
in var/test/production until the lock, the interpreter or this folder changes.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

from tests.support.compose import TOP
from tests.support.processes import DidNotStart

LOCK = TOP / "requirements.lock"
KEPT = TOP / "var" / "test" / "production"


@cache
def python() -> Path:
    """Return the interpreter of the environment; create the environment first if it is missing. Raises DidNotStart."""
    place = KEPT / _digest()
    interpreter = place / "bin" / "python"
    KEPT.mkdir(parents=True, exist_ok=True)
    guard = os.open(KEPT, os.O_RDONLY | os.O_DIRECTORY)  # Test processes create it one at a time.
    try:
        fcntl.flock(guard, fcntl.LOCK_EX)
        if not (place / "complete").exists():
            for old in KEPT.iterdir():
                shutil.rmtree(old)
            _make(place, interpreter)
            (place / "complete").touch()
    finally:
        os.close(guard)
    return interpreter


def _make(place: Path, interpreter: Path) -> None:
    _run(sys.executable, "-m", "venv", "--without-pip", str(place))
    install = ["install", "--disable-pip-version-check", "--no-input", "--quiet", "--no-deps", "--no-compile"]
    _run(sys.executable, "-m", "pip", "--python", str(interpreter), *install, "--require-hashes", "-r", str(LOCK))
    # Add the project itself, as an editable installation would.
    (packages,) = place.glob("lib/python3*/site-packages")
    (packages / "tute_league.pth").write_text(f"{TOP}\n")


def _run(*command: str) -> None:
    process = subprocess.run(command, capture_output=True, text=True)
    if process.returncode:
        raise DidNotStart(
            f"an environment of {LOCK.name} could not be made; `{' '.join(command)}` says:\n{process.stdout}{process.stderr}"
        )


def _digest() -> str:
    """Return a digest of the lock, the interpreter, this place and this module: a virtual environment does not survive a move."""
    parts = (LOCK.read_bytes(), sys.version.encode(), sys.base_prefix.encode(), str(TOP).encode())
    return hashlib.sha256(b"\0".join((*parts, Path(__file__).read_bytes()))).hexdigest()[:20]
