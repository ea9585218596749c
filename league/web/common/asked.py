"""What people and robots write into addresses and forms, made harmless: a form of Django's does that by itself, these are for the rest."""

from __future__ import annotations


def number(text: str | None) -> int | None:
    """A whole number of at most nine ASCII digits; None for anything else."""
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 10 else None


def words(text: str, most: int) -> str:
    """At most so many characters, without NUL, which PostgreSQL takes in no text."""
    return text.replace("\0", "").strip()[:most]
