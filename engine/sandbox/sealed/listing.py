"""Machine code as a listing: the bytes on the left, their meaning on the right, as an assembler prints them.

A line is `bytes ; meaning`. Besides bytes it may contain `name:`, a label; `>name`, one byte, and `>>name`, four bytes: the distance to a
label from behind these bytes; `$name`, four bytes: a number.
"""

from __future__ import annotations

from collections.abc import Mapping


def assemble(listing: str, numbers: Mapping[str, int], places: Mapping[str, int]) -> tuple[bytes, dict[str, int]]:
    """Return the code, and the offsets of its labels.

    numbers: the value of each `$name`; places: labels outside the code, relative to its start. Raise KeyError for an unknown name, OverflowError if a
    distance is too long.
    """
    words = [word for line in listing.splitlines() for word in line.partition(";")[0].split()]
    offsets = dict(places)
    at = 0
    for word in words:
        if word.endswith(":"):
            offsets[word[:-1]] = at
        at += _size(word)
    code = bytearray()
    for word in words:
        size = _size(word)
        if word.startswith("$"):
            code += numbers[word[1:]].to_bytes(size, "little", signed=True)
        elif word.startswith(">"):
            code += (offsets[word.lstrip(">")] - len(code) - size).to_bytes(size, "little", signed=True)
        elif size:
            code += bytes.fromhex(word)
    return bytes(code), offsets


def _size(word: str) -> int:
    if word.endswith(":"):
        return 0
    return 4 if word.startswith(("$", ">>")) else 1
