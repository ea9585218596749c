"""Import the compiled rules instead of their source, if `make fast` built them from this very source for this very Python.

`engine.compiling` puts them into `_compiled/<Python>/` beside this file. They are used completely or not at all: if a file is missing or
has changed since, the source runs and a warning says why. Importing this module decides it, so it is imported before every other
module of the engine.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import sys
import warnings
from collections.abc import Iterable, Mapping, Sequence
from importlib.machinery import EXTENSION_SUFFIXES, ModuleSpec, PathFinder
from importlib.util import spec_from_file_location
from pathlib import Path
from types import ModuleType

ENGINE = Path(__file__).resolve().parent
SUFFIX = EXTENSION_SUFFIXES[0]
PYTHON = SUFFIX.strip(".").removesuffix(".so")  # For example cpython-311-x86_64-linux-gnu.
RECORD = "build.json"
GROUP = "engine._rules"
LIBRARIES = {"librt": "librt.vecs", "mypy_extensions": "mypy_extensions"}  # Package -> its module that is needed.
SHARED = f"{GROUP}__mypyc"  # mypyc's name for the library with all the code; the other modules only open it.


class UnusableError(Exception):
    """The compiled rules cannot be used here. The message says why."""


class _CompiledFinder:
    """Finds the compiled modules before their source."""

    def __init__(self, files: Mapping[str, Path]) -> None:
        self.files = files

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        file = self.files.get(name)
        return spec_from_file_location(name, file) if file else None


class _LibraryFinder:
    """Finds mypyc's support libraries in the copy beside the compiled modules, so that mypyc need not be installed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        return PathFinder.find_spec(name, [str(self.folder)]) if name in LIBRARIES else None


def folder(engine: Path = ENGINE) -> Path:
    """Return the folder of the modules for this Python."""
    return engine / "_compiled" / PYTHON


def digest(engine: Path, modules: Iterable[str]) -> str:
    """Return the SHA-256 of modules' source in hexadecimal. Modules are paths below `engine` without suffix. Raise OSError if one is missing."""
    total = hashlib.sha256()
    for module in modules:
        source = (engine / f"{module}.py").read_bytes()
        total.update(b"%s %d\n" % (module.encode(), len(source)))
        total.update(source)
    return total.hexdigest()


def _files(place: Path) -> dict[str, Path]:
    """Map module names to their files. Raise UnusableError."""
    try:
        record = json.loads((place / RECORD).read_text(encoding="utf-8"))
    except FileNotFoundError:
        others = ", ".join(sorted(path.name for path in place.parent.iterdir() if not path.name.startswith(".")))
        raise UnusableError(f"they were compiled for {others or 'no Python'}, and this is {PYTHON}") from None
    except ValueError:
        raise UnusableError(f"their {RECORD} is damaged") from None
    try:
        if digest(ENGINE, record["modules"]) != record["source"]:
            raise UnusableError("their source has changed since")
    except OSError as error:
        raise UnusableError(f"their source has changed since ({error})") from None
    names = [*("engine." + module.replace("/", ".") for module in record["modules"]), SHARED]
    files = {name: place / (name.replace(".", "/") + SUFFIX) for name in names}
    missing = [name for name, file in files.items() if not file.is_file()]
    if missing:
        raise UnusableError(f"{missing[0]} is missing")
    return files


def _use(place: Path) -> None:
    """Let imports find the compiled modules. If that fails, change nothing and raise UnusableError."""
    finder, libraries = _CompiledFinder(_files(place)), _LibraryFinder(place)
    sys.meta_path.insert(0, finder)
    sys.meta_path.append(libraries)
    try:
        importlib.import_module(SHARED)
    except ImportError as error:
        sys.meta_path.remove(finder)
        sys.meta_path.remove(libraries)
        raise UnusableError(f"they cannot be loaded: {error}") from None


def _decide() -> str | None:
    """Use the compiled rules if possible. Return None if they run, an empty text if none were built, else the reason why they are not used."""
    beside = [path.name for path in ENGINE.iterdir() if path.name.endswith(".so")]
    if beside:
        raise ImportError(
            f"engine/{beside[0]} was compiled by an older version and would run in place of its source. Remove such files: "
            f"find {ENGINE} -name '*.so' -not -path '*/_compiled/*' -delete"
        )
    if not (ENGINE / "_compiled").is_dir():
        return ""
    try:
        _use(folder())
    except UnusableError as reason:
        warnings.warn(
            f"the compiled rules are not used: {reason}. The Python source runs, slower. Run `make fast` again, or "
            "`python -m engine.compiling --remove`.",
            RuntimeWarning,
            stacklevel=2,
        )
        return str(reason)
    return None


_reason = _decide()
COMPILED = _reason is None  # True if the rules run as machine code.
WHY_NOT = _reason or ""  # The reason why existing compiled rules are not used.


def described() -> str:
    """Describe which rules run, for people."""
    if COMPILED:
        return "compiled"
    return f"Python source; the compiled rules are not used: {WHY_NOT}" if WHY_NOT else "Python source"
