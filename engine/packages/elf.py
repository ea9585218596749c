"""Just enough of the ELF format to say whether an executable can run without the files of another system."""

from __future__ import annotations

import struct

from engine.packages.manifest import PackageRefused

MAGIC = b"\x7fELF"
_MACHINES = {62: "x86-64", 183: "aarch64"}
_PT_INTERP = 3


def check(data: bytes, name: str) -> None:
    """PackageRefused unless the bytes are a 64-bit little-endian executable that asks for no dynamic loader."""
    why = _why_not(data)
    if why:
        raise PackageRefused(
            f"{name!a} {why}; build a static executable for 64-bit Linux, e.g. gcc -O2 -static bot.c -o bot"
        )


def _why_not(data: bytes) -> str:
    if data[:4] != MAGIC:
        return "is not an ELF executable"
    if len(data) < 64 or data[4:6] != b"\x02\x01":
        return "is not a 64-bit little-endian ELF file"
    kind, machine = struct.unpack_from("<HH", data, 16)
    if kind not in (2, 3):
        return "is an object or core file, not an executable"
    if machine not in _MACHINES:
        return f"is for another processor (ELF machine {machine})"
    (table,) = struct.unpack_from("<Q", data, 32)
    size, count = struct.unpack_from("<HH", data, 54)
    if size < 56 or table + size * count > len(data):
        return "has a damaged program table"
    for index in range(count):
        if struct.unpack_from("<I", data, table + index * size)[0] == _PT_INTERP:
            return "needs a dynamic loader and shared libraries"
    return ""
