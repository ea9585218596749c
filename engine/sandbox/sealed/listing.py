"""Machine code as a listing: the bytes at the left, what they mean at the right, as an assembler prints them.

A line is `bytes ; meaning`. Besides bytes it may hold `name:`, a place; `>name`, one byte, and `>>name`, four bytes: the way to
a place from behind these bytes; `$name`, four bytes: a number.
"""

from __future__ import annotations

from collections.abc import Mapping


def assemble(listing: str, numbers: Mapping[str, int], places: Mapping[str, int]) -> tuple[bytes, dict[str, int]]:
    """The code, and where its places are.

    numbers: for `$name`; places: those outside the code, counted from its begin. Raises KeyError for a name that is nowhere,
    OverflowError where a way is too long.
    """
    words = [word for line in listing.splitlines() for word in line.partition(";")[0].split()]
    found = dict(places)
    at = 0
    for word in words:
        if word.endswith(":"):
            found[word[:-1]] = at
        at += _size(word)
    code = bytearray()
    for word in words:
        size = _size(word)
        if word.startswith("$"):
            code += numbers[word[1:]].to_bytes(size, "little", signed=True)
        elif word.startswith(">"):
            code += (found[word.lstrip(">")] - len(code) - size).to_bytes(size, "little", signed=True)
        elif size:
            code += bytes.fromhex(word)
    return bytes(code), found


def _size(word: str) -> int:
    if word.endswith(":"):
        return 0
    return 4 if word.startswith(("$", ">>")) else 1
