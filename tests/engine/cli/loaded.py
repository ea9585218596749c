"""`tute`, loaded once: `python -m tests.engine.cli.loaded` forks a process for each line of its input (tests/chaos/forked.py)."""

from __future__ import annotations

import gc
import os
import pkgutil
import sys
from importlib import import_module
from pathlib import Path

from engine import cli
from engine.sandbox import Sandbox
from engine.sandbox.process import spawn
from tests.chaos import forked


def main() -> None:
    """Load what the commands import when they run, and serve."""
    for package in ("engine.cli", "engine.runner", "engine.sandbox"):
        for module in pkgutil.iter_modules(import_module(package).__path__, f"{package}."):
            if not module.name.endswith("__main__"):
                import_module(module.name)
    Sandbox(state_dir=Path(os.environ["STATE_DIR"]))  # What holds here is known to all of them
    spawn._close()
    gc.collect()
    gc.freeze()
    forked.serve(lambda: sys.exit(cli.main()))


if __name__ == "__main__":
    main()
