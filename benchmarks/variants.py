"""The engine as source and compiled, for benchmarks that compare the two. Both are copies, so that the working tree does not change.

`BENCH_COPIES` names a folder that outlives a benchmark: `make bench` names the same folder to several, so that the rules are compiled once.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NAMES = ("source", "compiled")


def copies(only: str | None = None) -> Iterator[tuple[str, Path]]:
    """Yield (variant, folder of its package `engine`) for the variant `only` or for both, the source first. Compiling takes some minutes."""
    with ExitStack() as stack:
        given_folder = os.environ.get("BENCH_COPIES")
        place = Path(given_folder or stack.enter_context(tempfile.TemporaryDirectory(prefix="tute-bench-")))
        for variant in NAMES:
            if only not in (None, variant):
                continue
            if variant == "compiled" and not shutil.which("cc"):
                print("compiled: left out, there is no C compiler here", file=sys.stderr)
                continue
            folder = place / variant
            if not (folder / "ready").exists():
                _make(folder, compiled=variant == "compiled")
            yield variant, folder


def run(folder: Path, arguments: list[str]) -> str:
    """Run Python with the engine of a copy and return its output. Raises CalledProcessError."""
    command = [sys.executable, "-P", *arguments]
    env = {**os.environ, "PYTHONPATH": str(folder)}
    return subprocess.run(command, cwd=folder, env=env, stdout=subprocess.PIPE, text=True, check=True).stdout


def _make(folder: Path, *, compiled: bool) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    ignored = shutil.ignore_patterns("_compiled", "*.so", "__pycache__")
    shutil.copytree(ROOT / "engine", folder / "engine", ignore=ignored)
    if compiled:
        print("compiling the rules: some minutes", file=sys.stderr, flush=True)
        sys.path.insert(0, str(ROOT))  # Run as a file, Python looks in benchmarks/ first.
        from engine import compiling

        compiling.build(folder)
    (folder / "ready").touch()
