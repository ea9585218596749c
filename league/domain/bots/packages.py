"""Uploads on their way into the database, and out again to a worker."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from engine.packages import archive
from engine.runner import BotSpec, PackageRefused, bot_spec
from engine.sandbox.files import inventory, keeping
from league.models import BotVersion, Package

TRIES = 3
__all__ = ["PackageRefused", "inspect", "spec", "store", "unpacked"]


def inspect(data: bytes, filename: str, games: Iterable[str] | None = None) -> archive.Package:
    """Look at an upload in memory; nothing is written. Raises PackageRefused with a sentence for its author."""
    return archive.read(data, filename, games)


def store(content: archive.Package) -> Package:
    """The row of these contents; made where it does not exist. It is locked: of two uploads of equal files one sees the other."""
    packed = content.zip()
    defaults = {"data": packed, "size": len(packed), "files": len(content.files)}
    return Package.objects.select_for_update().get_or_create(sha256=content.sha256, defaults=defaults)[0]


def spec(version: BotVersion, folder: Path) -> BotSpec:
    """The bot of `version`, unpacked under `folder` once per contents, and kept there until `keeping.release`. Raises OSError.

    The hash is computed anew: a damaged row is noticed here.
    """
    content = archive.read(bytes(version.package.data), "package.zip")
    if content.sha256 != version.package_id:
        raise RuntimeError(
            f"the package of {version} has the hash {content.sha256}, stored as {version.package_id}: the row is damaged"
        )
    return unpacked(content, folder)


def unpacked(content: archive.Package, folder: Path) -> BotSpec:
    """The bot of these contents, unpacked under `folder` as `spec` does it. Raises OSError."""
    for _ in range(TRIES):
        found = bot_spec(content, folder)
        try:
            keeping.use(found.path)
        except FileNotFoundError:  # another worker has just made room
            continue
        if not inventory.find_damage(found.path):
            return found
    raise OSError(f"{content.manifest.name} cannot be unpacked in {folder}: what is written there does not stay")
