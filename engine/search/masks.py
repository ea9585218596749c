"""Arrays of machine words, and functions of card sets with one bit a card.

Compiled, an array is a `librt.vecs` vector of 64-bit numbers; as Python source it is a list, so nothing but the standard library is needed.
Bits come from tables: mypyc 2.4.1 shifts a literal wrongly from bit 31 on.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from librt.vecs import vec
    from mypy_extensions import i64, u8

INTERPRETED: Final = __file__.endswith(".py")
FOLD: Final = 67  # The remainders of 2**0 to 2**65 by this number all differ.


def words(values: list[int]) -> vec[i64]:
    """Return an array of these values."""
    if INTERPRETED:
        return values[:]  # type: ignore[return-value]
    return vec[i64](values)


def block(length: int) -> vec[i64]:
    """Return an array of `length` zeros in memory that a `memoryview` can show, later changes included."""
    if INTERPRETED:
        return array("q", [0]) * length  # type: ignore[return-value]
    return vec[i64]([0] * length)


def byte_block(length: int) -> vec[u8]:
    """Return an array of `length` zero bytes, like `block`."""
    if INTERPRETED:
        return bytearray(length)  # type: ignore[return-value]
    return vec[u8]([0] * length)


def places() -> list[int]:
    """Return a list in which `places()[bit % FOLD]` is the number of a bit."""
    numbers = [0] * FOLD
    for number in range(62):
        numbers[2**number % FOLD] = number
    return numbers


def count(mask: i64) -> i64:
    """Return the number of bits of a mask below 2**62."""
    # mypyc makes a Python object of a literal with more than 62 bits.
    a: i64 = mask - ((mask >> 1) & 0x1555555555555555)
    b: i64 = (a & 0x3333333333333333) + ((a >> 2) & 0x3333333333333333)
    c: i64 = (b + (b >> 4)) & 0x0F0F0F0F0F0F0F0F
    d: i64 = c + (c >> 8)
    e: i64 = d + (d >> 16)
    return (e + (e >> 32)) & 0x7F


def pick(mask: i64, number: i64) -> i64:
    """Return the set bit with this index, counted from 0 at the low end."""
    rest: i64 = mask
    while number > 0:
        rest &= rest - 1
        number -= 1
    return rest & -rest
