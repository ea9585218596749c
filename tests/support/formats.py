"""Plays formats to their end without cards: results drawn from strengths, in any order of finishing."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from typing import Any

from league.pure.formats import FORMATS, Field, Outcome, Pairing, Sheet, Slot

Winner = Callable[[Pairing, int], Sequence[int]]  # table and board number -> scores by place at the table


def field(key: str, entries: int, *, boards: int = 2, seats: int = 2, **more: Any) -> Field:
    """Return a field with all parameters of a format; keywords that `Field` does not have are parameters."""
    own = {name: more.pop(name) for name in ("mixed", "seeds", "withdrawn", "since", "lot", "revision") if name in more}
    return Field(entries=entries, boards=boards, seats=seats, values=FORMATS[key].complete(more), **own)


def by_number(table: Pairing, board: int) -> list[int]:
    """Let the entry with the smaller number win every board."""
    return [100 - entry for entry in table.entries]


def level(table: Pairing, board: int) -> list[int]:
    """Draw every board."""
    return [50] * len(table.entries)


def by_chance(seed: int, strengths: Mapping[int, float]) -> Winner:
    """Return a winner by strength and luck, drawn by table and board."""

    def scores(table: Pairing, board: int) -> list[int]:
        rng = random.Random(f"{seed} {table.name} {board}")
        return [round(100 * strengths[entry] + rng.gauss(0, 100)) for entry in table.entries]

    return scores


def paired(winner: Winner) -> Winner:
    """Return the same winner for mixed pairs: both partners get the sum of what they would have alone."""

    def scores(table: Pairing, board: int) -> list[int]:
        a, c, b, d = winner(table, board)
        return [a + b, c + d, a + b, c + d]

    return scores


def look(key: str, played: Field, results: Mapping[Slot, Any], drawn: Sequence[Pairing] = ()) -> tuple[Outcome, Sheet]:
    """Play a format once with these results; return its outcome, and the sheet."""
    sheet = Sheet.for_field(played, results, drawn)
    return FORMATS[key].play(played, sheet), sheet


def play_out(key: str, played: Field, winner: Winner, *, order: int = 0, most: int = 20_000) -> tuple[Outcome, Sheet]:
    """Play a tournament to its end, some matches at a time, in an order drawn by `order`. Check at every step what holds for every format."""
    rng = random.Random(order)
    results: dict[Slot, list[Sequence[int]]] = {}
    drawn: list[Pairing] = []
    while True:
        verdict, sheet = look(key, played, results, drawn)
        assert sheet.pairings[: len(drawn)] == drawn or {t.slot for t in drawn} <= {t.slot for t in sheet.pairings}
        by_slot = {table.slot: table for table in drawn}
        assert all(by_slot.get(table.slot, table) == table for table in sheet.pairings), "a table has changed"
        drawn += [table for table in sheet.pairings if table.slot not in by_slot]
        sound(played, sheet.pairings)
        if verdict.over:
            assert len(results) == len(sheet.pairings)
            return verdict, sheet
        open_tables = [table for table in sheet.pairings if table.slot not in results]
        assert open_tables, "nothing to play and not over"
        assert len(results) < most, "no end"
        for table in rng.sample(open_tables, min(len(open_tables), rng.randint(1, 4 + len(open_tables) // 16))):
            results[table.slot] = [
                [score for _, score in sorted(zip(table.entries, winner(table, board), strict=True))]
                for board in range(table.first, table.first + table.boards)
            ]


def sound(played: Field, tables: Sequence[Pairing]) -> None:
    """Check that nobody sits twice at a table, every table is full, and no table has the same board twice."""
    boards: Counter[tuple[str, int]] = Counter()
    for table in tables:
        assert len(set(table.entries)) == len(table.entries) == (4 if played.mixed else played.seats)
        assert set(table.entries) <= set(range(played.entries))
        boards.update((table.name, number) for number in range(table.first, table.first + table.boards))
    assert set(boards.values()) <= {1}
    last: dict[str, int] = {}
    for name, number in boards:
        last[name] = max(number, last.get(name, 0))
    assert sum(last.values()) == len(boards), "the boards of a name are numbered without a gap"


def met(tables: Sequence[Pairing]) -> Counter[tuple[int, int]]:
    """Count the tables that each pair shares."""
    return Counter(pair for table in tables for pair in combinations(sorted(table.entries), 2))


def places(verdict: Outcome) -> list[list[int]]:
    """Return the levels of the ranking, best first."""
    return verdict.rank().levels
