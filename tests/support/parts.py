"""Cases of one test: a few are quick, `make slow` runs the others."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest


def mostly_slow(cases: Iterable[Any], is_quick: Callable[[Any], bool]) -> list[Any]:
    """Mark the cases for `parametrize` as `slow` unless they are quick. A case of several values is a tuple. Raise ValueError if none is quick."""
    marked = [(case, is_quick(case)) for case in cases]
    if not any(quick for _, quick in marked):
        raise ValueError("no case of the test would be quick")
    return [
        pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=() if quick else pytest.mark.slow)
        for case, quick in marked
    ]
