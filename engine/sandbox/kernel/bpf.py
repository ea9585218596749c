"""A small assembler for the classic BPF programs that seccomp runs (linux/filter.h, linux/seccomp.h).

Every function returns a list of instructions; bodies end in a verdict on every path, so blocks never need a label.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping, Sequence

Instruction = tuple[int, int, int, int]  # operation, jump if true, jump if false, constant
Program = list[Instruction]

_LOAD, _EQUAL, _ANY_BIT, _AT_LEAST, _JUMP, _RETURN, _AND = 0x20, 0x15, 0x45, 0x35, 0x05, 0x06, 0x54
_NUMBER, _ARCH, _ARGUMENTS = 0, 4, 16  # Offsets in struct seccomp_data.

KILL_PROCESS = 0x8000_0000
ALLOW = 0x7FFF_0000
MAX_INSTRUCTIONS = 4096
_FARTHEST = 255  # Instructions that a comparison can jump over.


def refuse(error: int) -> int:
    """Return the verdict "the call fails with this errno"."""
    return 0x0005_0000 | error


def verdict(value: int) -> Program:
    """End here with ``value``."""
    return [(_RETURN, 0, 0, value)]


def load_number() -> Program:
    """Load the call's number into the accumulator."""
    return [(_LOAD, 0, 0, _NUMBER)]


def load_arch() -> Program:
    """Load the caller's machine into the accumulator."""
    return [(_LOAD, 0, 0, _ARCH)]


def load_argument(index: int, *, high: bool = False) -> Program:
    """Load one half of argument ``index`` (0 to 5) into the accumulator; both machines are little-endian."""
    return [(_LOAD, 0, 0, _ARGUMENTS + 8 * index + (4 if high else 0))]


def mask(bits: int) -> Program:
    """Keep only ``bits`` of the accumulator."""
    return [(_AND, 0, 0, bits)]


def _conditional(operation: int, value: int, body: Program) -> Program:
    if len(body) > _FARTHEST:
        raise ValueError(f"a conditional block of {len(body)} instructions; the jump reaches {_FARTHEST}")
    return [(operation, 0, len(body), value), *body]


def if_equal(value: int, body: Program) -> Program:
    """Run ``body`` if the accumulator equals ``value``, else continue after it."""
    return _conditional(_EQUAL, value, body)


def unless_equal(value: int, body: Program) -> Program:
    """Run ``body`` if the accumulator differs from ``value``, else continue after it."""
    if len(body) > _FARTHEST:
        raise ValueError(f"a conditional block of {len(body)} instructions; the jump reaches {_FARTHEST}")
    return [(_EQUAL, len(body), 0, value), *body]


def if_any_bit(bits: int, body: Program) -> Program:
    """Run ``body`` if the accumulator has one of ``bits``."""
    return _conditional(_ANY_BIT, bits, body)


def if_at_least(value: int, body: Program) -> Program:
    """Run ``body`` if the accumulator is at least ``value``, unsigned."""
    return _conditional(_AT_LEAST, value, body)


def switch(bodies: Mapping[int, Program], otherwise: Mapping[int, Program]) -> Program:
    """Run the body for the accumulator's value; if it has none, the body in ``otherwise`` with the greatest key up to that value (one key is 0).

    This is a binary search: the kernel runs a new filter once for each call number, to learn which calls it always allows.
    """
    begins = dict(otherwise)
    for value, body in bodies.items():
        begins[value] = body
        if value + 1 not in bodies:
            begins.setdefault(value + 1, otherwise[max(first for first in otherwise if first <= value)])
    steps: list[tuple[int, Program]] = []
    for value, body in sorted(begins.items()):
        if not steps or steps[-1][1] != body:
            steps.append((value, body))
    return _search(steps)


def _search(steps: Sequence[tuple[int, Program]]) -> Program:
    """Return the body of the last step whose value does not exceed the accumulator; the first step's never does."""
    if len(steps) == 1:
        return steps[0][1]
    half = len(steps) // 2
    below, above = _search(steps[:half]), _search(steps[half:])
    if len(below) <= _FARTHEST:
        return [(_AT_LEAST, len(below), 0, steps[half][0]), *below, *above]
    return [(_AT_LEAST, 0, 1, steps[half][0]), (_JUMP, 0, 0, len(below)), *below, *above]


def one_of(values: Iterable[int], then: int, otherwise: int) -> Program:
    """Return ``then`` if the accumulator is one of ``values``, else ``otherwise``."""
    program: Program = []
    for value in values:
        program += if_equal(value, verdict(then))
    return program + verdict(otherwise)


def encode(program: Sequence[Instruction]) -> bytes:
    """Encode the program as an array of struct sock_filter. Raise ValueError if the kernel would not accept its length."""
    if not 0 < len(program) <= MAX_INSTRUCTIONS:
        raise ValueError(f"a filter of {len(program)} instructions; the kernel accepts 1 to {MAX_INSTRUCTIONS}")
    return b"".join(struct.pack("<HBBI", *instruction) for instruction in program)
