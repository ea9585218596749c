"""What the engine raises. Every message says what was given and what would have been right."""

from collections.abc import Iterable


class EngineError(ValueError):
    """Base of all errors of the engine."""


class OptionError(EngineError):
    """An unknown game or option, or a value out of range."""


class IllegalAction(EngineError):
    """An action that the rules do not allow now. The state is unchanged."""


def meant(word: str, among: Iterable[str]) -> str:
    """` (did you mean 'x'?)` for the name nearest to a mistyped word, else nothing."""
    from difflib import get_close_matches  # only where something is wrong: the rules are to load fast

    near = get_close_matches(word.casefold(), among, n=1)
    return f" (did you mean {near[0]!r}?)" if near else ""
