"""A question to one seat that is not "which card"."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from engine.match.state import State


class Phase(NamedTuple):
    """What the seat on turn may answer and what the answer does. Stateless: what it needs to remember stands in the `State`."""

    name: str
    legal: Callable[[State], tuple[int, ...]]
    act: Callable[[State, int], None]
