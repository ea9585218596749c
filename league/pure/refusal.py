"""What the rules do not allow, as sentences with gaps, so that they can be said in any language."""

from __future__ import annotations


def translatable(text: str) -> str:
    """`text` itself. The call marks it as one that people read, so that `make texts` finds it."""
    return text


class Message:
    """A sentence, or part of one: `message` names its gaps as `str.format` does, `values` fill them. As text it is English.

    A message without values has no gaps and stands as it is.
    """

    def __init__(self, message: str, **values: object) -> None:
        self.message = message
        self.values = values

    def fill(self, message: str) -> str:
        """`message`, which is that of this sentence in some language, with the values in its gaps."""
        return message.format(**self.values) if self.values else message

    def __str__(self) -> str:
        return self.fill(self.message)


class Refusal(Message, ValueError):
    """Something that the rules do not allow: what, why, and what is allowed."""
