"""Neighbours: who sits beside whom at tables of individual seats and of mixed pairs.

A table of k entries can be seated in several circular *orders*. Every board is played in all k rotations of one order, so an order determines who
plays after whom, not who has which cards. A table uses its orders match by match, each followed by its reverse. After one *block* of orders every
entry has played equally often right after each other entry and, at tables of five or fewer, at every other distance too. Within a block the next
order is the one that best levels the counts of the whole tournament.

Sources: for a prime k the orders i -> i m mod k (Williams 1949). Tillson 1980: for 4 and 6, no k - 1 orders level the neighbours. The twenty orders
of six are the images of one of them under PGL(2, 5), which moves any three places to any three, so together they are level at every distance; of
their ten pairs with their reverses five level the neighbours, and so do the other five.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TypeAlias

Order: TypeAlias = tuple[int, ...]  # Places of the sorted table in circular order, beginning with 0.
Block: TypeAlias = tuple[Order, ...]  # An order, its reverse, another one, its reverse, ...


def _reversed(order: Order) -> Order:
    return order[:1] + order[:0:-1]


def _both(*orders: Order) -> Block:
    return tuple(variant for order in orders for variant in (order, _reversed(order)))


BLOCKS: dict[int, tuple[Block, ...]] = {
    3: (_both((0, 1, 2)),),
    4: (_both((0, 1, 2, 3), (0, 1, 3, 2), (0, 2, 1, 3)),),
    5: (_both((0, 1, 2, 3, 4), (0, 2, 4, 1, 3)),),
    6: (
        _both((0, 1, 2, 4, 5, 3), (0, 1, 3, 5, 2, 4), (0, 2, 1, 5, 4, 3), (0, 2, 3, 4, 1, 5), (0, 4, 1, 3, 2, 5)),
        _both((0, 1, 4, 2, 3, 5), (0, 1, 5, 3, 4, 2), (0, 2, 5, 1, 3, 4), (0, 3, 1, 2, 5, 4), (0, 3, 2, 1, 4, 5)),
    ),
}


@dataclass(slots=True)
class Neighbours:
    """The choice of the seats of successive tables.

    `mixed`: partners (places 0 and 2, 1 and 3) stay partners, and only their opponents change sides.
    """

    mixed: bool = False
    _after: Counter[tuple[int, int, int]] = field(default_factory=Counter)  # (a, b, d): b sat d places after a.
    _orders_used: dict[object, list[Order]] = field(default_factory=dict)  # Orders of each table, as entries.

    def seat(self, entries: Sequence[int]) -> tuple[int, ...]:
        """Return `entries` in the order in which they sit at their next match."""
        line = tuple(entries) if self.mixed else tuple(sorted(entries))
        used = self._orders_used.get(self._table(line), [])
        orders = self._orders(line, used)
        chosen = min(orders, key=self._crowd) if len(orders) > 1 else orders[0]
        self.note(chosen)
        return chosen

    def note(self, seated: Sequence[int]) -> None:
        """Count a table with these seats."""
        line = _turned(seated)
        self._orders_used.setdefault(self._table(line), []).append(line)
        self._after.update(_distances(line))

    def _table(self, line: Sequence[int]) -> object:
        return frozenset((frozenset(line[::2]), frozenset(line[1::2]))) if self.mixed else tuple(sorted(line))

    def _orders(self, line: Order, used: list[Order]) -> list[Order]:
        """Return the orders allowed for the next match: the reverse of the last one, else the unused ones of the block."""
        if len(used) % 2:
            return [_reversed(used[-1])]
        if self.mixed:
            return [_turned(line), _reversed(_turned(line))]
        blocks = BLOCKS[len(line)]
        size = len(blocks[0])
        block = [tuple(line[place] for place in order) for order in blocks[len(used) // size % len(blocks)]]
        taken = used[len(used) // size * size :]
        return [order for order in block if order not in taken] or block

    def _crowd(self, order: Order) -> int:
        after = self._after.get
        return sum([after(pair, 0) for pair in _distances(order)])


def _turned(seated: Sequence[int]) -> Order:
    """Return the same circle, beginning with the entry of the smallest number."""
    first = seated.index(min(seated))
    return (*seated[first:], *seated[:first])


@cache
def _places(size: int) -> list[tuple[int, int, int]]:
    """Return every two places of a circle of that size with their distance, without the distances that the reverse order covers."""
    return [(i, (i + d) % size, d) for d in range(1, size // 2 + 1) for i in range(size)]


def _distances(order: Order) -> list[tuple[int, int, int]]:
    """Return every two entries of the order with their distance."""
    return [(order[i], order[j], d) for i, j, d in _places(len(order))]
