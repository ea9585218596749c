"""Put a fault into a process that has loaded the code already: the functions that it changes get their new code."""

from __future__ import annotations

import functools
import gc
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

Name = tuple[str, int]  # qualified name, first line


class NotToBePatched(Exception):
    """The fault runs when the module is loaded, so the module has to be loaded again."""


def codes(code: types.CodeType) -> Iterator[types.CodeType]:
    """Yield a code object and all code objects inside it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from codes(constant)


def _objects() -> list[Any]:
    """Return all living objects, also those that `gc.freeze` has put aside, as the suite does with everything it has collected."""
    gc.unfreeze()
    return gc.get_objects()


def functions(top: Path) -> dict[str, dict[Name, list[types.FunctionType]]]:
    """Return all living functions of the tree, by file and by name."""
    by_file: dict[str, dict[Name, list[types.FunctionType]]] = {}
    for thing in _objects():
        if type(thing) is types.FunctionType and thing.__code__.co_filename.startswith(f"{top}/"):
            code = thing.__code__
            of_file = by_file.setdefault(code.co_filename, {})
            of_file.setdefault((code.co_qualname, code.co_firstlineno), []).append(thing)
    return by_file


def patch(file: Path, source: bytes, changed: bytes, living: dict[Name, list[types.FunctionType]]) -> int:
    """Give the living functions of a file the code of its changed source; how many were changed."""
    old = list(codes(compile(source, str(file), "exec")))
    new = list(codes(compile(changed, str(file), "exec")))
    if [code.co_qualname for code in old] != [code.co_qualname for code in new]:
        raise NotToBePatched
    count = 0
    for was, code in zip(old, new, strict=True):
        if code == was or not _own(code, was):
            continue
        functions_now = living.get((was.co_qualname, was.co_firstlineno), [])
        if not functions_now and "<locals>" not in was.co_qualname:  # a nested one is made by the one around it
            raise NotToBePatched
        for function in functions_now:
            try:
                function.__code__ = code
            except ValueError:  # another number of free variables
                raise NotToBePatched from None
            count += 1
    if not count:
        raise NotToBePatched
    return count


def _own(new: types.CodeType, old: types.CodeType) -> bool:
    """Return True if a function's own code differs. A module or class body runs once, so a change of it cannot be patched."""
    if new.co_name == "<module>" or not new.co_flags & 0x2:  # CO_NEWLOCALS: functions have it
        bare = [tuple(c for c in code.co_consts if not isinstance(c, types.CodeType)) for code in (new, old)]
        if new.co_code != old.co_code or bare[0] != bare[1]:
            raise NotToBePatched
        return False
    return True


def caches() -> list[Any]:
    """Return the caches in the code under test."""
    kind = functools._lru_cache_wrapper
    ours = ("engine", "league")
    return [thing for thing in _objects() if type(thing) is kind and str(thing.__module__).startswith(ours)]
