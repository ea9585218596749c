"""Bot packages: files from strangers, checked in memory and refused before a byte is written.

A package is one source file, or a zip or folder with a `bot.toml`. `read` turns it into a `Package`: checked names, checked sizes, and one
identity, the SHA-256 of its contents, which does not depend on how or when it was compressed.
"""

from __future__ import annotations

import base64
import hashlib
import io
import json
import os
import re
import shutil
import stat
import tempfile
import unicodedata
import zipfile
import zlib
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path, PurePosixPath

from engine.packages import manifest
from engine.packages.manifest import Manifest, PackageRefused
from engine.sandbox.files import elf, inventory

MAX_FILES = 500
MAX_BYTES = 10 * 1024 * 1024  # Most bytes of a package, packed and unpacked.
MAX_MODULE = 1024 * 1024  # Most bytes of a module of WebAssembly: bounds the time to compile it.
WASM_MAGIC = b"\0asm\1\0\0\0"
MAX_RATIO = 100  # Unpacked to packed size, checked above RATIO_FROM bytes.
RATIO_FROM = 64 * 1024
MAX_NAME = 120  # Bytes of UTF-8 in a path.
MAX_DEPTH = 8  # Components of a path.
# Bytes of a zip's directory, litter included: bounds the work before its entries are counted.
MAX_DIRECTORY = 4 * MAX_FILES * 1024

# Left in folders by editors and systems; dropped, never counted and never run. Also what begins with "._": macOS keeps attributes there.
_LITTER = ("__pycache__", "__MACOSX", ".DS_Store", ".git", ".venv", "desktop.ini", "Thumbs.db")
# The end of the name of a module compiled for one release of Python, as that release looks for it.
_COMPILED = re.compile(r"\.cpython-3([0-9]{1,2})-[^./]+\.so$")
_UTF8 = 0x800  # Flag bit of a zip entry: its name is UTF-8.
_ENCRYPTED = 0x1 | 0x20 | 0x40 | 0x2000  # Flag bits of a zip entry: encrypted, patched, strongly encrypted, masked.


@dataclass(frozen=True)
class BotPackage:
    """Checked contents: a sorted mapping of paths to bytes, always with `bot.toml`."""

    manifest: Manifest
    files: Mapping[str, bytes]

    @cached_property
    def sha256(self) -> str:
        """Identity of the contents: a hash over every path and file, each with its length."""
        digest = hashlib.sha256(b"tute-bot/1\n")
        for name, data in self.files.items():
            path = name.encode()
            digest.update(b"%d %d\n" % (len(path), len(data)) + path + data)
        return digest.hexdigest()

    @property
    def size(self) -> int:
        """Unpacked size in bytes."""
        return sum(map(len, self.files.values()))

    def mode(self, name: str) -> int:
        """Return the permission bits of a file: only the entry of a binary is executable."""
        return 0o755 if self.is_program and name == self.manifest.entry else 0o644

    @property
    def series(self) -> str:
        """The release of Python for which its modules are compiled, such as "3.11"; "" if it has none, or has them for several."""
        series = {f"3.{end[1]}" for end in map(_COMPILED.search, self.files) if end}
        return series.pop() if len(series) == 1 and self.manifest.runtime in manifest.PYTHONS else ""

    @property
    def runtime(self) -> str:
        """The runtime and, for compiled modules, their release of Python, such as "python 3.11": a machine needs both to play it."""
        return f"{self.manifest.runtime} {self.series}".rstrip()

    @property
    def is_program(self) -> bool:
        """True if the entry is an executable; False for a script, and for source that has yet to be built."""
        return self.manifest.runtime == "binary" and not self.manifest.build

    def with_result(self, result: bytes) -> BotPackage:
        """Return the package that plays after this one was built: its files, the result, and a bot.toml that starts it. Raise PackageRefused.

        result: a program, a jar, or a JSON object of modules in Base64 by name.
        """
        if self.manifest.runtime in ("node", *manifest.PYTHONS):
            results, entry = _modules(result, self.files), re.sub("ts$", "js", self.manifest.entry)
            if not results or entry not in {*self.files, *results}:
                raise PackageRefused(f"the build left no {entry}")
        else:
            results, entry = {manifest.PROGRAM: result}, manifest.PROGRAM
        what = replace(self.manifest, entry=entry, build="")
        if entry == manifest.PROGRAM:
            _check_program(result, what)
        files = {**self.files, **results, manifest.FILE: what.toml().encode()}
        built = BotPackage(what, dict(sorted(files.items())))
        if built.size > MAX_BYTES or len(files) > MAX_FILES:
            raise PackageRefused(
                f"sources and program together have more than {_mb(MAX_BYTES)} or {MAX_FILES} files; make the package smaller"
            )
        return built

    def zip(self) -> bytes:
        """Pack the contents into a zip that depends on them alone: sorted, without dates and owners. `read` accepts it unchanged."""
        packed = self._zip(zipfile.ZIP_DEFLATED)
        if self.size > RATIO_FROM and self.size > MAX_RATIO * len(packed):  # `read` would take it for a zip bomb.
            return self._zip(zipfile.ZIP_STORED)
        return packed

    def _zip(self, method: int) -> bytes:
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as archive:
            for name, data in self.files.items():
                info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
                info.create_system = 3  # Unix, whatever the machine is.
                info.external_attr = (stat.S_IFREG | self.mode(name)) << 16
                info.compress_type = method
                archive.writestr(info, data, compresslevel=9)
        return buffer.getvalue()

    def unpack(self, dest: Path) -> Path:
        """Write the files into the directory `dest`, completely or not at all. If they exist already, repair only damaged ones.

        Directories get mode 0755 and files `mode`, so that the uid of a sandbox can read them. Raise OSError if writing fails.
        """
        if not inventory.find_damage(dest):
            return dest
        dest.parent.mkdir(parents=True, exist_ok=True)
        work = Path(tempfile.mkdtemp(prefix=".unpack-", dir=dest.parent))
        try:
            work.chmod(0o755)
            for name, data in self.files.items():
                path = work / name
                for parent in reversed(path.relative_to(work).parents[:-1]):
                    if not (work / parent).exists():
                        (work / parent).mkdir()
                        (work / parent).chmod(0o755)  # The umask restricts the mode that mkdir sets.
                path.write_bytes(data)
                path.chmod(self.mode(name))
            return inventory.install(work, dest)
        finally:
            shutil.rmtree(work, ignore_errors=True)


def read(data: bytes, filename: str, games: Iterable[str] | None = None) -> BotPackage:
    """Read an uploaded package: the bytes of a zip or of one source file, and its file name.

    games: the games of a package that is one source file (None: every game); a zip declares them in its bot.toml.
    Raise PackageRefused. Uses at most MAX_BYTES of memory beside the upload.
    """
    if len(data) > MAX_BYTES:
        raise PackageRefused(
            f"the upload is larger than {_mb(MAX_BYTES)}, the most that a package may have; leave data files out or shrink them"
        )
    if not data:
        raise PackageRefused("the upload is empty; send a source file or a zip")
    if data[:4] in (b"PK\x03\x04", b"PK\x05\x06"):
        return _package(_unzipped(data, _tidied), games)
    if filename.lower().endswith(".zip"):
        raise PackageRefused(
            "the file is called .zip but is not a zip archive; pack it again, e.g. with: zip -r bot.zip bot.toml bot.py"
        )
    name = filename.replace("\\", "/").rsplit("/", 1)[-1]  # Browsers may send a path; only its last part is the name.
    return _single(data, name, games)


def read_stored(data: bytes) -> BotPackage:
    """Read a package's own zip, which `Package.zip` has written: its paths are taken as they are. Raise PackageRefused."""
    return _package(_unzipped(data, lambda entries: [(info.orig_filename, info) for info in entries]), None)


def read_path(path: Path, games: Iterable[str] | None = None) -> BotPackage:
    """Read a package from disk: a source file, a zip, or a folder with a bot.toml. Raise PackageRefused, OSError."""
    if path.is_dir():
        return _package(_folder(path), games)
    with path.open("rb") as file:
        data = file.read(MAX_BYTES + 1)
    return read(data, path.name, games)


def _single(data: bytes, name: str, games: Iterable[str] | None) -> BotPackage:
    if data[:4] == elf.MAGIC:
        raise PackageRefused(
            f"an executable alone does not say what it plays; send a zip with it and a {manifest.FILE} (docs/bot-package.md)"
        )
    check_name(name)
    if name == manifest.FILE:
        raise PackageRefused(f"a {manifest.FILE} alone is not a bot; send a zip with it and the files it names")
    what = manifest.for_file(name, games or (), _known_games())
    return BotPackage(what, dict(sorted({manifest.FILE: what.toml().encode(), name: data}.items())))


def _package(files: dict[str, bytes], games: Iterable[str] | None) -> BotPackage:
    files = _without_top_folder(files)
    if manifest.FILE not in files:
        raise PackageRefused(
            f"no {manifest.FILE} at the top of the package; add one with name, runtime, entry and games"
        )
    what = manifest.parse(files[manifest.FILE], files.keys(), _known_games())
    if games:
        raise PackageRefused(
            f"a package with a {manifest.FILE} declares its games there; change its line games = [...]"
        )
    package = BotPackage(what, dict(sorted(files.items())))
    if not what.build:
        _check_program(files[what.entry], what)
    return package


def _modules(result: bytes, files: Collection[str]) -> dict[str, bytes]:
    try:
        texts = json.loads(result)
        modules = {str(name): base64.b64decode(text, validate=True) for name, text in texts.items()}
    except (ValueError, TypeError, AttributeError, RecursionError):
        raise PackageRefused("the build left no modules") from None
    for name in modules:
        check_name(name)
        if name in files:
            raise PackageRefused(f"the build would replace {name!a}; give the source another name")
    return modules


def _check_program(data: bytes, what: Manifest) -> None:
    """Raise PackageRefused unless the entry is a program of its runtime, as far as its first bytes say."""
    if what.runtime == "binary":
        _check_executable(data, what.entry)
    if what.runtime == "java" and not data.startswith(b"PK\x03\x04"):
        raise PackageRefused(f"{what.entry!a} is no jar; pack one, e.g. with: jar -c -f bot.jar -e Bot -C classes .")
    if what.runtime == "mono" and not data.startswith(b"MZ"):
        raise PackageRefused(f"{what.entry!a} is no program of .NET; compile one, e.g. with: mcs -out:bot.exe bot.cs")
    if what.runtime != manifest.WASM:
        return
    if not data.startswith(
        WASM_MAGIC
    ):  # Without this check a bot could pass machine code for what a worker has compiled.
        raise PackageRefused(
            f"{what.entry!a} is no module of WebAssembly; build a program for WASI, e.g. clang --target=wasm32-wasi -O2 bot.c -o bot.wasm"
        )
    if len(data) > MAX_MODULE:
        raise PackageRefused(
            f"{what.entry!a} is larger than {_mb(MAX_MODULE)}, the most that a module may have; strip it"
        )


def _check_executable(data: bytes, name: str) -> None:
    """Raise PackageRefused unless the bytes are a 64-bit executable for a supported processor that needs no dynamic loader."""
    try:
        program = elf.read(io.BytesIO(data))
    except elf.NotAProgram as error:
        why = str(error)
    else:
        if program.machine not in elf.MACHINES:
            why = f"is for another processor (ELF machine {program.machine})"
        elif program.loader is not None:
            why = "needs a dynamic loader and shared libraries"
        else:
            return
    raise PackageRefused(
        f"{name!a} {why}; build a static executable for 64-bit Linux, e.g. gcc -O2 -static bot.c -o bot"
    )


def _without_top_folder(files: dict[str, bytes]) -> dict[str, bytes]:
    """Return the files without the single enclosing folder that most zip tools add."""
    tops = {name.partition("/")[0] for name in files}
    if manifest.FILE in files or len(tops) != 1:
        return files
    return {name.partition("/")[2]: data for name, data in files.items()}


def _known_games() -> list[str]:
    from engine.game import games  # Load the rules only when a package is read.

    return games()


# ---- Names


def check_name(name: str) -> None:
    """Raise PackageRefused unless a path is plain: relative, forward slashes, visible characters, short, not deep."""
    quoted = ascii(name if len(name) <= 80 else name[:77] + "...")
    parts = name.split("/")
    why = ""
    if not name or name.startswith("/"):
        why = "is an absolute or empty path"
    elif "\\" in name or ":" in name:
        why = "has a backslash or a colon"
    elif any(part in ("", ".", "..") for part in parts):
        why = "leads out of the package or has empty parts"
    elif not manifest.printable(name):
        why = "has invisible characters (control or direction marks)"
    elif any(part != part.strip() or part.endswith(".") for part in parts):
        why = "has a space or dot at the end of a part"
    elif len(name.encode()) > MAX_NAME:
        why = f"is longer than {MAX_NAME} bytes"
    elif len(parts) > MAX_DEPTH:
        why = f"is deeper than {MAX_DEPTH} folders"
    if why:
        raise PackageRefused(f"the path {quoted} {why}; rename it and pack again")


class _Names:
    """The paths so far. Refuses a path that some file system would confuse with another, or that passes through a file."""

    def __init__(self) -> None:
        self._files: dict[str, str] = {}
        self._folders: dict[str, str] = {}

    def add(self, name: str) -> None:
        check_name(name)
        if len(self._files) >= MAX_FILES:
            raise PackageRefused(f"more than {MAX_FILES} files; put data into fewer files")
        key = _folded(name)
        if key in self._files:
            raise PackageRefused(
                f"{name!a} and {self._files[key]!a} are the same file on some systems; rename one of them"
            )
        self._files[key] = name
        for parent in PurePosixPath(name).parents[:-1]:
            self._folders.setdefault(_folded(str(parent)), str(parent))

    def finish(self) -> None:
        for key in self._files.keys() & self._folders.keys():
            raise PackageRefused(f"{self._files[key]!a} is both a file and a folder; rename one of them")


def _folded(name: str) -> str:
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())


def _litter(name: str) -> bool:
    return any(part in _LITTER or part.startswith("._") for part in name.split("/"))


# ---- Zip


_Entry = tuple[str, zipfile.ZipInfo]  # path in the package; a folder's ends with "/"


def _tidied(entries: list[zipfile.ZipInfo]) -> list[_Entry]:
    """Return the entries that are no litter, each with its path as the zip tools of all systems mean it."""
    # `filename` would not do: the zip module cuts it at a NUL and replaces separators.
    names = [_decoded(info) for info in entries]
    if not any("/" in name for name in names):  # Old tools of Windows separate by backslashes.
        names = [name.replace("\\", "/") for name in names]
    entries_by_path = [
        (manifest.composed(name.removeprefix("./")), info) for name, info in zip(names, entries, strict=True)
    ]
    return [(name, info) for name, info in entries_by_path if name and not _litter(name)]


def _unzipped(data: bytes, name_of: Callable[[list[zipfile.ZipInfo]], list[_Entry]]) -> dict[str, bytes]:
    _check_directory(data)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = name_of(archive.infolist())
            _check_entries(entries, len(data))
            return {name: archive.read(info) for name, info in entries if not name.endswith("/")}
    except PackageRefused:
        raise
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError, OSError) as error:
        raise PackageRefused(
            f"the zip is damaged or of an unknown kind ({ascii(str(error))[1:-1][:120]}); pack it again"
        ) from None


def _check_directory(data: bytes) -> None:
    """Refuse a directory that is too long, before the zip module builds an object for each of its entries."""
    end = data.rfind(b"PK\x05\x06", max(0, len(data) - 65557))
    if end < 0 or len(data) - end < 22:
        raise PackageRefused("the zip has no directory (was the upload cut short?); pack it again")
    count = int.from_bytes(data[end + 10 : end + 12], "little")
    size = int.from_bytes(data[end + 12 : end + 16], "little")
    if count == 0xFFFF or size == 0xFFFFFFFF or data[end - 20 : end - 16] == b"PK\x06\x07":
        raise PackageRefused("the zip uses the 64-bit format for huge archives; pack it again without it")
    if size > MAX_DIRECTORY:
        raise PackageRefused(f"the zip lists more than {MAX_FILES} files; put data into fewer files")


def _decoded(info: zipfile.ZipInfo) -> str:
    """Return the entry's name. Some tools write UTF-8 without saying so; the zip module then takes it for the code page of DOS."""
    name = info.orig_filename
    if info.flag_bits & _UTF8 or name.isascii():
        return name
    try:
        return name.encode("cp437").decode("utf-8")
    except UnicodeError:
        return name


def _check_entries(entries: list[_Entry], packed: int) -> None:
    """Check everything that the directory of the zip declares. If it declares a wrong size, reading stops there and the checksum fails."""
    names = _Names()
    declared = 0
    for name, info in entries:
        kind = stat.S_IFMT(info.external_attr >> 16)
        if info.flag_bits & _ENCRYPTED:
            raise PackageRefused(f"{name!a} is encrypted; pack it again without a password")
        if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
            raise PackageRefused(
                f"{name!a} is a link, device or pipe; only ordinary files are allowed, put a copy of the file in its place"
            )
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise PackageRefused(
                f"{name!a} uses a rare compression method; pack it again with deflate, the default of zip tools"
            )
        if name.endswith("/") and not info.file_size and kind != stat.S_IFREG:
            check_name(name[:-1])
            continue
        if kind == stat.S_IFDIR:
            raise PackageRefused(f"{name!a} is a folder with contents of its own; pack it again")
        names.add(name)
        declared += info.file_size
        _check_size(declared, packed)
    names.finish()


def _check_size(total: int, packed: int) -> None:
    if total > MAX_BYTES:
        raise PackageRefused(
            f"the package has more than {_mb(MAX_BYTES)} when unpacked; leave data files out or shrink them"
        )
    if total > RATIO_FROM and total > MAX_RATIO * packed:
        raise PackageRefused(
            f"the zip unpacks to more than {MAX_RATIO} times its size; create such data when the bot starts instead"
        )


# ---- Folder


def _folder(root: Path) -> dict[str, bytes]:
    names = _Names()
    files: dict[str, bytes] = {}
    total = 0
    for folder, folders, plain in os.walk(root):
        folders[:] = sorted(name for name in folders if not _litter(name))
        for name in [*folders, *sorted(plain)]:
            path = Path(folder, name)
            if _litter(name):
                continue
            kind = stat.S_IFMT(path.lstat().st_mode)
            relative = manifest.composed(path.relative_to(root).as_posix())
            if kind == stat.S_IFDIR:
                check_name(relative)
                continue
            if kind == stat.S_IFLNK and not _is_of_neighbour(root, path):
                raise PackageRefused(
                    f"{relative!a} is a link; only a relative link to a file at the top of a neighbouring package is followed. "
                    "Put a copy of the file in its place"
                )
            if kind not in (stat.S_IFREG, stat.S_IFLNK):
                raise PackageRefused(f"{relative!a} is a device or pipe; put a copy of the file in its place")
            names.add(relative)
            total += path.stat().st_size
            _check_size(total, total)
            files[relative] = path.read_bytes()
    names.finish()
    return files


def _is_of_neighbour(root: Path, path: Path) -> bool:
    """Return True if a link is relative and leads to a file at the top of a neighbouring package: bots may share files."""
    if path.readlink().is_absolute():
        return False
    # Compare real locations; `Path.resolve` would raise for a link to itself.
    here, target = Path(os.path.realpath(root)), Path(os.path.realpath(path))
    package = target.parent
    return (
        target.is_file() and package != here and package.parent == here.parent and (package / manifest.FILE).is_file()
    )


def _mb(count: int) -> str:
    return f"{count / 1024 / 1024:g} MB"
