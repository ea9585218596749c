"""Refusals as sentences with placeholders, so that they can be translated."""

from __future__ import annotations


def translatable(text: str) -> str:
    """Return `text`; the call marks it as a message, so that `make texts` finds it."""
    return text


class Message:
    """A sentence or part of one. `message` has placeholders as in `str.format`, `values` fill them. As text it is English.

    A message without values has no placeholders and stays as it is.
    """

    def __init__(self, message: str, **values: object) -> None:
        self.message = message
        self.values = values

    def fill(self, message: str) -> str:
        """Fill the values into `message`, which is this sentence in some language."""
        return message.format(**self.values) if self.values else message

    def __str__(self) -> str:
        return self.fill(self.message)


class Refusal(Message, ValueError):
    """An error for something that the rules do not allow: what, why, and what is allowed."""
