"""A virtual environment with requirements.lock and nothing else, as in the image and in `make demo`.

It lacks packages that only the tests' lock brings, so a process that needs such a package fails here as it would in production. It links to this
interpreter's packages if the tests' lock installed the same versions by the same hashes; else pip installs them. The environment stays in
var/test/production until a lock, a version, the interpreter or this folder changes.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution, version
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.support.compose import TOP
from tests.support.processes import DidNotStart

LOCK = TOP / "requirements.lock"
LOCK_OF_TESTS = TOP / "requirements-dev.lock"
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


def locked(lock: Path) -> dict[str, tuple[str, frozenset[str]]]:
    """Map each package of a lock that is for this interpreter to its version and hashes."""
    packages = {}
    for line in lock.read_text(encoding="utf-8").replace("\\\n", "").splitlines():
        words, *hashes = line.split("--hash=")
        if words.strip() and not words.startswith("#"):
            requirement = Requirement(words)
            if requirement.marker is None or requirement.marker.evaluate():
                name = canonicalize_name(requirement.name)
                packages[name] = (str(requirement.specifier), frozenset(text.strip() for text in hashes))
    return packages


def site_packages(place: Path) -> Path:
    """Return the folder of an environment's packages."""
    (folder,) = place.glob("lib/python3*/site-packages")
    return folder


def _make(place: Path, interpreter: Path) -> None:
    _run(sys.executable, "-m", "venv", "--without-pip", str(place))
    packages = locked(LOCK)
    of_tests = locked(LOCK_OF_TESTS)
    if all(of_tests.get(name) == package for name, package in packages.items()) and _installed() == {
        name: package[0].removeprefix("==") for name, package in packages.items()
    }:
        for name in packages:
            _link(name, site_packages(place), interpreter)
    else:
        install = ["install", "--disable-pip-version-check", "--no-input", "--quiet", "--no-deps", "--no-compile"]
        _run(sys.executable, "-m", "pip", "--python", str(interpreter), *install, "--require-hashes", "-r", str(LOCK))
    # Add the project itself, as an editable installation would.
    (site_packages(place) / "tute_league.pth").write_text(f"{TOP}\n")


def _installed() -> dict[str, str]:
    """Map each package of the lock that this interpreter has to its version."""
    versions = {}
    for name in locked(LOCK):
        with contextlib.suppress(PackageNotFoundError):
            versions[name] = version(name)
    return versions


def _link(name: str, packages: Path, interpreter: Path) -> None:
    """Put an installed package and its programs into an environment."""
    package = distribution(name)
    for top in {file.parts[0] for file in package.files or ()} - {"..", "__pycache__"}:
        if not (packages / top).is_symlink():
            (packages / top).symlink_to(str(package.locate_file(top)))
    for entry in package.entry_points.select(group="console_scripts"):
        program = interpreter.with_name(entry.name)
        program.write_text(
            f"#!/bin/sh\n'''exec' \"{interpreter}\" \"$0\" \"$@\"\n'''\n"  # The path may hold a space
            f"import sys\nfrom {entry.module} import {entry.attr}\nsys.exit({entry.attr}())\n"
        )
        program.chmod(0o755)


def _run(*command: str) -> None:
    process = subprocess.run(command, capture_output=True, text=True)
    if process.returncode:
        raise DidNotStart(
            f"an environment of {LOCK.name} could not be made; `{' '.join(command)}` says:\n{process.stdout}{process.stderr}"
        )


def _digest() -> str:
    """Return a digest of the locks, the versions, the interpreter, this place and this module: a virtual environment does not survive a move."""
    words = (sys.version, sys.base_prefix, sys.prefix, str(TOP), repr(_installed()))
    parts = (LOCK.read_bytes(), LOCK_OF_TESTS.read_bytes(), *(word.encode() for word in words))
    return hashlib.sha256(b"\0".join((*parts, Path(__file__).read_bytes()))).hexdigest()[:20]
