"""What the rules do not allow, as a sentence with gaps, so that it can be said in any language."""

from __future__ import annotations


class Refusal(ValueError):
    """`message` names its gaps as `str.format` does; `values` fill them. As text it is English."""

    def __init__(self, message: str, **values: object) -> None:
        super().__init__(message)
        self.message = message
        self.values = values

    def __str__(self) -> str:
        return self.message.format(**self.values)
