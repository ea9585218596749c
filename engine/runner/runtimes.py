"""The runtimes that a league offers: the sandbox's copies, with the rules and the SDK in the one for Python."""

from __future__ import annotations

import importlib.util
import math
import shutil
import sys
import time
from pathlib import Path

from engine import compiled
from engine.packages import manifest
from engine.sandbox import Runtime, SandboxError
from engine.sandbox.files import inventory, runtimes

SERIES = "{}.{}".format(*sys.version_info)  # The release of Python that bots run in.
RULES = Path(__file__).resolve().parent.parent  # The folder engine/.
NOT_RULES = ("runner", "packages", "sandbox", "cli", "_compiled", "__pycache__")


# A runtime has thousands of files, so their sizes and times are checked at most this often, in seconds.
_LOOKED_S = 10.0
_ready: dict[tuple[str, Path], tuple[float, Runtime]] = {}


def get(name: str, state_dir: Path, series: str = "") -> Runtime:
    """Return a runtime, built under `state_dir` if it is missing or damaged. Raise SandboxError if this machine does not have it.

    series: the release of Python that the bot needs, or "".
    """
    if series not in ("", SERIES):
        raise SandboxError(f"a bot is compiled for Python {series}; this machine has {SERIES}")
    checked_at, runtime = _ready.get((name, state_dir), (-math.inf, None))
    if runtime is None or time.monotonic() - checked_at > _LOOKED_S:
        if runtime is None or inventory.find_damage(runtime.root):
            runtime = _make_ready(name, state_dir)
        _ready[name, state_dir] = time.monotonic(), runtime
    return runtime


def installed() -> list[str]:
    """Return the names of the runtimes that this machine has, in the order of `manifest.RUNTIMES`, and those of `BotPackage.runtime`."""
    missing = {
        "node": not shutil.which("node"),
        "python-numpy": bool(runtimes.why_no_numpy()),
        "java": bool(runtimes.why_no_java()),
        "mono": bool(runtimes.why_no_mono()),
        manifest.WASM: importlib.util.find_spec("wasmtime") is None,
    }
    names = [name for name in manifest.RUNTIMES if not missing.get(name)]
    return [*names, *(f"{name} {SERIES}" for name in names if name in manifest.PYTHONS)]


def look_again() -> None:
    """Check all runtimes again at their next use. Call this when something was damaged."""
    _ready.clear()


def _make_ready(name: str, state_dir: Path) -> Runtime:
    if name == "python":
        return runtimes.python(state_dir, modules())
    if name == "python-numpy":
        return runtimes.python_numpy(state_dir, modules())
    make = {
        "binary": runtimes.binary,
        "java": runtimes.java,
        "mono": runtimes.mono,
        "node": runtimes.node,
        manifest.WASM: runtimes.wasm,
    }[name]
    return make(state_dir)


def modules() -> dict[str, Path]:
    """Return the files that a Python bot can import besides the standard library: `engine` (rules only) and the SDK."""
    paths = {}
    for path in sorted(RULES.iterdir()):
        if path.name not in NOT_RULES and (path.is_dir() or path.suffix == ".py"):
            paths[f"engine/{path.name}"] = path
    if compiled.COMPILED:
        place = compiled.folder()
        paths[f"engine/{place.relative_to(RULES)}"] = place
    sdk = importlib.util.find_spec("bots.sdk")  # Located, not imported: to the runner, bots are data.
    for folder in (sdk.submodule_search_locations or []) if sdk else []:
        for path in sorted(Path(folder).glob("*.py")):
            if path.name != "__init__.py":
                paths[path.name] = path
    return paths
