"""Schedules proved by enumeration, and against the published Berger tables."""

from collections import Counter
from itertools import combinations
from math import comb

import pytest

from league.pure.pairing.movements import base_blocks, berger, cyclic_tables, plays_all, round_robin, total_tables
from tests.support.parts import mostly_slow

# FIDE Handbook C.05, annex 1
PUBLISHED = {
    4: ["1-4 2-3", "4-3 1-2", "2-4 3-1"],
    6: ["1-6 2-5 3-4", "6-4 5-3 1-2", "2-6 3-1 4-5", "6-5 1-4 2-3", "3-6 4-2 5-1"],
    8: [
        "1-8 2-7 3-6 4-5",
        "8-5 6-4 7-3 1-2",
        "2-8 3-1 4-7 5-6",
        "8-6 7-5 1-4 2-3",
        "3-8 4-2 5-1 6-7",
        "8-7 1-6 2-5 3-4",
        "4-8 5-3 6-2 7-1",
    ],
    10: [
        "1-10 2-9 3-8 4-7 5-6",
        "10-6 7-5 8-4 9-3 1-2",
        "2-10 3-1 4-9 5-8 6-7",
        "10-7 8-6 9-5 1-4 2-3",
        "3-10 4-2 5-1 6-9 7-8",
        "10-8 9-7 1-6 2-5 3-4",
        "4-10 5-3 6-2 7-1 8-9",
        "10-9 1-8 2-7 3-6 4-5",
        "5-10 6-4 7-3 8-2 9-1",
    ],
}


@pytest.mark.parametrize("n", PUBLISHED)
def test_berger_equals_the_published_table(n):
    published = [[tuple(int(x) - 1 for x in pair.split("-")) for pair in line.split()] for line in PUBLISHED[n]]

    assert [set(pairs) for pairs in berger(n)] == [set(pairs) for pairs in published]


@pytest.mark.parametrize("n", range(2, 42))
def test_berger_lets_each_pair_meet_once(n):
    rounds = berger(n)

    met = Counter(frozenset(pair) for pairs in rounds for pair in pairs)
    assert set(met.values()) == {1}
    assert len(met) == comb(n, 2) == total_tables(n, 2)
    assert len(rounds) == (n - 1 if n % 2 == 0 else n)
    for pairs in rounds:
        seated = [entry for pair in pairs for entry in pair]
        assert len(seated) == len(set(seated)) == n - n % 2
    first = Counter(pair[0] for pairs in rounds for pair in pairs)
    assert max(first.values()) - min(first.get(entry, 0) for entry in range(n)) <= 1


@pytest.mark.parametrize("seats", [3, 4, 5, 6])
def test_small_fields_play_every_combination(seats):
    for n in range(seats, seats + 4):
        tables = [table for tables in round_robin(n, seats) for table in tables]

        assert plays_all(n, seats)
        assert sorted(tables) == sorted(combinations(range(n), seats))
        assert len(tables) == total_tables(n, seats)


@pytest.mark.parametrize(
    ("n", "seats"),
    mostly_slow(
        [(13, 3), (18, 3), (42, 3), (11, 4), (25, 4), (64, 4), (20, 5), (40, 5), (12, 6), (31, 6), (60, 6)],
        lambda case: case[0] < 18,
    ),
)
def test_large_fields_play_balanced_tables(n, seats):
    tables = cyclic_tables(n, seats)

    assert not plays_all(n, seats)
    blocks = len(base_blocks(n, seats))
    assert len(tables) == n * blocks == total_tables(n, seats)
    assert all(len(set(table)) == seats for table in tables)
    at = Counter((entry, seat) for table in tables for seat, entry in enumerate(table))
    assert {at[entry, seat] for entry in range(n) for seat in range(seats)} == {blocks}
    met = Counter(pair for table in tables for pair in combinations(sorted(table), 2))
    times = [met[pair] for pair in combinations(range(n), 2)]
    assert max(times) - min(times) <= 1
    assert min(times) >= 1
    assert blocks <= -(-(n - 1) // (seats * (seats - 1))) + 1


@pytest.mark.parametrize(("n", "seats"), [(5, 3), (7, 4), (20, 4), (9, 6)])
def test_no_entry_sits_twice_in_a_round(n, seats):
    for tables in round_robin(n, seats):
        seated = [entry for table in tables for entry in table]
        assert len(seated) == len(set(seated))


# found by a seeded climb, as the first are; the floats that it compares add up otherwise from Python 3.12 on
BLOCKS = {
    (24, 3): ((16, 11, 4), (18, 22, 21), (19, 3, 13), (9, 11, 20)),
    (15, 4): ((1, 14, 6, 5), (3, 7, 13, 0)),
    (39, 4): ((3, 34, 9, 0), (14, 25, 2, 21), (23, 8, 21, 3), (11, 3, 32, 10)),
    (11, 5): ((6, 4, 5, 2, 10),),
    (20, 6): ((18, 14, 10, 0, 9, 17),),
}


def test_blocks_are_the_same_in_every_version_of_python():
    assert {size: base_blocks(*size) for size in BLOCKS} == BLOCKS


def test_cyclic_design_is_pinned():
    """A running tournament makes its schedule again at every step: the same numbers must come out on every Python."""
    assert base_blocks(21, 5) == ((17, 1, 15, 2, 5),)


@pytest.mark.parametrize(("n", "seats"), [(1, 2), (0, 2), (2, 3), (5, 6)])
def test_too_few_entries_are_refused(n, seats):
    with pytest.raises(ValueError, match=f"{n} entries cannot fill a table of {seats}"):
        round_robin(n, seats)


@pytest.mark.parametrize("seats", [0, 1, 7])
def test_tables_that_no_game_has_are_refused(seats):
    with pytest.raises(ValueError, match="a table has 2 to 6 seats"):
        round_robin(9, seats)
