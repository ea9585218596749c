"""Packages: the way of an upload into the database, and from there to a worker."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from engine.packages import archive
from engine.packages.manifest import SUFFIXES
from engine.runner import BotSpec, PackageRefused, bot_spec
from engine.sandbox.files import inventory, keeping
from league.models import BotVersion, Package

TRIES = 3
FILES_OF_TEXT = 2  # The manifest and one source file.
__all__ = ["PackageRefused", "files", "inspect", "source", "spec", "store", "unpacked"]


def inspect(data: bytes, filename: str, games: Iterable[str] | None = None) -> archive.BotPackage:
    """Read an upload in memory; nothing is written. Raise PackageRefused with a sentence for its author."""
    return archive.read(data, filename, games)


def store(content: archive.BotPackage) -> Package:
    """Return the row for these contents, locked; create it if missing.

    If two equal uploads come at once, the lock makes the second see the first.
    """
    packed = content.zip()
    defaults = {"data": packed, "size": len(packed), "files": len(content.files)}
    return Package.objects.select_for_update().get_or_create(sha256=content.sha256, defaults=defaults)[0]


def uploaded(version: BotVersion) -> bytes:
    """Return the zip that a version's author uploaded, in normal form, ready to be submitted again. Reads the package."""
    return bytes((version.source or version.package).data)


def files(version: BotVersion) -> Mapping[str, bytes]:
    """Return the files that the author of a version uploaded by their names. Reads the package."""
    return archive.read_stored(uploaded(version)).files


def is_one_text(version: BotVersion) -> bool:
    """Return True if a version is one source file beside its manifest. Reads no package."""
    return version.package.files == FILES_OF_TEXT and version.runtime in SUFFIXES.values()


def source(version: BotVersion) -> str | None:
    """Return the text of a version that is one source file, else None. Reads the package."""
    if not is_one_text(version):
        return None
    try:
        return files(version)[version.entry].decode()
    except UnicodeDecodeError:
        return None


def spec(version: BotVersion, folder: Path) -> BotSpec:
    """Unpack the bot of `version` under `folder`, once for equal contents; it stays there until `keeping.release`. Raise OSError.

    The hash is computed again, which detects a damaged row.
    """
    return unpacked(stored(version), folder)


def stored(version: BotVersion) -> archive.BotPackage:
    """Read the package of a version. Raise RuntimeError if its row is damaged."""
    return _checked(version.package, version)


def submitted(version: BotVersion) -> archive.BotPackage:
    """Read what the author of a version uploaded. Raise RuntimeError if its row is damaged."""
    return _checked(version.source or version.package, version)


def _checked(row: Package, version: BotVersion) -> archive.BotPackage:
    content = archive.read_stored(bytes(row.data))
    if content.sha256 != row.sha256:
        raise RuntimeError(
            f"the package of {version} has the hash {content.sha256}, stored as {row.sha256}: the row is damaged"
        )
    return content


def unpacked(content: archive.BotPackage, folder: Path) -> BotSpec:
    """Unpack these contents under `folder` like `spec`. Raise OSError."""
    return bot_spec(content, unpack(content, folder).parent)


def unpack(content: archive.BotPackage, folder: Path) -> Path:
    """Unpack these contents under `folder` and return their own folder, which stays there until `keeping.release`. Raise OSError."""
    for _ in range(TRIES):
        path = content.unpack(folder / content.sha256)
        try:
            keeping.use(path)
        except FileNotFoundError:  # Another worker has just removed it to free disk space.
            continue
        if not inventory.find_damage(path):
            return path
    raise OSError(f"{content.manifest.name} cannot be unpacked in {folder}: what is written there does not stay")
