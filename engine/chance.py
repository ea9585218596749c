"""Where the cards come from: keyed hashes, one digest a deal, the same on every machine and Python version."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Sequence

_SPACE = 1 << 256


def as_seed(seed: bytes | str | int) -> bytes:
    """The 32-byte key of a match: bytes of that length as they are, anything else by SHA-256 of its canonical text."""
    if isinstance(seed, bytes):
        return seed if len(seed) == 32 else hashlib.sha256(b"bytes:" + seed).digest()
    if isinstance(seed, bool) or not isinstance(seed, (int, str)):
        raise TypeError(f"seed must be bytes, str or int, not {seed!r}")
    return hashlib.sha256(f"{type(seed).__name__}:{seed}".encode()).digest()


def board_seed(secret: bytes, game: str, table: str, board: int) -> bytes:
    """The key of one board: HMAC-SHA256 of game, table and board number under the tournament's secret."""
    return hmac.digest(secret, f"board\n{game}\n{table}\n{board}".encode(), "sha256")


def bot_seed(secret: bytes, match: str, sitting: int, seat: int) -> int:
    """The random seed that a bot is given, 0 to 2**31 - 1. Labelled apart from the deals, so it tells nothing about them."""
    return int.from_bytes(hmac.digest(secret, f"bot\n{match}\n{sitting}\n{seat}".encode(), "sha256")[:4], "big") >> 1


def shuffle(seed: bytes, deal: int, cards: Sequence[int]) -> list[int]:
    """A fair permutation of the cards for one deal of a match.

    One 256-bit digest, read as a number below n! in the factorial system; digests above the largest multiple of n! are drawn again, so
    that every permutation has the same chance. 52! is below 2**226: a second draw is needed less than once in 2**30 deals.
    """
    deck = list(cards)
    n = len(deck)
    limit = _limit(n)
    message = b"deal\n%d" % deal
    number = int.from_bytes(hmac.digest(seed, message, "sha256"), "big")
    while number >= limit:
        message += b"\nagain"
        number = int.from_bytes(hmac.digest(seed, message, "sha256"), "big")
    for i in range(n - 1, 0, -1):
        number, j = divmod(number, i + 1)
        deck[i], deck[j] = deck[j], deck[i]
    return deck


def pick(seed: bytes, label: str, n: int) -> int:
    """A fair number 0..n-1 for one named question, such as who deals first."""
    number = int.from_bytes(hmac.digest(seed, f"pick\n{label}".encode(), "sha256"), "big")
    return number % n  # the bias of a 256-bit number is below 2**-250


_LIMITS: dict[int, int] = {}


def _limit(n: int) -> int:
    if n not in _LIMITS:
        factorial = 1
        for i in range(2, n + 1):
            factorial *= i
        _LIMITS[n] = _SPACE - _SPACE % factorial
    return _LIMITS[n]
