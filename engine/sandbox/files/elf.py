"""Read what an ELF program requires of the host: its processor, its loader and its shared libraries. Format: elf(5)."""

from __future__ import annotations

import mmap
import platform
import struct
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from engine.sandbox.errors import SandboxError

MAGIC = b"\x7fELF"
MACHINES = {62: "x86_64", 183: "aarch64"}  # ELF machine number -> the kernel's name of the processor.
_HEADER_BYTES = 64
_ENTRY_BYTES = 56  # Least size of an entry of the program table.
_EXECUTABLE = (2, 3)  # ET_EXEC, and ET_DYN for position-independent executables.
_64_BIT_LITTLE_ENDIAN = b"\x02\x01"
_PT_INTERP = 3
_LONGEST_PATH = 4096
_MADE_BY_GO = b"\xff Go buildinf:"  # The linker of Go begins its build information with these bytes.


class NotAProgram(ValueError):
    """A file that is not a 64-bit ELF executable. The message completes a sentence that begins with the file's name."""


@dataclass(frozen=True)
class Executable:
    """An executable. machine: its ELF number, see MACHINES; loader: the dynamic loader it names, None for a static one."""

    machine: int
    loader: Path | None


def read(file: BinaryIO) -> Executable:
    """Read the program in a file positioned at its start. Raise NotAProgram, OSError."""
    header = file.read(_HEADER_BYTES)
    if header[:4] != MAGIC:
        raise NotAProgram("is not an ELF executable")
    if len(header) < _HEADER_BYTES or header[4:6] != _64_BIT_LITTLE_ENDIAN:
        raise NotAProgram("is not a 64-bit little-endian ELF file")
    kind, machine = struct.unpack_from("<HH", header, 16)
    if kind not in _EXECUTABLE:
        raise NotAProgram("is an object or core file, not an executable")
    start = struct.unpack_from("<Q", header, 32)[0]
    size, count = struct.unpack_from("<HH", header, 54)
    end = file.seek(0, 2)
    if size < _ENTRY_BYTES:
        raise NotAProgram("is damaged: the entries of the program table are too short")
    if start + size * count > end:
        raise NotAProgram("is damaged: the program table lies outside the file")
    file.seek(start)
    table = file.read(size * count)
    for index in range(count):
        entry, at, length = struct.unpack_from("<I4xQ16xQ", table, index * size)
        if entry == _PT_INTERP:
            if at + length > end:
                raise NotAProgram("is damaged: the name of its loader lies outside the file")
            file.seek(at)
            name = file.read(min(length, _LONGEST_PATH)).rstrip(b"\0")
            return Executable(machine, Path(name.decode(errors="replace")))
    return Executable(machine, None)


def why_not_static(path: Path) -> str | None:
    """Return why a file cannot run as a static executable on this machine, or None if it looks like one."""
    try:
        with path.open("rb") as file:
            program = read(file)
    except NotAProgram as reason:
        return f"it {reason}"
    if MACHINES.get(program.machine) != platform.machine():
        return f"it is not an executable for {platform.machine()}"
    if program.loader:
        return f"it is dynamically linked (needs {program.loader}); link it statically"
    return None


def is_go(path: Path) -> bool:
    """Return True if the Go toolchain has linked a program: such a program starts threads before its own code begins. Raise OSError."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as content:
        return content.find(_MADE_BY_GO) >= 0


def loader_of(path: Path) -> Path | None:
    """Return the dynamic loader that a program names, or None for a static one. Raise SandboxError if the file is not a program."""
    try:
        with path.open("rb") as file:
            return read(file).loader
    except NotAProgram as reason:
        raise SandboxError(f"{path} {reason}; give the path of the program itself") from None


def libraries_of(loader: Path, file: Path) -> dict[str, Path]:
    """Return library name -> path for one ELF file and everything it needs.

    The loader only lists them; still, pass trusted files only. Raise SandboxError with the name of a missing library.
    """
    result = subprocess.run(
        [loader, "--list", file], capture_output=True, text=True, timeout=30, check=False, env={"PATH": "/usr/bin:/bin"}
    )
    if result.returncode != 0:
        raise SandboxError(f"{loader} --list {file} failed: {result.stderr.strip() or result.stdout.strip()}")
    libraries: dict[str, Path] = {}
    for line in result.stdout.splitlines():
        name, arrow, rest = line.strip().partition(" => ")
        if not arrow:
            continue  # Skip the loader itself and the kernel's vDSO.
        if rest.startswith("not found"):
            raise SandboxError(f"{file} needs {name}, which is not installed here; install its package")
        libraries[Path(name).name] = Path(rest.rsplit(" (", 1)[0])
    return libraries
