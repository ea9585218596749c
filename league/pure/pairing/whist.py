"""Movements for mixed pairs: tables of four entries, a and b against c and d, all individuals with changing partners.

For 4, 8, 12, ... 28 and for primes 5, 13, 17, 29, ...: a whist tournament, in which every pair is partners once and opponents twice. For any other
n >= 5: cyclic tables with level partner and opponent differences, so that each count has a spread of one. Seats run round the table, so a table is
written (a, c, b, d): seats 0 and 2 play against 1 and 3.

Sources: Moore 1896 (starters mod a prime); Anderson, Combinatorial Designs and Tournaments (1997), chapter on whist.
"""

from __future__ import annotations

import random
from collections import Counter
from functools import lru_cache
from typing import TypeAlias

from engine.portable import add_up

Partners: TypeAlias = tuple[int, int, int, int]  # a, b against c, d.
Rounds: TypeAlias = list[list[tuple[int, ...]]]

# The first round of a whist tournament of n = 4t: residues mod n - 1, and n - 1 itself, which never moves. Found by search; the tests prove them.
STARTERS: dict[int, tuple[Partners, ...]] = {
    4: ((3, 0, 2, 1),),
    8: ((7, 0, 3, 1), (2, 6, 5, 4)),
    12: ((11, 0, 7, 10), (1, 2, 4, 6), (3, 8, 9, 5)),
    16: ((15, 0, 14, 11), (1, 2, 8, 6), (3, 10, 4, 13), (5, 9, 7, 12)),
    20: ((19, 0, 11, 6), (1, 2, 15, 17), (3, 10, 18, 12), (4, 7, 5, 14), (8, 16, 9, 13)),
    24: ((23, 0, 20, 6), (1, 2, 11, 4), (3, 13, 21, 17), (5, 22, 10, 12), (7, 19, 18, 15), (8, 16, 9, 14)),
    28: (
        (27, 0, 24, 25),
        (1, 3, 19, 7),
        (2, 6, 9, 20),
        (4, 12, 26, 16),
        (5, 14, 15, 22),
        (8, 21, 13, 10),
        (11, 17, 18, 23),
    ),
}


def movement(n: int) -> Rounds:
    """Return the tables of n mixed entries in rounds; in a whist tournament nobody sits twice in a round."""
    if n < 4:
        raise ValueError(f"{n} entries cannot fill a table of 4; enter at least 4")
    starter = STARTERS.get(n) or _starter_of_prime(n)
    if starter:
        m = n if n % 4 == 1 else n - 1
        return [[_seated(tuple(x if x == m else (x + r) % m for x in t)) for t in starter] for r in range(m)]
    return [[_seated(tuple((x + shift) % n for x in block))] for block in level_blocks(n) for shift in range(n)]


def is_whist(n: int) -> bool:
    """Return True if `movement` is a whist tournament."""
    return n in STARTERS or bool(_starter_of_prime(n))


def total_tables(n: int) -> int:
    """Return the number of tables of `movement`: n (n - 1) / 4, or n times the number of blocks."""
    return n * (n - 1) // 4 if is_whist(n) else n * len(level_blocks(n))


def _seated(partners: tuple[int, ...]) -> tuple[int, ...]:
    a, b, c, d = partners
    return a, c, b, d


def _starter_of_prime(n: int) -> tuple[Partners, ...]:
    """Return the starter of a prime n = 4t + 1 with primitive root g: (g^i, g^(i+2t)) against (g^(i+t), g^(i+3t)), i < t; one entry rests."""
    if n % 4 != 1 or any(n % q == 0 for q in range(2, int(n**0.5) + 1)):
        return ()
    t = (n - 1) // 4
    g = next(g for g in range(2, n) if len({pow(g, e, n) for e in range(n - 1)}) == n - 1)
    return tuple((pow(g, i, n), pow(g, i + 2 * t, n), pow(g, i + t, n), pow(g, i + 3 * t, n)) for i in range(t))


@lru_cache(maxsize=64)
def level_blocks(n: int) -> tuple[Partners, ...]:
    """Return the fewest blocks found whose partner and opponent differences mod n are level. The result is the same on every Python.

    Only `Random.random` is used, whose sequence Python promises, and floats are added one by one: their last bits decide whether a change makes the
    blocks worse, and so how many numbers are drawn.
    """
    count = -(-(n - 1) // 4)
    while True:
        for attempt in range(8):
            blocks = _climb(n, count, random.Random(f"whist/{n}/{count}/{attempt}"))
            if blocks:
                return blocks
        count += 1


def _climb(n: int, count: int, rng: random.Random) -> tuple[Partners, ...] | None:
    """Run one hill climb: replace single residues while that levels the differences; return None if it fails."""
    blocks = [_four(n, rng) for _ in range(count)]
    met = [Counter[int](), Counter[int]()]
    for block in blocks:
        _count(met, n, block, 1)
    aims = (4 * count / (n - 1), 8 * count / (n - 1))
    steps = 4000
    for step in range(steps):
        if all(_spread(kind, n) <= 1 for kind in met):
            return tuple((b[0], b[1], b[2], b[3]) for b in blocks)
        block = blocks[int(rng.random() * count)]
        seat, new = int(rng.random() * 4), int(rng.random() * n)
        if new in block:
            continue
        before, old = _cost(met, n, aims), block[seat]
        _count(met, n, block, -1)
        block[seat] = new
        _count(met, n, block, 1)
        worse = _cost(met, n, aims) - before
        if worse > 0 and rng.random() >= 2.718281828 ** (-worse / max(0.02, 1.5 * (1 - step / steps))):
            _count(met, n, block, -1)
            block[seat] = old
            _count(met, n, block, 1)
    return None


def _four(n: int, rng: random.Random) -> list[int]:
    chosen: list[int] = []
    while len(chosen) < 4:
        x = int(rng.random() * n)
        if x not in chosen:
            chosen.append(x)
    return chosen


def _count(met: list[Counter[int]], n: int, block: list[int], times: int) -> None:
    """Count partners in the first counter and opponents in the second, under the smaller difference mod n. A difference of n / 2 counts twice."""
    a, b, c, d = block
    for kind, pairs in enumerate((((a, b), (c, d)), ((a, c), (a, d), (b, c), (b, d)))):
        for x, y in pairs:
            difference = min((x - y) % n, (y - x) % n)
            met[kind][difference] += 2 * times if 2 * difference == n else times


def _spread(met: Counter[int], n: int) -> int:
    times = [met[d] for d in range(1, n // 2 + 1)]
    return max(times) - min(times)


def _cost(met: list[Counter[int]], n: int, aims: tuple[float, float]) -> float:
    apart = ((weight, met[kind][d] - aims[kind]) for kind, weight in ((0, 2), (1, 1)) for d in range(1, n // 2 + 1))
    return add_up(weight * (x * x) for weight, x in apart)
