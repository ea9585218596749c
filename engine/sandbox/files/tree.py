"""Runtime trees on disk: copied once, named by their content, read-only for everybody.

A tree is built in a temporary directory under a file lock and renamed into place, so a reader sees all of it or nothing and two workers
that start together build it once.
"""

from __future__ import annotations

import fcntl
import hashlib
import logging
import os
import secrets
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from engine.sandbox.errors import SandboxError
from engine.sandbox.files import inventory, keeping
from engine.sandbox.policy import DAY

log = logging.getLogger("engine.files")
_SHORT = 16  # Hexadecimal digits of a hash in the name of a tree.
_LAYOUT = "5"  # Version of the layout; a new one rebuilds every tree.
# A read updates a file's access time once a day, which another bot could observe, unless that time lies in the future. This is the last year
# that every file system can store.
_NEVER_READ_NS = 2_145_916_800_000_000_000
_CHANGED_NS = DAY * 1_000_000_000  # Copies of bots show the day of a sealed bot, not the time at which they were made.
_DEVICES = {"null": 3, "urandom": 9}  # Minor numbers of null(4) and urandom(4); their major number is 1.


@contextmanager
def locked(directory: Path) -> Iterator[None]:
    """Hold the directory's file lock, which excludes other processes, while the block runs."""
    directory.mkdir(parents=True, exist_ok=True)
    with (directory / ".lock").open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def files_below(root: Path) -> Iterator[Path]:
    """Yield every regular file below ``root``, links to files included, compiled Python excluded, in a fixed order."""
    for directory, names, files in os.walk(root):
        names[:] = sorted(name for name in names if name != "__pycache__")
        yield from (path for name in sorted(files) if (path := Path(directory, name)).is_file())  # A device is none.


def content_hash(root: Path) -> str:
    """Return the SHA-256 over every file's path, executable bit and content, in hexadecimal.

    Left out: dev/, where devices come and go, and archives of class data, which a JVM writes with other bytes each time.
    """
    total = hashlib.sha256()
    for path in files_below(root):
        if path.parent == root / "dev" or path.suffix == ".jsa":
            continue
        executable = "x" if path.stat().st_mode & 0o100 else "-"
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        total.update(f"{path.relative_to(root)}\0{executable}\0{digest}\n".encode())
    return total.hexdigest()


def signature(sources: dict[str, Path], *more: str) -> str:
    """Return a cheap fingerprint of the sources: paths, sizes and times of change. It only decides whether a tree must be built."""
    total = hashlib.sha256(repr((_LAYOUT, *more)).encode())
    for name, source in sorted(sources.items()):
        for path in [source] if source.is_file() else files_below(source):
            facts = path.stat()
            total.update(f"{name}\0{path}\0{facts.st_size}\0{facts.st_mtime_ns}\n".encode())
    return total.hexdigest()[:_SHORT]


def copy(source: Path, target: Path, leave_out: Callable[[str, list[str]], set[str]] | None = None) -> None:
    """Copy one file or directory, with links resolved and times preserved (compiled Python is valid only with them)."""
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        shutil.copytree(source, target, ignore=leave_out, dirs_exist_ok=True, ignore_dangling_symlinks=True)
    else:
        shutil.copy2(source, target)


def copy_plain(source: Path, target: Path) -> None:
    """Copy a directory of plain files into an empty one, readable by all, without compiled Python.

    This is done for every bot, so it takes a single pass. Reading the copy does not change its access times, which would be a clock. Raise
    SandboxError for anything but a file or directory: the worker may be root, and would copy whatever a link points to.
    """
    target.chmod(0o755)
    with os.scandir(source) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                if entry.name != "__pycache__":
                    (target / entry.name).mkdir()
                    copy_plain(Path(entry.path), target / entry.name)
            elif entry.is_file(follow_symlinks=False):
                _copy_file(entry.path, f"{target}/{entry.name}")
            else:
                raise SandboxError(f"{entry.path} is a link or a special file; unpack bots with plain files only")
    os.utime(target, ns=(_NEVER_READ_NS, _CHANGED_NS))


def _copy_file(source: str, target: str) -> None:
    reading = os.open(source, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        facts = os.fstat(reading)
        writing = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            copied = 0
            while copied < facts.st_size:
                copied += os.sendfile(writing, reading, copied, facts.st_size - copied)
            os.fchmod(writing, 0o555 if facts.st_mode & 0o100 else 0o444)
            os.utime(writing, ns=(_NEVER_READ_NS, _CHANGED_NS))
        finally:
            os.close(writing)
    finally:
        os.close(reading)


def devices(root: Path) -> list[str]:
    """Return the devices of a tree, by their paths in it, after making those that are missing.

    A bot that has the tree as its root finds them there. Only root may make devices, and in a container needs the capability MKNOD for it.
    """
    paths = [root / "dev" / name for name in _DEVICES]
    for path in paths:
        if not path.is_char_device():
            draft = path.with_name(f".{path.name}-{secrets.token_hex(4)}")
            try:
                os.mknod(draft, stat.S_IFCHR | 0o666, os.makedev(1, _DEVICES[path.name]))
                draft.chmod(0o666)
                draft.replace(path)
            except OSError:
                draft.unlink(missing_ok=True)
    return [f"/dev/{path.name}" for path in paths if path.is_char_device()]


def open_to_all(root: Path) -> None:
    """Set directories to 0755 and files to 0444 or 0555: all users can read the files, and nobody changes one by mistake."""
    root.chmod(0o755)
    for directory, names, files in os.walk(root):
        for name in names:
            Path(directory, name).chmod(0o755)
        for name in files:
            path = Path(directory, name)
            path.chmod(0o555 if path.stat().st_mode & 0o100 else 0o444)


def still(root: Path) -> None:
    """Freeze access times below ``root``: reading no longer changes them. Raise OSError if the files are not ours."""
    for path in [root, *root.rglob("*")]:
        times = path.lstat()
        if not path.is_symlink() and times.st_atime_ns != _NEVER_READ_NS:
            os.utime(path, ns=(_NEVER_READ_NS, times.st_mtime_ns))


def build_once(directory: Path, name: str, key: str, build: Callable[[Path], None]) -> Path:
    """Return the tree for ``key`` (see ``signature``) in ``directory``; build it by ``build(empty directory)`` if necessary.

    The result is named ``<name>-<content hash>``. Raise SandboxError if the directory cannot be written.
    """
    index = directory / f".{name}-{key}"
    try:
        with locked(directory):
            if index.is_file():
                finished = directory / index.read_text().strip()
                if not (wrong := inventory.find_damage(finished)):
                    keeping.use(finished)
                    return finished
                log.warning("rebuilding the runtime %s: %s", finished.name, wrong)
            directory.chmod(0o755)
            work = Path(tempfile.mkdtemp(prefix=f".{name}-", dir=directory))
            try:
                build(work)
                open_to_all(work)
                finished = directory / f"{name}-{content_hash(work)[:_SHORT]}"
                if inventory.find_damage(finished):  # The folders of live bots come and go in a sound tree.
                    still(work)
                    inventory.install(work, finished)
            finally:
                shutil.rmtree(work, ignore_errors=True)
            draft = index.with_name(index.name + ".new")
            draft.write_text(finished.name + "\n")
            draft.rename(index)
            keeping.use(finished)
            return finished
    except OSError as error:
        raise SandboxError(
            f"cannot build the {name} runtime in {directory}: {str(error)[:300]}. Use a state directory that is writable "
            "and has 200 MB free."
        ) from error
