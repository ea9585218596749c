"""Options: their choices, values that depend on the number of players, and the words in which values are written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Range:
    """Whole numbers `low` to `high` (None: no upper end), in steps."""

    low: int
    high: int | None = None
    step: int = 1
    # True if null is allowed, too
    none: bool = False

    def accepts(self, value: Any) -> bool:
        """Return True if a value is one of these numbers."""
        if value is None:
            return self.none
        return (
            type(value) is int
            and value >= self.low
            and (self.high is None or value <= self.high)
            and (value - self.low) % self.step == 0
        )

    def __str__(self) -> str:
        upper = "or more" if self.high is None else f"to {self.high}"
        steps = f" in steps of {self.step}" if self.step > 1 else ""
        return f"a whole number, {self.low} {upper}{steps}" + (", or null" if self.none else "")


Choice = tuple[Any, ...] | Range
BOOL: Choice = (False, True)


def offers(choice: Choice, value: Any) -> bool:
    """Return True if a choice holds a value, given as `word` writes it."""
    if isinstance(choice, Range):
        return choice.accepts(value)
    return any(word(candidate) == value and type(word(candidate)) is type(value) for candidate in choice)


def by_players(value: Any, players: int) -> Any:
    """Return the value at a table of that many players: an entry of a mapping with whole-number keys, or the value itself."""
    if isinstance(value, dict) and value and all(type(key) is int for key in value):
        return value.get(players)
    return value


def word(value: Any) -> Any:
    """Format a value for option and parameter tables: a function by its name, anything else unchanged."""
    return value.__name__ if callable(value) else value
