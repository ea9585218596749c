"""What a tree on disk must hold, written down beside it when it is made: a copy that the disk has damaged is found before a bot runs by it.

Before each use the sizes and times of the files are looked at, some microseconds for each. Where one differs, and once after each start of the
kernel, all is read and compared by its hash: after a loss of power a size may be right and the contents not. So no file of a tree need
reach the disk before it is used. What is damaged is made anew, file by file, under the eyes of who reads the others.
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
_FOLDER = ""  # instead of a hash
_kept: dict[Path, tuple[tuple[int, int], Inventory]] = {}  # as read last, with the node and time of its file


@dataclass(frozen=True)
class Entry:
    """A file, or a folder, whose digest is empty. mode: type and permissions; times in ns."""

    digest: str
    mode: int
    size: int
    changed: int

    def looks_like(self, path: str) -> bool:
        """Whether what stands at `path` has this mode, size and time. Raises OSError."""
        facts = os.lstat(path)
        if self.digest == _FOLDER:
            return stat.S_ISDIR(facts.st_mode)
        return (facts.st_mode, facts.st_size, facts.st_mtime_ns) == (self.mode, self.size, self.changed)


@dataclass(frozen=True)
class Inventory:
    """made: another word each time that the tree was made ready or mended; kernel: under which all was read last."""

    made: str
    kernel: str
    entries: Mapping[str, Entry]


@cache
def kernel() -> str:
    """A name of the running kernel, among whose processes locks are seen; of this process where it has none."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip().replace("-", "")
    except OSError:
        return secrets.token_hex(16)


def place(root: Path) -> Path:
    """The file beside the tree."""
    return root.with_name(f".{root.name}.inventory")


def install(work: Path, root: Path) -> Path:
    """Let the finished tree `work` stand as `root`: whole at once, or, where a damaged one stands there, file by file. Raises OSError.

    `work` lies in the same folder as `root`, and is used up.
    """
    try:
        work.rename(root)
    except OSError:  # another process was first, or the tree is damaged
        if not root.is_dir():
            raise
        _mend(work, root)
    else:
        _write(root, _look(root), secrets.token_hex(8))
    return root


def whats_wrong(root: Path, *, whole: bool = False) -> str:
    """Where a tree is not what its inventory says, and how; empty if it is sound. whole: read all of it, whatever sizes and times say."""
    try:
        known = _read(root)
        if known is None:
            return f"{root} has no inventory" if root.is_dir() else f"{root} is missing"
        trusted = not whole and known.kernel == kernel()
        if trusted and all(entry.looks_like(f"{root}/{name}") for name, entry in known.entries.items()):
            return ""
        found = _look(root, known.entries)
    except OSError as error:
        return f"{error.filename}: {error.strerror}"
    wrong = [name for name, entry in known.entries.items() if _content(found[name]) != _content(entry)]
    if wrong:
        return f"{root / wrong[0]} is not what was written ({len(wrong)} of {len(known.entries)} files differ)"
    if found != known.entries or known.kernel != kernel():
        try:
            _write(root, found, known.made)
        except OSError:  # another user's, who will see to it
            log.debug("the inventory of %s cannot be written", root)
    return ""


def when_made(root: Path) -> str:
    """A word that changes when the tree is made ready anew or mended; empty for what has no inventory. Raises nothing."""
    try:
        known = _read(root)
    except OSError:
        return ""
    return known.made if known else ""


def size(root: Path) -> int:
    """The bytes of all its files, as it was written. Raises OSError."""
    known = _read(root)
    entries = known.entries.values() if known else _look(root).values()
    return sum(entry.size for entry in entries)


def discard(root: Path) -> None:
    """Forget what the tree holds: it is made ready anew before the next use."""
    place(root).unlink(missing_ok=True)


def _mend(work: Path, root: Path) -> None:
    wrong = whats_wrong(root, whole=True)
    if not wrong:
        return
    log.warning("a copy was damaged and is mended: %s", wrong)
    fresh = _look(work)
    for name, entry in fresh.items():  # all of them, for compiled Python holds only with the time of its source
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


def _content(entry: Entry) -> tuple[str, int]:
    return entry.digest, entry.mode


def _entry(path: Path) -> Entry:
    facts = path.lstat()
    if stat.S_ISDIR(facts.st_mode):
        return Entry(_FOLDER, facts.st_mode, 0, 0)
    if not stat.S_ISREG(facts.st_mode):
        return Entry("no file", facts.st_mode, 0, 0)
    with path.open("rb") as file:
        facts = os.fstat(file.fileno())  # before the contents: what changes meanwhile is seen the next time
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return Entry(digest, facts.st_mode, facts.st_size, facts.st_mtime_ns)


def _look(root: Path, names: Iterable[str] | None = None) -> dict[str, Entry]:
    """What stands below `root`: all of it, folders before their files, or these names. Raises OSError."""
    if names is not None:
        return {name: _entry(root / name) for name in names}
    found = {}
    for path in sorted(root.rglob("*")):
        found[path.relative_to(root).as_posix()] = _entry(path)
    return found


def _read(root: Path) -> Inventory | None:
    """The inventory, or None where there is none that can be read. Raises OSError."""
    file = place(root)
    try:
        facts = file.stat()
        stamp = (facts.st_ino, facts.st_mtime_ns)
        kept = _kept.get(root)
        if kept is not None and kept[0] == stamp:
            return kept[1]
        with open(file, encoding="ascii", opener=_quietly) as reading:
            told = json.load(reading)
        known = Inventory(
            told["made"], told["kernel"], {name: Entry(*entry) for name, entry in told["entries"].items()}
        )
    except FileNotFoundError:
        return None
    except (ValueError, TypeError, KeyError, AttributeError):  # the disk has damaged it, too
        return None
    if len(_kept) >= 64:
        _kept.clear()
    _kept[root] = stamp, known
    return known


def _quietly(path: str, flags: int) -> int:
    """Open a file and leave its time of access alone, which says when the tree was used last (`keeping.use`)."""
    try:
        return os.open(path, flags | getattr(os, "O_NOATIME", 0))
    except PermissionError:  # another user's, who alone removes it
        return os.open(path, flags)


def _write(root: Path, entries: Mapping[str, Entry], made: str) -> None:
    told = {
        "made": made,
        "kernel": kernel(),
        "entries": {name: [one.digest, one.mode, one.size, one.changed] for name, one in entries.items()},
    }
    file = place(root)
    draft = file.with_name(f"{file.name}.{secrets.token_hex(4)}")
    try:
        with draft.open("w", encoding="ascii") as writing:
            json.dump(told, writing, separators=(",", ":"))
            writing.flush()
            os.fsync(writing.fileno())
        draft.replace(file)
    finally:
        draft.unlink(missing_ok=True)
