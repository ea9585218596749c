"""Brackets: seeds, byes, level matches, two lives."""

from __future__ import annotations

from collections import Counter

import pytest

from league.pure.formats import FORMATS
from league.pure.formats.knockout import seeded
from tests.support.formats import by_chance, by_number, field, level, look, places, play_out


def test_seeds_of_a_bracket_of_eight():
    assert seeded(range(8)) == [0, 7, 3, 4, 1, 6, 2, 5]
    assert seeded(range(5)) == [0, None, 3, 4, 1, None, 2, None]


@pytest.mark.parametrize("n", range(2, 34))
def test_byes_go_to_the_top_seeds_and_never_meet(n):
    line = seeded(range(n))

    pairs = [line[i : i + 2] for i in range(0, len(line), 2)]
    assert not any(pair == [None, None] for pair in pairs)
    free = {a if b is None else b for a, b in pairs if None in (a, b)}
    assert free == set(range(len(line) - n))


@pytest.mark.parametrize("n", [2, 3, 5, 8, 13, 16])
def test_the_better_seed_goes_through_and_the_final_is_one_against_two(n):
    verdict, sheet = play_out("single_elimination", field("single_elimination", n, bronze=False), by_number)

    assert len(sheet.pairings) == n - 1
    final = verdict.bracket[-1]
    assert (final.part, final.first, final.second, final.winner, final.decided_by) == ("final", 0, 1, 0, "boards")
    assert places(verdict)[:2] == [[0], [1]]
    times = Counter(entry for table in sheet.pairings for entry in table.entries)
    assert max(times.values()) <= max(table.round for table in sheet.pairings)


def test_bronze_parts_the_losers_of_the_semifinals():
    with_it, _ = play_out("single_elimination", field("single_elimination", 8), by_number)
    without, _ = play_out("single_elimination", field("single_elimination", 8, bronze=False), by_number)

    assert places(with_it) == [[0], [1], [2], [3], [4, 5, 6, 7]]
    assert places(without) == [[0], [1], [2, 3], [4, 5, 6, 7]]


def test_seeding_by_rating_decides_who_meets():
    _, sheet = look("single_elimination", field("single_elimination", 4, seeds=(3, 1, 0, 2)), {})

    assert [table.entries for table in sheet.pairings] == [(3, 2), (1, 0)]


def test_a_level_match_gets_extra_boards_then_the_seed_decides_and_says_so():
    verdict, sheet = play_out("single_elimination", field("single_elimination", 2, extra=2, cap=5), level)

    assert [(table.first, table.boards) for table in sheet.pairings] == [(1, 2), (3, 2), (5, 2), (7, 1)]
    assert [(pairing.winner, pairing.decided_by) for pairing in verdict.bracket] == [(0, "seed")]


def test_extra_boards_decide_as_soon_as_they_do():
    def late(table, board):
        return [50, 50] if board < 4 else [10, 90]

    verdict, sheet = play_out("single_elimination", field("single_elimination", 2, extra=2, cap=8), late)

    assert [table.boards for table in sheet.pairings] == [2, 2]
    assert [(pairing.winner, pairing.decided_by) for pairing in verdict.bracket] == [(1, "extra")]


def test_points_decide_before_the_seed():
    def split(table, board):
        return [100, 0] if board % 2 else [10, 20]

    verdict, _ = play_out("single_elimination", field("single_elimination", 2, cap=2), split)

    assert [(pairing.winner, pairing.decided_by) for pairing in verdict.bracket] == [(0, "points")]


@pytest.mark.parametrize("n", [3, 4, 5, 6, 7, 8, 11, 16])
def test_double_elimination_gives_everybody_two_lives(n):
    for seed in range(3):
        verdict, sheet = play_out(
            "double_elimination",
            field("double_elimination", n),
            by_chance(seed, dict.fromkeys(range(n), 0.0)),
            order=seed,
        )

        lost = Counter(pairing.loser for pairing in verdict.bracket if pairing.loser is not None)
        winner = places(verdict)[0][0]
        assert {entry: lost[entry] for entry in range(n) if entry != winner} == {
            entry: 2 for entry in range(n) if entry != winner
        }
        played = sum(pairing.loser is not None for pairing in verdict.bracket)
        assert played == 2 * n - 2 + lost[winner]
        assert lost[winner] <= 1
        for number in {table.round for table in sheet.pairings}:
            pairs = {table.name for table in sheet.pairings if table.round == number}
            seated = [entry for name in pairs for entry in name.split("-")]
            assert len(seated) == len(set(seated))


def test_double_elimination_without_upsets():
    verdict, _ = play_out("double_elimination", field("double_elimination", 8), by_number)

    assert places(verdict)[:4] == [[0], [1], [2], [3]]
    assert [pairing.part for pairing in verdict.bracket].count("final") == 1


def test_a_second_final_where_the_first_one_makes_both_lose_once():
    def upset(table, board):  # 1 loses the winners' final to 0 and wins from then on
        return [entry if table.name == "0-1" and board > 2 else 100 - entry for entry in table.entries]

    verdict, _ = play_out("double_elimination", field("double_elimination", 4), upset)

    finals = [pairing for pairing in verdict.bracket if pairing.part == "final"]
    assert [(pairing.first, pairing.second, pairing.winner) for pairing in finals] == [(0, 1, 1), (0, 1, 1)]
    assert places(verdict)[0] == [1]


def test_pairings_start_as_soon_as_both_are_known():
    played = field("single_elimination", 4, bronze=False)
    _, sheet = look("single_elimination", played, {})
    results = {sheet.pairings[0].slot: [(9, 1), (9, 1)]}

    assert len(look("single_elimination", played, results)[1].pairings) == 2
    assert FORMATS["single_elimination"].size(played).matches == (3, 15)
