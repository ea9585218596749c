"""Compiles the rules with mypyc: `python -m engine.compiling` (`make fast`). Optional: without it the same source runs as it is.

The compiled modules lie beside their source and are found first, so compile again after a change, or remove them (`--remove`, `make clean`).
Needs mypy and a C compiler, and where the compiled rules run librt, which comes with mypy. `engine.COMPILED` says which one runs.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MODULES = (
    *("errors", "game"),
    *(
        str(file.relative_to(ROOT / "engine").with_suffix(""))
        for folder in ("cards", "rules", "match", "search")
        for file in sorted((ROOT / "engine" / folder).rglob("[a-z]*.py"))
    ),
)
INLINE = "-fno-semantic-interposition"  # functions of a shared library may be inlined: nobody replaces them at run time
SETUP = """
from mypyc.build import mypycify
from setuptools import setup

setup(name="engine-fast", packages=[], ext_modules=mypycify({files!r}, opt_level="3", debug_level="0"))
"""


def build(into: Path) -> None:
    """Compiles the rules and puts the modules into the package folder `into/engine`. Raises RuntimeError with the compiler's words."""
    with tempfile.TemporaryDirectory(prefix="tute-fast-") as name:
        work = Path(name)
        shutil.copytree(ROOT / "engine", work / "engine", ignore=shutil.ignore_patterns("*.so", "__pycache__"))
        files = [f"engine/{module}.py" for module in MODULES]
        (work / "setup.py").write_text(
            SETUP.format(files=[*files, "--ignore-missing-imports", "--follow-imports=silent"])
        )
        done = subprocess.run(
            [sys.executable, "setup.py", "-q", "build_ext", "--inplace"],
            cwd=work,
            env={**os.environ, "PYTHONPATH": "", "CFLAGS": f"{os.environ.get('CFLAGS', '')} {INLINE}"},
            capture_output=True,
            text=True,
        )
        if done.returncode:
            raise RuntimeError((done.stdout + done.stderr).strip())
        for library in (*work.glob("*.so"), *(work / "engine").rglob("*.so")):
            target = into / library.relative_to(work)
            shutil.copyfile(library, target.with_suffix(".new"))
            target.with_suffix(".new").replace(target)  # a program that runs keeps the file it has open


def remove(into: Path) -> int:
    """Removes what `build` put there; how many files that were."""
    found = [*into.glob("*__mypyc.*.so"), *(into / "engine").rglob("*.so")]
    for library in found:
        library.unlink()
    return len(found)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m engine.compiling", description=__doc__)
    parser.add_argument("--remove", action="store_true", help="remove the compiled modules: back to the source")
    if parser.parse_args().remove:
        print(f"{remove(ROOT)} compiled files removed; the rules run as Python source")
        return 0
    remove(ROOT)
    try:
        build(ROOT)
    except (RuntimeError, OSError) as problem:
        print(
            f"{problem}\n\nThe rules were not compiled, so they go on running as Python source: nothing is broken, only slower."
        )
        print("It takes mypy (in the test extra: make venv-dev) and a C compiler such as gcc.")
        return 0
    print("The rules are compiled. Run `make fast` again after a change of engine/, or `make clean`.")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
