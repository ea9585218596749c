"""Neighbours at tables of individual seats and of mixed pairs, by enumeration."""

from __future__ import annotations

from collections import Counter
from itertools import permutations

import pytest

from league.pure.formats import Pairing, Sheet
from league.pure.pairing import movements, whist
from league.pure.pairing.neighbours import BLOCKS, Neighbours
from tests.support.formats import by_number, field, look, play_out
from tests.support.parts import mostly_slow

SMALL = [(n, seats) for seats in (3, 4, 5, 6) for n in range(seats, 11) if movements.plays_all(n, seats)]
LARGE = [(16, 3), (25, 3), (12, 4), (25, 4), (12, 5), (31, 5), (12, 6), (31, 6)]


def after(tables: list[Pairing] | list[tuple[int, ...]], distance: int) -> Counter[tuple[int, int]]:
    """Count how often the second sits `distance` places after the first."""
    lines = [table.entries if isinstance(table, Pairing) else table for table in tables]
    return Counter((line[i], line[(i + distance) % len(line)]) for line in lines for i in range(len(line)))


def spread(tables: list[Pairing] | list[tuple[int, ...]], entries: int, distance: int = 1) -> int:
    times = [after(tables, distance)[pair] for pair in permutations(range(entries), 2)]
    return max(times) - min(times)


def round_robin(n: int, seats: int, cycles: int, **more) -> list[Pairing]:
    return look("round_robin", field("round_robin", n, seats=seats, cycles=cycles, **more), {})[1].pairings


@pytest.mark.parametrize(("seats", "matches"), [(3, 2), (4, 6), (5, 4), (6, 10)])
def test_a_table_is_level_after_one_block(seats, matches):
    seating = Neighbours()
    line = [seating.seat(range(seats)) for _ in range(4 * matches)]

    for block in range(4):
        part = line[block * matches : (block + 1) * matches]
        assert len(set(part)) == matches == len(BLOCKS[seats][0])
        assert spread(part, seats) == 0
        assert seats == 6 or spread(part, seats, 2) == 0
    assert line[: 2 * matches] == line[2 * matches :]
    for pair in range(0, len(line), 2):
        assert spread(line[pair : pair + 2], seats) <= 1
        beside = after(line[pair : pair + 2], 1)
        assert all(times == beside[b, a] for (a, b), times in beside.items())


def test_six_seats_are_level_at_every_distance_after_twenty():
    seating = Neighbours()
    line = [seating.seat(range(6)) for _ in range(20)]

    assert len(set(line)) == 20
    assert [spread(line, 6, distance) for distance in (1, 2, 3)] == [0, 0, 0]


@pytest.mark.parametrize(("n", "seats"), mostly_slow(SMALL, lambda case: case[0] < 9))
def test_a_round_robin_is_level_from_its_first_cycle_on(n, seats):
    """Exactly after a block of cycles; before, counts differ by 5 and a sixth of their mean at most."""
    block = len(BLOCKS[seats][0])
    tables = round_robin(n, seats, block)
    cycle = len(tables) // block

    assert spread(tables, n) == 0
    for cycles in range(1, block):
        mean = cycles * cycle * seats / (n * (n - 1))  # Mean number of times that one sits after the other
        assert spread(tables[: cycles * cycle], n) <= 5 + mean / 6


@pytest.mark.parametrize(("n", "seats"), LARGE)
def test_balanced_tables_of_a_large_field_are_level_too(n, seats):
    tables = round_robin(n, seats, 1)

    assert not movements.plays_all(n, seats)
    assert max(after(tables, 1).values()) <= 2
    assert spread(tables, n) <= 2


@pytest.mark.parametrize("n", [4, 5, 8, 9, 13, 16])
def test_mixed_opponents_change_sides_and_partners_stay(n):
    once, twice = (round_robin(n, 2, cycles, mixed=True) for cycles in (1, 2))

    partners = Counter(frozenset(part) for table in once for part in (table.entries[::2], table.entries[1::2]))
    seatings = [table for tables in whist.movement(n) for table in tables]
    assert partners == Counter(frozenset(part) for line in seatings for part in (line[::2], line[1::2]))
    beside = after(twice, 1)
    assert all(times == beside[b, a] for (a, b), times in beside.items())
    assert all(abs(times - after(once, 1)[b, a]) <= 3 for (a, b), times in after(once, 1).items())


@pytest.mark.parametrize(("n", "seats"), [(4, 4), (7, 3), (9, 4), (25, 4), (12, 6)])
def test_more_cycles_extend_the_seats_and_never_reshuffle(n, seats):
    long = round_robin(n, seats, 5)

    for cycles in range(1, 5):
        short = round_robin(n, seats, cycles)
        assert long[: len(short)] == short


@pytest.mark.parametrize("key", ["swiss", "gauntlet", "successive_halving"])
@pytest.mark.parametrize("seats", mostly_slow([3, 4, 5], (3).__eq__))
def test_other_formats_seat_by_the_same_law(key, seats):
    _, sheet = play_out(key, field(key, 9, seats=seats), by_number)

    again = Neighbours()
    assert [again.seat(table.entries) for table in sheet.pairings] == [table.entries for table in sheet.pairings]


def test_results_are_read_by_entry_however_they_sat():
    """Scores come by ascending entry and go back in the order in which the format named the table."""
    played = field("round_robin", 4, seats=4)
    sheet = Sheet.for_field(played, {("0-1-2-3", 1): [(10, 20, 30, 40)], ("0-1-2-3", 2): [(1, 2, 3, 4)]})

    assert sheet.seat(1, (3, 0, 2, 1), 1) == [(40, 10, 30, 20)]
    assert sheet.seat(2, (0, 1, 2, 3), 1) == [(1, 2, 3, 4)]
    assert sheet.pairings[0].entries != sheet.pairings[1].entries
    assert sheet.boards == [((3, 0, 2, 1), (40, 10, 30, 20)), ((0, 1, 2, 3), (1, 2, 3, 4))]


def test_a_tournament_of_the_first_revision_keeps_its_seats():
    old = round_robin(7, 4, 2, revision=1)
    seatings = [table for tables in movements.round_robin(7, 4) for table in tables]

    assert [table.entries for table in old] == [*seatings, *(table[::-1] for table in seatings)]
    assert {table.slot for table in old} == {table.slot for table in round_robin(7, 4, 2)}
    assert [t.entries for t in round_robin(6, 2, 2, revision=1)] == [t.entries for t in round_robin(6, 2, 2)]
