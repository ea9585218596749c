"""What a trusted ELF program needs from the host: its loader and its shared libraries."""

from __future__ import annotations

import platform
import struct
import subprocess
from pathlib import Path

from engine.sandbox.errors import SandboxError

_PT_INTERP = 3
_LONGEST_PATH = 4096


_MACHINE_CODES = {"x86_64": 62, "aarch64": 183}


def why_not_static(program: Path) -> str | None:
    """Why a file cannot be run as a static executable of this machine, or None where it looks like one."""
    with program.open("rb") as file:
        header = file.read(64)
    if len(header) < 64 or header[:6] != b"\x7fELF\x02\x01":
        return "it is not a 64-bit ELF executable"
    kind, machine = struct.unpack_from("<HH", header, 16)
    if kind not in (2, 3) or machine != _MACHINE_CODES.get(platform.machine()):
        return f"it is not an executable for {platform.machine()}"
    try:
        loader = loader_of(program)
    except (struct.error, ValueError, OverflowError) as error:
        return f"its ELF headers are damaged: {error}"
    return None if loader is None else f"it is dynamically linked (needs {loader}); link it statically"


def loader_of(program: Path) -> Path | None:
    """The dynamic loader a program names, or None for a static one. Raises SandboxError if it is no 64-bit ELF file, ValueError if it is damaged."""
    with program.open("rb") as file:
        header = file.read(64)
        if header[:5] != b"\x7fELF\x02":
            raise SandboxError(f"{program} is not a 64-bit ELF program; give the path of the program itself")
        offset = struct.unpack_from("<Q", header, 32)[0]
        size, count = struct.unpack_from("<HH", header, 54)
        if offset + size * count > program.stat().st_size:
            raise ValueError("the program table lies outside the file")
        file.seek(offset)
        table = file.read(size * count)
        for index in range(count):
            kind, at, length = struct.unpack_from("<I4xQ16xQ", table, index * size)
            if kind == _PT_INTERP:
                file.seek(at)
                return Path(file.read(min(length, _LONGEST_PATH)).rstrip(b"\0").decode())
    return None


def libraries_of(loader: Path, file: Path) -> dict[str, Path]:
    """Name searched -> file found, for one ELF file and all it needs.

    The loader only lists; still, give it trusted files alone. Raises SandboxError naming a library that is missing.
    """
    done = subprocess.run(
        [loader, "--list", file], capture_output=True, text=True, timeout=30, check=False, env={"PATH": "/usr/bin:/bin"}
    )
    if done.returncode != 0:
        raise SandboxError(f"{loader} --list {file} failed: {done.stderr.strip() or done.stdout.strip()}")
    found: dict[str, Path] = {}
    for line in done.stdout.splitlines():
        name, arrow, rest = line.strip().partition(" => ")
        if not arrow:
            continue  # the loader itself and the kernel's vdso
        if rest.startswith("not found"):
            raise SandboxError(f"{file} needs {name}, which is not installed here; install its package")
        found[Path(name).name] = Path(rest.rsplit(" (", 1)[0])
    return found
