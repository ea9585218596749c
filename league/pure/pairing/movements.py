"""Movements: schedules of entries by number, 0 to n - 1, as pure functions of n and the seats of a table.

A bot can sit at many tables at the same time, so a round robin is a set of tables; rounds only give it a readable order. Every table plays all its
seatings, so no seat is better than another.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations
from math import comb
from typing import TypeAlias

from engine.portable import add_up
from league.pure.pairing import whist

TableOfEntries: TypeAlias = tuple[int, ...]
Rounds: TypeAlias = list[list[TableOfEntries]]

MOST_TABLES = 256  # Up to this number of tables, all combinations play; above it, a balanced cyclic design.
MOST_SEATS = 6


def berger(n: int) -> Rounds:
    """Return a round robin of n >= 2 entries by the Berger tables: everybody meets once; with odd n one entry rests in each round.

    Source: FIDE Handbook C.05 annex 1. With m = n - 1 (n made even), round r: a = r n / 2 mod m meets the last entry, which sits second in even
    rounds; (a + k) meets (a - k) mod m for k = 1 ... n / 2 - 1.
    """
    _check(n, 2)
    even = n + n % 2
    m = even - 1
    rounds: Rounds = []
    for r in range(m):
        a = r * (even // 2) % m
        pairs: list[TableOfEntries] = [(a, m) if r % 2 == 0 else (m, a)]
        pairs += [((a + k) % m, (a - k) % m) for k in range(1, even // 2)]
        rounds.append([pair for pair in pairs if max(pair) < n])
    return rounds


def round_robin(n: int, seats: int) -> Rounds:
    """Return the rounds of a round robin of n entries at tables of `seats` sides or individual seats (2 to 6).

    Two seats: Berger. More: all combinations up to MOST_TABLES tables, else `cyclic_tables`; no entry sits twice in a round.
    Raise ValueError for fewer entries than seats.
    """
    _check(n, seats)
    if seats == 2:
        return berger(n)
    return _rounds(list(combinations(range(n), seats)) if plays_all(n, seats) else cyclic_tables(n, seats))


def movement(n: int, seats: int, *, mixed: bool = False) -> Rounds:
    """Return one cycle of a round robin; with `mixed`, of pairs with changing partners (`league.pure.pairing.whist`)."""
    return whist.movement(n) if mixed else round_robin(n, seats)


def movement_size(n: int, seats: int, *, mixed: bool = False) -> int:
    """Return the number of tables of `movement`, by formula."""
    return whist.total_tables(n) if mixed else total_tables(n, seats)


def total_tables(n: int, seats: int) -> int:
    """Return the number of tables of `round_robin`, by formula: C(n, seats), or n times the number of base blocks."""
    _check(n, seats)
    return comb(n, seats) if plays_all(n, seats) else n * len(base_blocks(n, seats))


def plays_all(n: int, seats: int) -> bool:
    """Return True if a round robin of this size plays all combinations."""
    return seats == 2 or comb(n, seats) <= MOST_TABLES


def snake(line: Sequence[int], count: int) -> list[list[int]]:
    """Split a line of seeds, best first, into groups of even strength: 1 2 3, then 6 5 4, then 7 8 9 ... (a snake)."""
    groups: list[list[int]] = [[] for _ in range(count)]
    for place, entry in enumerate(line):
        row, column = divmod(place, count)
        groups[column if row % 2 == 0 else count - 1 - column].append(entry)
    return groups


def cyclic_tables(n: int, seats: int) -> list[TableOfEntries]:
    """Return balanced tables: all entries sit at equally many tables, and all pairs together equally often, with differences of at most one.

    Each base block of residues mod n is shifted by 0 ... n - 1, so every entry also sits in each seat once per block.
    """
    return [tuple((x + shift) % n for x in block) for block in base_blocks(n, seats) for shift in range(n)]


@lru_cache(maxsize=256)
def base_blocks(n: int, seats: int) -> tuple[TableOfEntries, ...]:
    """Return the fewest blocks found whose differences mod n are level (pairs meet equally often, plus or minus one).

    How often two entries meet depends only on their difference, so levelling the counts of the differences is enough; a seeded hill climb does it.
    Only `Random.random` is used, which Python promises not to change, and floats are added one by one (`engine.portable`).
    """
    _check(n, seats)
    count = -(-(n - 1) // (seats * (seats - 1)))  # Each pair meets at least once.
    while True:
        for attempt in range(12):
            blocks = _level_blocks(n, seats, count, random.Random(f"{n}/{seats}/{count}/{attempt}"))
            if blocks:
                return blocks
        count += 1


def _level_blocks(n: int, seats: int, count: int, rng: random.Random) -> tuple[TableOfEntries, ...] | None:
    """Run one hill climb: replace single residues while that levels the differences; return None if it fails."""
    blocks = [_sample(n, seats, rng) for _ in range(count)]
    meetings = [0] * (n // 2 + 1)

    def cost(times: list[int]) -> float:
        return add_up((value - aim) * (value - aim) for value in times[1:])

    for block in blocks:
        for x, y in combinations(block, 2):
            _count(meetings, n, x, y, 1)
    aim = count * seats * (seats - 1) / (n - 1)
    present = cost(meetings)
    steps = 6000
    for step in range(steps):
        if max(meetings[1:]) - min(meetings[1:]) <= 1:
            return tuple(tuple(block) for block in blocks)
        block = blocks[int(rng.random() * count)]
        seat, new = int(rng.random() * seats), int(rng.random() * n)
        if new in block:
            continue
        trial = meetings.copy()
        for other in block[:seat] + block[seat + 1 :]:
            _count(trial, n, other, block[seat], -1)
            _count(trial, n, other, new, 1)
        other_cost = cost(trial)
        worse = other_cost - present
        if worse <= 0 or rng.random() < 2.718281828 ** (-worse / max(0.02, 1 - step / steps)):
            block[seat] = new
            meetings, present = trial, other_cost
    return None


def _sample(n: int, seats: int, rng: random.Random) -> list[int]:
    """Draw different residues. `Random.sample` will not do, because its result may change between versions of Python."""
    chosen: list[int] = []
    while len(chosen) < seats:
        x = int(rng.random() * n)
        if x not in chosen:
            chosen.append(x)
    return chosen


def _count(meetings: list[int], n: int, x: int, y: int, times: int) -> None:
    """Count a meeting of x and y under the smaller difference mod n. A difference of n / 2 meets each of its pairs twice."""
    difference = min((x - y) % n, (y - x) % n)
    meetings[difference] += 2 * times if 2 * difference == n else times


def _rounds(tables: list[TableOfEntries]) -> Rounds:
    """Put each table into the first round where all its entries are free."""
    rounds: Rounds = []
    busy: list[set[int]] = []
    for seated in tables:
        number = next((i for i, taken in enumerate(busy) if taken.isdisjoint(seated)), len(rounds))
        if number == len(rounds):
            rounds.append([])
            busy.append(set())
        rounds[number].append(seated)
        busy[number].update(seated)
    return rounds


def _check(n: int, seats: int) -> None:
    if not 2 <= seats <= MOST_SEATS:
        raise ValueError(f"a table has 2 to {MOST_SEATS} seats, not {seats}")
    if n < seats:
        raise ValueError(f"{n} entries cannot fill a table of {seats}; enter at least {seats}")
