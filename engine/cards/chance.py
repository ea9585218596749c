"""Chance: keyed hashes, one digest a deal, equal on every machine and Python version."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Sequence
from functools import cache, lru_cache
from struct import unpack
from typing import TYPE_CHECKING, TypeVar, final

if TYPE_CHECKING:
    from mypy_extensions import i64

Card = TypeVar(
    "Card"
)  # Not `int`: compiled, a shuffle would take each number out of its object and put it into a new one.


def as_seed(seed: bytes | str | int) -> bytes:
    """Return the 32-byte key of a match: bytes of that length unchanged, anything else by SHA-256 of its canonical text."""
    if isinstance(seed, bytes):
        return seed if len(seed) == 32 else hashlib.sha256(b"bytes:" + seed).digest()
    if isinstance(seed, bool) or not isinstance(seed, (int, str)):
        raise TypeError(f"seed must be bytes, str or int, not {seed!r}")
    return hashlib.sha256(f"{type(seed).__name__}:{seed}".encode()).digest()


def board_seed(secret: bytes, game: str, table: str, board: int) -> bytes:
    """Return the key of one board: HMAC-SHA256 of game, table and board number under the tournament's secret."""
    return hmac.digest(secret, f"board\n{game}\n{table}\n{board}".encode(), "sha256")


def bot_seed(secret: bytes, match: str, sitting: int, seat: int) -> int:
    """Return the random seed of a bot, 0 to 2**31 - 1. Its label differs from those of deals, so it reveals nothing about them."""
    return int.from_bytes(hmac.digest(secret, f"bot\n{match}\n{sitting}\n{seat}".encode(), "sha256")[:4], "big") >> 1


_INNER, _OUTER = (bytes(byte ^ pad for byte in range(256)) for pad in (0x36, 0x5C))


@lru_cache(maxsize=64)
def _pads(key: bytes) -> tuple[bytes, bytes]:
    """Return the two pads of a key, for the inner and the outer hash. All deals of a match use the same."""
    block = key.ljust(64, b"\0")
    return block.translate(_INNER), block.translate(_OUTER)


def keyed_hash(key: bytes, message: bytes) -> bytes:
    """Return HMAC-SHA256 (RFC 2104) for a key of at most 64 bytes. `hmac.digest` takes twice as long for such a short message."""
    inner, outer = _pads(key)
    sha256 = hashlib.sha256
    return sha256(outer + sha256(inner + message).digest()).digest()


def shuffle(seed: bytes, deal: int, cards: Sequence[Card]) -> list[Card]:
    """Return a fair permutation of the cards for one deal of a match. `seed` comes from `as_seed`.

    Fisher-Yates, fed by HMAC-SHA256. A digest is four 64-bit words; a word serves several draws, as a number below the product of their
    ranges. It is thrown away if it is not below the largest multiple of that product, so every permutation has the same chance.
    """
    deck = list(cards)
    message = b"deal\n%d" % deal
    words = unpack(">4Q", keyed_hash(seed, message))
    place = 0
    for limit, groups in _draws(len(deck)):
        while True:
            if place == len(words):
                message += b"\nmore"
                words = unpack(">4Q", keyed_hash(seed, message))
                place = 0
            word = words[place]
            place += 1
            if word < limit:
                break
        for product, ranges in groups:
            part: i64 = word % product
            word //= product
            i: i64
            last: i64
            for i, last in ranges:
                j = part % i
                part //= i
                card = deck[j]
                deck[j] = deck[last]
                deck[last] = card
    return deck


Group = tuple[int, tuple[tuple[int, int], ...]]  # product of the ranges; each range and the place it fills


@cache
def _draws(n: int) -> tuple[tuple[int, tuple[Group, ...]], ...]:
    """Return which draws share a word: (limit of the word, groups) for the ranges n, n - 1, ..., 2 in that order.

    One division takes a group out of the word. The rest is arithmetic on numbers below 2**30, which is twice as fast in Python.
    """
    draws = []
    high = n
    while high > 1:
        low, product = high, 1
        while low > 1 and product * low <= 1 << 57:
            product *= low
            low -= 1
        groups = []
        i = high
        while i > low:
            inside, ranges = 1, []
            while i > low and inside * i < 1 << 30:
                inside *= i
                ranges.append((i, i - 1))
                i -= 1
            groups.append((inside, tuple(ranges)))
        draws.append((2**64 - 2**64 % product, tuple(groups)))
        high = low
    return tuple(draws)


@final
class Dice:
    """Fast random numbers for playouts, equal compiled and as source: the 48-bit congruential generator of POSIX drand48."""

    __slots__ = ("x",)

    def __init__(self, seed: int) -> None:
        self.x: i64 = 0
        self.start(seed)

    def start(self, seed: int) -> None:
        """Restart from a seed, of which 32 bits count."""
        x: i64 = ((seed & 0xFFFFFFFF) << 16) | 0x330E
        for _ in range(4):  # neighbouring seeds must not start alike
            x = (x * 0x5DEECE66D + 11) & 0xFFFFFFFFFFFF
        self.x = x

    def below(self, n: i64) -> i64:
        """Return a number 0 to n - 1, each with the same chance (Lemire's method); n below 2**31. No dice are thrown for n = 1."""
        if n < 2:
            return 0
        x: i64 = (self.x * 0x5DEECE66D + 11) & 0xFFFFFFFFFFFF
        wide: i64 = (x >> 16) * n
        if wide & 0xFFFFFFFF < n:
            short: i64 = 0x100000000 % n
            while wide & 0xFFFFFFFF < short:
                x = (x * 0x5DEECE66D + 11) & 0xFFFFFFFFFFFF
                wide = (x >> 16) * n
        self.x = x
        return wide >> 32

    def shuffle(self, cards: Sequence[Card]) -> list[Card]:
        """Return the cards in random order."""
        deck = list(cards)
        i: i64 = len(deck)
        while i > 1:
            j: i64 = self.below(i)
            i -= 1
            card = deck[i]
            deck[i] = deck[j]
            deck[j] = card
        return deck


def pick(seed: bytes, label: str, n: int) -> int:
    """Return a fair number 0..n-1 for one named question, such as who deals first."""
    number = int.from_bytes(keyed_hash(seed, f"pick\n{label}".encode()), "big")
    return number % n  # the bias of a 256-bit number is below 2**-250
