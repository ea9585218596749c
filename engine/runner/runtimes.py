"""The runtimes that a league offers: the sandbox's copies, with the rules and the SDK inside the one for Python."""

from __future__ import annotations

import importlib.util
import math
import time
from pathlib import Path

from engine import compiled
from engine.sandbox import Runtime
from engine.sandbox.files import inventory, runtimes

RULES = Path(__file__).resolve().parent.parent  # engine/
NOT_RULES = ("runner", "packages", "sandbox", "cli", "_compiled", "__pycache__")


_LOOKED_S = 10.0  # a runtime has thousands of files: their sizes and times are not looked at again so soon
_ready: dict[tuple[str, Path], tuple[float, Runtime]] = {}


def get(name: str, state_dir: Path) -> Runtime:
    """The runtime of that name, built under `state_dir` the first time, and where it is damaged. SandboxError where this machine has none."""
    looked, known = _ready.get((name, state_dir), (-math.inf, None))
    if known is None or time.monotonic() - looked > _LOOKED_S:
        if known is None or inventory.whats_wrong(known.root):
            known = _make_ready(name, state_dir)
        _ready[name, state_dir] = time.monotonic(), known
    return known


def look_again() -> None:
    """Forget what was looked at: something was damaged."""
    _ready.clear()


def _make_ready(name: str, state_dir: Path) -> Runtime:
    if name == "python":
        return runtimes.python(state_dir, modules())
    make = {"binary": runtimes.binary, "node": runtimes.node}[name]
    return make(state_dir)


def modules() -> dict[str, Path]:
    """What a Python bot can import besides the standard library: `engine` (rules only) and the files of the SDK."""
    found = {}
    for path in sorted(RULES.iterdir()):
        if path.name not in NOT_RULES and (path.is_dir() or path.suffix == ".py"):
            found[f"engine/{path.name}"] = path
    if compiled.COMPILED:
        place = compiled.folder()
        found[f"engine/{place.relative_to(RULES)}"] = place
    sdk = importlib.util.find_spec("bots.sdk")  # found, not imported: bots are data to the runner
    for folder in (sdk.submodule_search_locations or []) if sdk else []:
        for path in sorted(Path(folder).glob("*.py")):
            if path.name != "__init__.py":
                found[path.name] = path
    return found
