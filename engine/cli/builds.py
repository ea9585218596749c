"""Building packages of source on this machine, as a league does; the same sources are built once."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from engine.cli.problem import FAILED, INFRASTRUCTURE, Problem

if TYPE_CHECKING:
    from engine.packages.archive import BotPackage


def ready(package: BotPackage, state_dir: Path, *, again: bool = False) -> BotPackage:
    """Return what plays: the package itself, or what its source becomes. again: build it even if it was built before. Raise Problem."""
    from engine.packages import building
    from engine.packages.archive import read_stored
    from engine.sandbox import SandboxError

    if not package.manifest.build:
        return package
    try:
        stored = state_dir / "built" / f"{building.digest(package)}.zip"
        if stored.is_file() and not again:
            return read_stored(stored.read_bytes())
        folder = package.unpack(state_dir / "packages" / package.sha256)
        print(f"building {package.manifest.name} ({package.manifest.build})", file=sys.stderr)
        built = building.build(package, folder, state_dir)
    except (SandboxError, OSError) as error:
        raise Problem(f"{package.manifest.name} cannot be built here: {error}", INFRASTRUCTURE) from None
    if built is None or built.package is None:
        raise Problem(
            f"{package.manifest.name} cannot be built: {built.why}\n\n{built.log}" if built else "stopped", FAILED
        )
    sys.stderr.write(built.log)  # Warnings
    stored.parent.mkdir(parents=True, exist_ok=True)
    work = stored.with_suffix(".part")
    work.write_bytes(built.package.zip())
    work.rename(stored)
    return built.package
