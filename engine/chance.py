"""Where the cards come from: keyed hashes, one digest a deal, the same on every machine and Python version."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Sequence
from functools import cache
from struct import unpack


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

    Fisher-Yates, fed by HMAC-SHA256. A digest is four 64-bit words; a word serves several draws, as a number below the product of their
    ranges, and is thrown away when it is not below the largest multiple of that product: every permutation has the same chance.
    """
    deck = list(cards)
    message = b"deal\n%d" % deal
    words = unpack(">4Q", hmac.digest(seed, message, "sha256"))
    place = 0
    for limit, low, high in _draws(len(deck)):
        while True:
            if place == len(words):
                message += b"\nmore"
                words = unpack(">4Q", hmac.digest(seed, message, "sha256"))
                place = 0
            word = words[place]
            place += 1
            if word < limit:
                break
        for i in range(high, low, -1):
            word, j = divmod(word, i)
            i -= 1
            deck[i], deck[j] = deck[j], deck[i]
    return deck


@cache
def _draws(n: int) -> tuple[tuple[int, int, int], ...]:
    """Which draws share a word: (limit of the word, low, high) for the ranges high, high - 1, ..., low + 1."""
    found = []
    high = n
    while high > 1:
        low, product = high, 1
        while low > 1 and product * low <= 1 << 57:
            product *= low
            low -= 1
        found.append((2**64 - 2**64 % product, low, high))
        high = low
    return tuple(found)


def pick(seed: bytes, label: str, n: int) -> int:
    """A fair number 0..n-1 for one named question, such as who deals first."""
    number = int.from_bytes(hmac.digest(seed, f"pick\n{label}".encode(), "sha256"), "big")
    return number % n  # the bias of a 256-bit number is below 2**-250
