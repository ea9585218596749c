"""The text of a comment: plain, with only visible characters, and short."""

from __future__ import annotations

import re
import unicodedata

from engine.packages import manifest
from league.pure.names import MOST_ACCENTS
from league.pure.refusal import Refusal, translatable

MOST_LINES = 30
_ENDS = re.compile(r"\r\n?|[\u2028\u2029\x0b\x0c\x85]")


class BadText(Refusal):
    """The error for a text that cannot be a comment."""


def clean(text: str, most: int) -> str:
    """Return the text as it is stored: single spaces, at most one empty line in a row, only visible characters (no bidirectional overrides).

    Raise BadText if nothing is left, or if it is too long.
    """
    lines = [_visible(" ".join(line.split())) for line in _ENDS.sub("\n", text[: 20 * most]).split("\n")]
    plain = re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()
    if not plain:
        raise BadText(translatable("Write something first."))
    if len(plain) > most:
        raise BadText(
            translatable("The comment has {length} characters; shorten it to {most} at most."),
            length=len(plain),
            most=most,
        )
    if plain.count("\n") >= MOST_LINES:
        raise BadText(
            translatable("The comment has {length} lines; shorten it to {most} at most."),
            length=plain.count("\n") + 1,
            most=MOST_LINES,
        )
    return plain


def _visible(line: str) -> str:
    """Return the line without invisible characters, and without more accents on a letter than any language needs."""
    visible, accents = [], 0
    for char in unicodedata.normalize("NFC", line):
        accents = accents + 1 if unicodedata.category(char) in ("Mn", "Me") else 0
        if accents <= MOST_ACCENTS and (char == " " or manifest.printable(char)):
            visible.append(char)
    return "".join(visible).strip()
