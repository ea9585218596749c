"""Makes harmless what people and robots write into addresses and buttons. Django's forms do that by themselves; this is for the rest."""

from __future__ import annotations


def whole_number(text: str | None) -> int | None:
    """The value of at most nine ASCII digits; None for anything else."""
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 10 else None


def short_text(text: str, most: int) -> str:
    """At most `most` characters, without NUL, which PostgreSQL takes in no text."""
    return text.replace("\0", "").strip()[:most]
