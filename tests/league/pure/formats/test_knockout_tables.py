"""Knockout by tables: who sits, who goes on, who rests, how a level line is decided; by enumeration of field sizes."""

from __future__ import annotations

from collections import Counter

import pytest

from league.pure.formats import FORMATS
from tests.support.formats import by_chance, by_number, field, level, look, met, places, play_out
from tests.support.parts import mostly_slow

KEY = "single_elimination"


def played_at_once(played):
    """Whole rounds at a time; on every board the smallest number is first, the next one second, ..."""
    results = {}
    while True:
        verdict, sheet = look(KEY, played, results)
        if verdict.over:
            return verdict, sheet.pairings
        results |= {table.slot: [range(played.seats, 0, -1)] for table in sheet.pairings}


@pytest.mark.parametrize(
    ("seats", "on"),
    mostly_slow(
        [(seats, on) for seats in (3, 4, 5, 6) for on in range(1, seats)], lambda case: case[0] < 5 and case[1] < 3
    ),
)
def test_every_round_fills_its_tables_and_leaves_a_full_final(seats, on):
    for n in range(seats, 40):
        played = field(KEY, n, seats=seats, advance=on)
        verdict, tables = played_at_once(played)

        assert FORMATS[KEY].size(played).matches[0] == len(tables)
        order = places(verdict)
        alive = set(range(n))
        for number, gone in enumerate(reversed(order[seats:]), 1):
            line = [table.entries for table in tables if table.round == number]
            seated = {entry for table in line for entry in table}
            assert len(seated) == seats * len(line)
            assert seated <= alive
            assert alive - seated == set(sorted(alive)[: len(alive) - len(seated)]), "the top seeds rest"
            for table in line:
                out = set(table) & set(gone)
                assert 1 <= len(out) <= seats - on
                assert out == set(sorted(table)[-len(out) :]), "the last of each table go out"
            assert set(gone) <= seated
            alive -= set(gone)
        assert order[:seats] == [[entry] for entry in sorted(alive)], "the final is played for places"
        assert 0 in alive
        assert len(alive) == seats
        assert tables[-1].label == "final"
        assert set(tables[-1].entries) == alive


@pytest.mark.parametrize(
    ("n", "seats", "tables"), [(4, 4, 1), (8, 4, 3), (16, 4, 7), (9, 3, 4), (36, 6, 11), (64, 4, 31)]
)
def test_full_fields_halve(n, seats, tables):
    """Half of each table go on, of three seats one: the totals by formula."""
    assert FORMATS[KEY].size(field(KEY, n, seats=seats)).matches[0] == tables


def test_tables_are_a_snake_by_seed():
    _, sheet = look(KEY, field(KEY, 8, seats=4, seeds=(7, 6, 5, 4, 3, 2, 1, 0)), {})

    assert [sorted(table.entries) for table in sheet.pairings] == [[0, 3, 4, 7], [1, 2, 5, 6]]


def test_a_level_line_takes_extra_boards_then_the_score_then_the_seed():
    played = field(KEY, 8, seats=4, boards=1, extra=2, cap=4)
    first, second = ("0-3-4-7", "1-2-5-6")
    results = {(first, 1): [(4, 3, 2, 1)], (second, 1): [(9, 5, 5, 1)]}
    _, sheet = look(KEY, played, results)
    assert [table.slot for table in sheet.pairings[2:]] == [(second, 2)], "second and third are level"
    assert sheet.pairings[2].boards == 2

    results[second, 2] = [(9, 5, 6, 1), (9, 6, 5, 1)]
    _, sheet = look(KEY, played, results)
    assert [table.slot for table in sheet.pairings[3:]] == [(second, 4)]

    results[second, 4] = [(9, 5, 7, 1), (9, 6, 5, 1)]
    _, sheet = look(KEY, played, results)
    assert sheet.pairings[-1].label == "final", "the cap: the score decides"
    assert sorted(sheet.pairings[-1].entries) == [0, 1, 3, 5]

    results[second, 4] = [(9, 5, 6, 1), (9, 6, 5, 1)]
    _, sheet = look(KEY, played, results)
    assert sorted(sheet.pairings[-1].entries) == [0, 1, 2, 3], "level in all: the better seed"


@pytest.mark.parametrize("seats", [3, 4, 6])
def test_in_any_order_of_finishing_the_same_tables(seats):
    played = field(KEY, 17, seats=seats, boards=2)
    for winner in (by_number, level, by_chance(4, {entry: -0.2 * entry for entry in range(17)})):
        ends = [play_out(KEY, played, winner, order=order) for order in range(3)]

        assert len({tuple(sheet.pairings) for _, sheet in ends}) == 1
        assert all(places(verdict) == places(ends[0][0]) for verdict, _ in ends)


def test_more_cannot_go_on_than_sit_there():
    with pytest.raises(ValueError, match="advance is at most 2 at tables of 3, not 3"):
        FORMATS[KEY].size(field(KEY, 9, seats=3, advance=3))


# ---- mixed pairs


@pytest.mark.parametrize("n", [4, 5, 8, 11, 16, 30])
def test_mixed_swiss_pairs_nobody_twice_while_it_can_be_avoided(n):
    _, sheet = play_out("swiss", field("swiss", n, mixed=True, rounds=3), level)

    assert len(sheet.pairings) == 3 * (n // 4)
    together = Counter(
        frozenset(part) for table in sheet.pairings for part in (table.entries[::2], table.entries[1::2])
    )
    assert max(together.values()) == 1
    for number in (1, 2, 3):
        seated = [entry for table in sheet.pairings if table.round == number for entry in table.entries]
        assert len(seated) == len(set(seated)) == n - n % 4
    if n >= 16:
        assert max(met(sheet.pairings).values()) <= 2


def test_mixed_swiss_gives_both_partners_their_point():
    played = field("swiss", 4, mixed=True, rounds=1, boards=1)
    _, sheet = look("swiss", played, {})
    [table] = sheet.pairings
    assert {frozenset(table.entries[::2]), frozenset(table.entries[1::2])} == {frozenset({0, 3}), frozenset({1, 2})}

    verdict, _ = look("swiss", played, {table.slot: [(7, 2, 2, 7)]})

    points = {entry: row["match_points"] for entry, row in verdict.rank().breaks.items()}
    assert points == {0: 2, 3: 2, 1: 0, 2: 0}
    assert places(verdict) == [[0], [3], [1], [2]]


@pytest.mark.slow
def test_the_best_of_mixed_pairs_is_found_by_halving_and_on_a_ladder():
    """Strength of one's own shows through changing partners."""
    strengths = {entry: 2.0 if entry == 5 else 0.0 for entry in range(9)}

    def winner(table, board):
        a, c, b, d = by_chance(1, strengths)(table, board)
        return [a + b, c + d, a + b, c + d]

    for key, more in (("successive_halving", {"budget": 800}), ("ladder", {"budget": 120})):
        verdict, sheet = play_out(key, field(key, 9, mixed=True, boards=4, **more), winner)
        assert places(verdict)[0] == [5], key
        assert all(len(table.entries) == 4 for table in sheet.pairings)
