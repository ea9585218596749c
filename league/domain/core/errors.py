"""Refusals. Every message is shown to a person: what was refused, why, and what to do next.

A message is an English sentence with gaps, its values apart: `Refused("the name {name!r} is taken; choose another", name=name)`. As text (logs,
commands, what is stored) it is English; `shown(error)` is the same in the language of the moment, from the catalogue of the site.
"""

from __future__ import annotations

import re
from typing import Self

from django.utils.translation import gettext, override

from league.pure.refusal import Message, Refusal

_FOLDERS = re.compile(r"(?<![\w.~:/])/(?:[^\s/'\"]+/)+")


class Refused(Refusal):
    """A request that the rules of the league do not allow. Nothing was changed."""

    @classmethod
    def from_error(cls, error: ValueError) -> Self:
        """The same refusal, of a part that knows no languages; what has no gaps is passed on as it stands."""
        if isinstance(error, Refusal):
            return cls(error.message, **error.values)
        return cls("{why}", why=str(error))

    def __str__(self) -> str:
        with override("en"):
            return shown(self)


class IllegalMove(Refused):
    """A change of status that the transition table does not have, or that came too late."""


class Forbidden(Refused):
    """A request that is allowed, but not to who makes it."""


class TooMany(Refused):
    """A limit of the caller is used up; `retry_after` seconds later it is not."""

    def __init__(self, message: str, *, retry_after: int, **values: object) -> None:
        super().__init__(message, **values)
        self.retry_after = retry_after


def without_folders(text: str) -> str:
    """A text that everybody may read of one that names the folders of an operator's machine: of a path only its last part."""
    return _FOLDERS.sub("", text)


def shown(error: Message | Exception) -> str:
    """A refusal in the language of the moment; of another error its text."""
    if not isinstance(error, Message):
        return str(error)
    values = {name: shown(value) if isinstance(value, Message) else value for name, value in error.values.items()}
    return Message(error.message, **values).fill(gettext(error.message))
