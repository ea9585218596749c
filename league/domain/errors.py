"""Refusals. Every message is shown to a person: what was refused, why, and what to do next."""

from __future__ import annotations


class Refused(ValueError):
    """A request that the rules of the league do not allow. Nothing was changed."""


class IllegalMove(Refused):
    """A change of status that the transition table does not have, or that came too late."""


class TooMany(Refused):
    """A limit of the caller is used up; `retry_after` seconds later it is not."""

    def __init__(self, message: str, *, retry_after: int) -> None:
        super().__init__(message)
        self.retry_after = retry_after
