"""Refusals: errors whose message a person reads. A message says what was refused, why, and what to do next.

It is an English sentence with placeholders: `Refused("the name {name!r} is taken; choose another", name=name)`. `str(error)` is English, for logs,
commands and the database; `shown(error)` is in the active language.
"""

from __future__ import annotations

import re
from typing import Self

from django.utils.translation import gettext, override

from league.pure.refusal import Message, Refusal

_FOLDERS = re.compile(r"(?<![\w.~:/])/(?:[^\s/'\"]+/)+")


class Refused(Refusal):
    """The error for a request that the rules of the league do not allow. Nothing has changed."""

    @classmethod
    def from_error(cls, error: ValueError) -> Self:
        """Wrap an error of code without translations; a text without placeholders stays as it is."""
        if isinstance(error, Refusal):
            return cls(error.message, **error.values)
        return cls("{why}", why=str(error))

    def __str__(self) -> str:
        with override("en"):
            return shown(self)


class IllegalMove(Refused):
    """The error for a change of status that the transition table does not allow, or that came too late."""


class Forbidden(Refused):
    """The error for a request that the rules allow, but not for this caller."""


class TooMany(Refused):
    """The error for a request beyond a limit of the caller, who may try again after `retry_after` seconds."""

    def __init__(self, message: str, *, retry_after: int, **values: object) -> None:
        super().__init__(message, **values)
        self.retry_after = retry_after


def without_folders(text: str) -> str:
    """Shorten each path in `text` to its last part, so that a public text does not show the folders of this machine."""
    return _FOLDERS.sub("", text)


def shown(error: Message | Exception) -> str:
    """Return a refusal in the active language; for any other error, its text."""
    if not isinstance(error, Message):
        return str(error)
    values = {name: shown(value) if isinstance(value, Message) else value for name, value in error.values.items()}
    return Message(error.message, **values).fill(gettext(error.message))
