"""Consoles that cannot show every letter: a result is printed anyway."""

from __future__ import annotations

import codecs
import io
import sys

HANDLER = "tute-escape"


def escape_what_cannot_be_shown() -> None:
    r"""Let stdout and stderr write a letter that their encoding lacks as \u2660, which is the same letter in JSON."""
    codecs.register_error(HANDLER, _escape)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=HANDLER)


def _escape(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    units = error.object[error.start : error.end].encode("utf-16-be", "surrogatepass").hex()
    return "".join(rf"\u{units[at : at + 4]}" for at in range(0, len(units), 4)), error.end
