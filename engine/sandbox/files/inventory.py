"""Inventories: the expected contents of a tree, stored beside it, so that a copy damaged by the disk is detected before a bot runs from it.

Before each use the sizes and times of the files are compared, which takes some microseconds per file. If one differs, and once after each start of
the kernel, all files are read and compared by their hash: after a power failure a file may have the right size and wrong contents. So the files of a
tree need not reach the disk before their first use. A damaged tree is repaired file by file, while other processes read the rest.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import secrets
import shutil
import stat
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

log = logging.getLogger("engine.files")
_FOLDER = ""  # The digest of a folder.
# Last inventory read from each tree, with the inode and time of its file.
_cache: dict[Path, tuple[tuple[int, int], Inventory]] = {}


@dataclass(frozen=True)
class FileRecord:
    """A file, or a folder, whose digest is empty. mode: type and permissions; times in ns."""

    digest: str
    mode: int
    size: int
    changed: int

    def looks_like(self, path: str) -> bool:
        """Return True if the file at `path` has this mode, size and time. Raise OSError."""
        facts = os.lstat(path)
        if self.digest == _FOLDER:
            return stat.S_ISDIR(facts.st_mode)
        if stat.S_ISCHR(facts.st_mode):
            return self.size == 0
        return (facts.st_mode, facts.st_size, facts.st_mtime_ns) == (self.mode, self.size, self.changed)


@dataclass(frozen=True)
class Inventory:
    """The inventory of a tree. token: changes with each install or repair; kernel: id of the kernel under which all files were last read."""

    token: str
    kernel: str
    entries: Mapping[str, FileRecord]


@cache
def kernel() -> str:
    """Return an id of the running kernel, whose processes see one another's locks; an id of this process if the kernel has none."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip().replace("-", "")
    except OSError:
        return secrets.token_hex(16)


def place(root: Path) -> Path:
    """Return the inventory file beside the tree."""
    return root.with_name(f".{root.name}.inventory")


def install(work: Path, root: Path) -> Path:
    """Install the finished tree `work` as `root`: at once, or file by file over a damaged one. Raise OSError.

    `work` must be in the same folder as `root`, and is consumed.
    """
    try:
        work.rename(root)
    except OSError:  # Another process was first, or the tree is damaged.
        if not root.is_dir():
            raise
        _repair(work, root)
    else:
        _write(root, _look(root), secrets.token_hex(8))
    return root


def find_damage(root: Path, *, whole: bool = False) -> str:
    """Return how a tree differs from its inventory, an empty text if it is sound. whole: read all files, whatever sizes and times are."""
    try:
        inventory = _read(root)
        if inventory is None:
            return f"{root} has no inventory" if root.is_dir() else f"{root} is missing"
        trusted = not whole and inventory.kernel == kernel()
        if trusted and all(entry.looks_like(f"{root}/{name}") for name, entry in inventory.entries.items()):
            return ""
        entries = _look(root, inventory.entries)
    except OSError as error:
        return f"{error.filename}: {error.strerror}"
    wrong = [name for name, entry in inventory.entries.items() if _content(entries[name]) != _content(entry)]
    if wrong:
        return f"{root / wrong[0]} is not what was written ({len(wrong)} of {len(inventory.entries)} files differ)"
    if entries != inventory.entries or inventory.kernel != kernel():
        try:
            _write(root, entries, inventory.token)
        except OSError:  # The inventory belongs to another user, whose process will write it.
            log.debug("the inventory of %s cannot be written", root)
    return ""


def install_token(root: Path) -> str:
    """Return a token that changes when the tree is installed or repaired; an empty text without an inventory. Raise nothing."""
    try:
        inventory = _read(root)
    except OSError:
        return ""
    return inventory.token if inventory else ""


def size(root: Path) -> int:
    """Return the total size of the files in bytes, as recorded. Raise OSError."""
    inventory = _read(root)
    entries = inventory.entries.values() if inventory else _look(root).values()
    return sum(entry.size for entry in entries)


def discard(root: Path) -> None:
    """Delete the inventory of a tree, so that the tree is rebuilt before its next use."""
    place(root).unlink(missing_ok=True)


def _repair(work: Path, root: Path) -> None:
    wrong = find_damage(root, whole=True)
    if not wrong:
        return
    log.warning("a copy was damaged and is repaired: %s", wrong)
    fresh = _look(work)
    for (
        name,
        entry,
    ) in fresh.items():  # Replace all files, because compiled Python is valid only with the time of its source.
        target = root / name
        folder = target.is_dir() and not target.is_symlink()
        if entry.digest == _FOLDER:
            if not folder:
                target.unlink(missing_ok=True)
                target.mkdir()
            target.chmod(stat.S_IMODE(entry.mode))
        else:
            if folder:
                shutil.rmtree(target)
            (work / name).replace(target)
    _write(root, _look(root, fresh), secrets.token_hex(8))


def _content(entry: FileRecord) -> tuple[str, int]:
    return entry.digest, entry.mode


def _entry(path: Path) -> FileRecord:
    facts = path.lstat()
    if stat.S_ISDIR(facts.st_mode):
        return FileRecord(_FOLDER, facts.st_mode, 0, 0)
    if stat.S_ISCHR(facts.st_mode):  # A device may stand in the place of an empty file; see `tree.devices`.
        return FileRecord(hashlib.sha256().hexdigest(), stat.S_IFREG | 0o444, 0, 0)
    if not stat.S_ISREG(facts.st_mode):
        return FileRecord("no file", facts.st_mode, 0, 0)
    with path.open("rb") as file:
        # Taken before the contents are read, so that a change meanwhile is noticed the next time.
        facts = os.fstat(file.fileno())
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return FileRecord(digest, facts.st_mode, facts.st_size, facts.st_mtime_ns)


def _look(root: Path, names: Iterable[str] | None = None) -> dict[str, FileRecord]:
    """Describe the entries below `root`: all, folders before their files, or only those named. Raise OSError."""
    if names is not None:
        return {name: _entry(root / name) for name in names}
    entries = {}
    for path in sorted(root.rglob("*")):
        entries[path.relative_to(root).as_posix()] = _entry(path)
    return entries


def _read(root: Path) -> Inventory | None:
    """Return the inventory, or None if there is no readable one. Raise OSError."""
    file = place(root)
    try:
        facts = file.stat()
        stamp = (facts.st_ino, facts.st_mtime_ns)
        cached = _cache.get(root)
        if cached is not None and cached[0] == stamp:
            return cached[1]
        with open(file, encoding="ascii", opener=_quietly) as reading:
            document = json.load(reading)
        inventory = Inventory(
            document["made"],
            document["kernel"],
            {name: FileRecord(*entry) for name, entry in document["entries"].items()},
        )
    except FileNotFoundError:
        return None
    except (ValueError, TypeError, KeyError, AttributeError):  # The inventory is damaged, too.
        return None
    if len(_cache) >= 64:
        _cache.clear()
    _cache[root] = stamp, inventory
    return inventory


def _quietly(path: str, flags: int) -> int:
    """Open a file without changing its access time, which shows when the tree was last used (`keeping.use`)."""
    try:
        return os.open(path, flags | getattr(os, "O_NOATIME", 0))
    except PermissionError:  # The file belongs to another user, and only that user removes it.
        return os.open(path, flags)


def _write(root: Path, entries: Mapping[str, FileRecord], token: str) -> None:
    document = {
        "made": token,
        "kernel": kernel(),
        "entries": {name: [entry.digest, entry.mode, entry.size, entry.changed] for name, entry in entries.items()},
    }
    file = place(root)
    draft = file.with_name(f"{file.name}.{secrets.token_hex(4)}")
    try:
        with draft.open("w", encoding="ascii") as writing:
            json.dump(document, writing, separators=(",", ":"))
            writing.flush()
            os.fsync(writing.fileno())
        draft.replace(file)
    finally:
        draft.unlink(missing_ok=True)
