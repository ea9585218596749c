"""Compile the rules with mypyc: `python -m engine.compiling` (`make fast`). Optional: without it the same source runs as it is.

Compile again after a change; until then `engine.compiled` runs the source. `engine.COMPILED` says which one runs.
Compiling needs mypy and a C compiler; running the compiled rules needs neither.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from engine import compiled

PROGRESS = re.compile(r"^(C written for|\d+ of \d+ compiled) .* s(: |$)")
ROOT = Path(__file__).resolve().parent.parent
MODULES = (
    *("errors", "game"),
    *(
        str(file.relative_to(ROOT / "engine").with_suffix(""))
        for folder in ("cards", "rules", "match", "search")
        for file in sorted((ROOT / "engine" / folder).rglob("[a-z]*.py"))
    ),
)
FLAGS = (
    "-fno-semantic-interposition",  # Allow inlining of functions of the shared library: they are never replaced at run time.
    "-Ibuild/engine",  # mypyc writes the headers of a group below its package, and looks for them above.
)
# One C file per module: the compiler needs a tenth of the memory that a single file takes, and can report progress.
SETUP = """
import time
from mypyc.build import mypycify
from setuptools import setup
from setuptools.command.build_ext import build_ext

began = time.monotonic()
extensions = mypycify({files!r}, opt_level={opt_level!r}, debug_level="0", multi_file=True, group_name={group!r})
sources = [source for extension in extensions for source in extension.sources]
print(f"C written for {{len(sources)}} files after {{time.monotonic() - began:.0f}} s", flush=True)


class Reporting(build_ext):
    def build_extensions(self):
        numbers, compile_file = iter(range(1, len(sources) + 1)), self.compiler._compile

        def compile_and_report(obj, source, *rest):
            compile_file(obj, source, *rest)
            print(f"{{next(numbers)}} of {{len(sources)}} compiled after {{time.monotonic() - began:.0f}} s: {{source}}", flush=True)

        self.compiler._compile = compile_and_report
        super().build_extensions()


setup(name="engine-fast", packages=[], ext_modules=extensions, cmdclass={{"build_ext": Reporting}})
"""


def build(into: Path, opt_level: str = "3", report: Callable[[str], None] = lambda line: None) -> None:
    """Compile the rules of this project into the package folder `into/engine`, completely or not at all.

    opt_level: optimisation level of the C compiler; "0" compiles faster and the rules run slower. report: receives lines of progress.
    Raise RuntimeError with the compiler's output.
    """
    with tempfile.TemporaryDirectory(prefix="tute-fast-") as name:
        work = Path(name)
        shutil.copytree(ROOT / "engine", work / "engine", ignore=shutil.ignore_patterns("_compiled", "__pycache__"))
        files = [f"engine/{module}.py" for module in MODULES]
        # Keep mypy from reading the settings of a folder above the temporary one.
        options = ["--config-file=", "--ignore-missing-imports", "--follow-imports=silent"]
        (work / "setup.py").write_text(
            SETUP.format(files=[*files, *options], group=compiled.GROUP, opt_level=opt_level)
        )
        output: list[str] = []
        with subprocess.Popen(
            [sys.executable, "setup.py", "-q", "build_ext", "--inplace"],
            cwd=work,
            env={**os.environ, "PYTHONPATH": "", "CFLAGS": f"{os.environ.get('CFLAGS', '')} {' '.join(FLAGS)}"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        ) as running:
            for line in running.stdout or ():
                if PROGRESS.search(line):
                    report(line.rstrip())
                else:
                    output.append(line)
        if running.returncode:
            raise RuntimeError("".join(output).strip())
        _place(work, compiled.folder(into / "engine"))


def _place(work: Path, target: Path) -> None:
    """Replace `target` by the modules compiled in `work`. Running processes keep the files that they have open."""
    target.parent.mkdir(exist_ok=True)
    draft = Path(tempfile.mkdtemp(prefix=".new-", dir=target.parent))
    try:
        draft.chmod(0o755)
        for library in (work / "engine").rglob(f"*{compiled.SUFFIX}"):
            _copy(library, draft / library.relative_to(work))
        for package, module in compiled.LIBRARIES.items():
            spec = importlib.util.find_spec(module)
            if spec is None or spec.origin is None:
                raise RuntimeError(f"{module} is not installed; it comes with mypy")
            file = Path(spec.origin)
            _copy(file, draft / (file.name if module == package else f"{package}/{file.name}"))
        record = {"modules": MODULES, "source": compiled.digest(work / "engine", MODULES)}
        (draft / compiled.RECORD).write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
        shutil.rmtree(target, ignore_errors=True)
        draft.rename(target)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)


def remove(into: Path) -> bool:
    """Remove the compiled modules of every Python. Return True if there were any."""
    place = into / "engine" / "_compiled"
    existed = place.is_dir()
    shutil.rmtree(place, ignore_errors=True)
    return existed


def main() -> int:
    """Run the command line and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m engine.compiling", description=__doc__)
    parser.add_argument("--remove", action="store_true", help="remove the compiled modules: back to the source")
    parser.add_argument("--strict", action="store_true", help="exit with code 1 if the rules cannot be compiled")
    args = parser.parse_args()
    if args.remove:
        print("The compiled rules are removed." if remove(ROOT) else "There were no compiled rules.", end=" ")
        print("The rules run as Python source.")
        return 0
    try:
        build(ROOT, report=lambda line: print(line, flush=True))
    except (RuntimeError, OSError) as problem:
        print(
            f"{problem}\n\nThe rules were not compiled. They run as Python source: the results are the same, only slower."
        )
        print("Compiling needs mypy (`make venv-dev` installs it) and a C compiler such as gcc.")
        return 1 if args.strict else 0
    print("Compiled the rules. Run `make fast` again after a change in engine/; until then the source runs.")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
