"""What a trusted ELF program needs from the host: its loader and its shared libraries."""

from __future__ import annotations

import struct
import subprocess
from pathlib import Path

from .errors import SandboxError

_PT_INTERP = 3


def loader_of(program: Path) -> Path | None:
    """The dynamic loader a program names, or None for a static one. Raises SandboxError if it is no 64-bit ELF file."""
    with program.open("rb") as file:
        header = file.read(64)
        if header[:5] != b"\x7fELF\x02":
            raise SandboxError(f"{program} is not a 64-bit ELF program; give the path of the program itself")
        offset = struct.unpack_from("<Q", header, 32)[0]
        size, count = struct.unpack_from("<HH", header, 54)
        file.seek(offset)
        table = file.read(size * count)
        for index in range(count):
            kind, at, length = struct.unpack_from("<I4xQ16xQ", table, index * size)
            if kind == _PT_INTERP:
                file.seek(at)
                return Path(file.read(length).rstrip(b"\0").decode())
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
