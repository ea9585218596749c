"""Refusals. Every message is shown to a person: what was refused, why, and what to do next."""

from __future__ import annotations

import re

_FOLDERS = re.compile(r"(?<![\w.~:/])/(?:[^\s/'\"]+/)+")


class Refused(ValueError):
    """A request that the rules of the league do not allow. Nothing was changed."""


class IllegalMove(Refused):
    """A change of status that the transition table does not have, or that came too late."""


class TooMany(Refused):
    """A limit of the caller is used up; `retry_after` seconds later it is not."""

    def __init__(self, message: str, *, retry_after: int) -> None:
        super().__init__(message)
        self.retry_after = retry_after


def for_all(text: str) -> str:
    """A text that everybody may read of one that names the folders of an operator's machine: of a path only its last part."""
    return _FOLDERS.sub("", text)
