"""Refusals: sentences with placeholders, so that they can be translated."""

from __future__ import annotations


def translatable(text: str) -> str:
    """Return `text`; the call marks it as a message, so that `make texts` finds it."""
    return text


class Message:
    """A sentence, or a part of one, in English. `message` has placeholders as in `str.format`, and `values` fill them.

    Without values there are no placeholders.
    """

    def __init__(self, message: str, **values: object) -> None:
        self.message = message
        self.values = values

    def fill(self, message: str) -> str:
        """Fill the values into `message`, a translation of this sentence."""
        return message.format(**self.values) if self.values else message

    def __str__(self) -> str:
        return self.fill(self.message)


class Refusal(Message, ValueError):
    """The error for something that the rules do not allow. It says what is wrong, why, and what is allowed."""
