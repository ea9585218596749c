"""Runtimes of bots for the state directories of tests: built once, and lent.

Building one copies and compiles an interpreter with its library, which takes two seconds of CPU and writes a hundred megabytes. Lending one makes
links to the same files, which nobody changes. The trees stay in var/test/lent until the interpreter, the modules for bots or the code that builds
trees changes. A test that damages a runtime, or tests how one is built, builds its own.
"""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
import subprocess
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from engine.runner.runtimes import modules
from engine.sandbox.files import inventory, runtimes
from tests.support.compose import TOP

KEPT = TOP / "var" / "test" / "lent"  # This is not where a state directory of tests has its own runtimes.
MOST_BYTES = 1 << 30  # Limit for these trees and those of earlier rules.


def lend(state_dir: Path, extra: Mapping[str, Path] | None = None) -> None:
    """Lend the runtime for Python with these modules (default: those of bots) to a state directory; one on another disk builds its own."""
    wanted_modules = modules() if extra is None else extra
    place = runtimes.directory(state_dir)
    place.mkdir(parents=True, exist_ok=True)
    place.chmod(0o755)
    parts = _parts(wanted_modules)
    missing = [path for path in parts if not (place / path.name).exists()]
    if missing and _links(parts[1], place):
        subprocess.run(["cp", "--archive", "--link", f"--target-directory={place}", *missing], check=True)


def _links(file: Path, place: Path) -> bool:
    """Return True if the kernel can link a file into a folder. It cannot between file systems, nor between two mounts of one."""
    link = place / f".link-{os.getpid()}"
    try:
        link.hardlink_to(file)
    except OSError:
        return False
    link.unlink()
    return True


def lending(state_dir: str, extra: Mapping[str, Path]) -> str:
    """Return a line of shell that copies this runtime into a state directory which only that shell sees."""
    place = f"{state_dir}/runtimes"
    return f"mkdir -p {place} && cp --archive --target-directory={place} {shlex.join(map(str, _parts(extra)))}\n"


def _parts(extra: Mapping[str, Path]) -> list[Path]:
    """Return the entries of the folder of runtimes: the tree, the tree that it is built on, and their index files."""
    paths: list[Path] = []
    for root in dict.fromkeys([_stored(()), _stored(tuple(extra.items()))]):
        indexes = [file for file in root.parent.glob(".python-*") if file.is_file() and file.suffix != ".inventory"]
        paths += [root, inventory.place(root), *(file for file in indexes if file.read_text().strip() == root.name)]
    return paths


@cache
def _stored(extra: tuple[tuple[str, Path], ...]) -> Path:
    """Return the complete tree with these modules in var/test/lent."""
    state_dir = KEPT / _digest()
    for old in KEPT.glob("*"):
        if old != state_dir:
            shutil.rmtree(old, ignore_errors=True)
    root = runtimes.python(state_dir, dict(extra)).root
    runtimes.prune(state_dir, MOST_BYTES)
    return root


def _digest() -> str:
    """Return a hash of the code that builds trees; their names already depend on their contents."""
    digest = hashlib.sha256()
    for path in sorted(Path(runtimes.__file__).parent.glob("*.py")):
        digest.update(f"{path.name}\0".encode() + path.read_bytes())
    return digest.hexdigest()[:20]
