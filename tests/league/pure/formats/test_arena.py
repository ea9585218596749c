"""The arena: points with a bonus for wins in a row, and pairs by points that have not met lately."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest

from league.pure.formats import Pairing
from league.pure.formats.arena import FORMAT, LATELY
from tests.support.formats import by_chance, field, level, look, places, play_out


def scores_of(*leads: int) -> float:
    """The points of an entry that leads by so much in each of its matches, against one opponent."""
    drawn = [Pairing(1, "0-1", (0, 1), 1 + number, 1) for number in range(len(leads))]
    results = {table.slot: [(50 + lead, 50)] for table, lead in zip(drawn, leads, strict=True)}
    verdict, _sheet = look("arena", field("arena", 2, boards=1, most=max(2, len(leads))), results, drawn)
    return verdict.rank().breaks[0]["arena"]


@pytest.mark.parametrize(
    ("leads", "points"),
    [
        ((1,), 2),
        ((0,), 1),
        ((-1,), 0),
        ((1, 1), 4),
        ((1, 1, 1), 8),
        ((1, 1, 1, 1), 12),
        ((1, 1, 0, 1), 7),
        ((1, 1, -1, 1, 1, 1), 12),
    ],
)
def test_from_the_third_win_in_a_row_on_a_win_counts_double(leads, points):
    assert scores_of(*leads) == points


@pytest.mark.parametrize("n", [2, 3, 4, 5, 9, 40])
def test_nobody_meets_the_same_bot_too_soon_and_all_play_as_much(n):
    played = field("arena", n, boards=1, most=12, lot="a")
    verdict, sheet = play_out("arena", played, by_chance(1, {entry: -0.1 * entry for entry in range(n)}), order=n)
    met: dict[int, list[int]] = {entry: [] for entry in range(n)}
    for table in sheet.pairings:
        a, b = table.entries
        met[a].append(b)
        met[b].append(a)
    lately = min(LATELY, (n - 1) // 2)
    # Near the end few are left who may still play, so they meet sooner.
    soon = sum(
        other in line[max(0, i - lately) : i]
        for line in met.values()
        for i, other in enumerate(line[: 12 - lately - 2])
    )
    assert soon <= max(2, n // 4)
    assert max(map(len, met.values())) == 12
    assert min(map(len, met.values())) >= 12 - 2 * (n > 2)
    assert verdict.why == "budget"


@pytest.mark.parametrize(("seats", "n"), [(3, 3), (3, 7), (5, 5), (5, 12)])
def test_larger_tables_are_filled_by_points_and_all_play_as_much(seats, n):
    played = field("arena", n, boards=1, most=8, seats=seats, lot="a")
    verdict, sheet = play_out("arena", played, by_chance(1, {entry: -0.1 * entry for entry in range(n)}), order=n)
    games = Counter(entry for table in sheet.pairings for entry in table.entries)
    assert {len(set(table.entries)) for table in sheet.pairings} == {seats}
    assert max(games.values()) == 8
    assert sum(games.values()) >= 8 * n - seats * 8, "who is left over at the end finds no table"
    assert verdict.why == "budget"


@pytest.mark.parametrize(
    ("scores", "points"), [((9, 5, 1), (2, 1, 0)), ((5, 5, 1), (2, 2, 0)), ((9, 8, 7, 6, 5), (2, 2, 1, 0, 0))]
)
def test_a_win_at_a_larger_table_is_to_beat_more_than_one_loses_to(scores, points):
    seats = len(scores)
    drawn = [Pairing(1, "-".join(map(str, range(seats))), tuple(range(seats)), 1, 1)]
    verdict, _sheet = look("arena", field("arena", seats, boards=1, seats=seats), {drawn[0].slot: [scores]}, drawn)
    assert tuple(verdict.rank().breaks[entry]["arena"] for entry in range(seats)) == points


def test_leaders_meet_leaders():
    played = field("arena", 40, boards=1, most=30, lot="b")
    verdict, sheet = play_out("arena", played, by_chance(2, {entry: -0.2 * entry for entry in range(40)}))
    late = Counter(abs(a - b) <= 13 for a, b in (table.entries for table in sheet.pairings[300:]))
    assert late[True] > 1.2 * late[False], "a third of all pairs are that near; by chance 0.6 of them would be"
    assert set(places(verdict)[0]) <= set(range(8))


def test_who_has_left_gets_no_new_match_and_keeps_its_points():
    everybody = field("arena", 6, boards=1, most=10, lot="c")
    _verdict, sheet = look("arena", everybody, {})
    drawn = list(sheet.pairings)
    results = {table.slot: [(60, 50)] for table in drawn}
    smaller = field("arena", 6, boards=1, most=10, lot="c", withdrawn=frozenset({0, 1}))
    verdict, after = look("arena", smaller, results, drawn)
    assert not {0, 1} & {entry for table in after.pairings[len(drawn) :] for entry in table.entries}
    assert sum(breaks["arena"] for breaks in verdict.rank().breaks.values()) == 2 * len(drawn)


def test_the_secret_decides_who_meets_and_the_size_is_bounded():
    draws = {tuple(look("arena", field("arena", 10, lot=lot), {})[1].pairings) for lot in "abc"}
    assert len(draws) == 3
    assert FORMAT.size(field("arena", 40, boards=2, most=40)).boards[1] == 1600
    verdict, _sheet = play_out("arena", field("arena", 4, boards=1, most=4), level)
    assert places(verdict) == [[0, 1, 2, 3]]
    assert all(a.round == b.round for a, b in pairwise(look("arena", field("arena", 10), {})[1].pairings))
