"""The errors of the engine. Every message says what was given and what is allowed."""

from collections.abc import Iterable


class EngineError(ValueError):
    """Base of all errors of the engine."""


class OptionError(EngineError):
    """An unknown game or option, or a value out of range."""


class IllegalAction(EngineError):
    """An action that the rules do not allow now. The state is unchanged."""


def meant(word: str, among: Iterable[str]) -> str:
    """Return ` (did you mean 'x'?)` with the name nearest to a mistyped word, or an empty text."""
    from difflib import get_close_matches  # Imported here because loading the rules must stay fast.

    near = get_close_matches(word.casefold(), among, n=1)
    return f" (did you mean {near[0]!r}?)" if near else ""
