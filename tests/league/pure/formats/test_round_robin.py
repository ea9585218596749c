"""Round robins: cycles, extension, stopping; mixed pairs; gauntlets."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from math import comb

import pytest

from league.pure.formats import FORMATS
from league.pure.pairing import whist
from tests.support.formats import by_chance, by_number, field, level, look, met, places, play_out
from tests.support.parts import mostly_slow


@pytest.mark.parametrize("n", [2, 3, 6, 9])
@pytest.mark.parametrize("cycles", [1, 2, 5])
def test_each_pair_meets_once_a_cycle_and_seats_are_reversed(n, cycles):
    _, sheet = look("round_robin", field("round_robin", n, cycles=cycles), {})

    assert set(met(sheet.pairings).values()) == {cycles}
    assert len(sheet.pairings) == cycles * comb(n, 2)
    first = Counter(table.entries for table in sheet.pairings)
    assert all(abs(first[a, b] - first[b, a]) == cycles % 2 for a, b in combinations(range(n), 2))
    for number in {table.round for table in sheet.pairings}:
        seated = [entry for table in sheet.pairings if table.round == number for entry in table.entries]
        assert len(seated) == len(set(seated))


@pytest.mark.parametrize(("n", "seats"), mostly_slow([(6, 2), (7, 3), (25, 4)], lambda case: case[0] < 25))
def test_more_cycles_extend_and_never_reshuffle(n, seats):
    short = look("round_robin", field("round_robin", n, seats=seats, cycles=1), {})[1].pairings
    long = look("round_robin", field("round_robin", n, seats=seats, cycles=3), {})[1].pairings

    assert long[: len(short)] == short
    assert len(long) == 3 * len(short)


def test_a_clear_best_ends_it_early_and_says_how_sure_it_is():
    verdict, sheet = play_out("round_robin", field("round_robin", 4, boards=8, cycles=50, sure=0.95), by_number)

    assert verdict.why == "settled"
    assert verdict.facts["chance_of_best"] >= 0.95
    assert len(sheet.pairings) == 6 * verdict.facts["cycles"] < 6 * 50
    assert places(verdict) == [[0], [1], [2], [3]]


def test_who_cannot_be_told_apart_at_the_cap_are_co_champions():
    verdict, _ = play_out("round_robin", field("round_robin", 4, boards=4, cycles=3, sure=0.99), level)

    assert (verdict.why, verdict.facts["champions"]) == ("co_champions", 4)
    assert places(verdict) == [[0, 1, 2, 3]]

    strengths = {0: 0.0, 1: 0.0, 2: -3.0, 3: -6.0}
    verdict, _ = play_out(
        "round_robin", field("round_robin", 4, boards=16, cycles=2, sure=0.999), by_chance(5, strengths)
    )
    assert verdict.why == "co_champions"
    assert [sorted(places(verdict)[0]), *places(verdict)[1:]] == [[0, 1], [2], [3]]


@pytest.mark.parametrize("n", [4, 5, 8, 12, 13, 16, 17, 20, 24, 28, 29, 37])
def test_whist_tournaments(n):
    """Every pair partners once and opponents twice; everybody in every round, or all but one."""
    partners, opponents = _sides(whist.movement(n))

    assert whist.is_whist(n)
    assert set(partners.values()) == {1}
    assert len(partners) == comb(n, 2)
    assert set(opponents.values()) == {2}
    assert len(opponents) == comb(n, 2)
    for tables in whist.movement(n):
        seated = [entry for table in tables for entry in table]
        assert len(set(seated)) == len(seated) == n - n % 4
    assert sum(map(len, whist.movement(n))) == whist.total_tables(n)


@pytest.mark.parametrize(
    "n", mostly_slow([6, 7, 9, 10, 11, 14, 18, 22, 25, 26, 30, 34, 40], lambda n: n in (7, 10, 11))
)
def test_other_mixed_movements_are_level(n):
    rounds = whist.movement(n)
    partners, opponents = _sides(rounds)

    assert not whist.is_whist(n)
    assert sum(map(len, rounds)) == whist.total_tables(n)
    for kind in (partners, opponents):
        times = [kind[pair] for pair in combinations(range(n), 2)]
        assert max(times) - min(times) <= 1
    at = Counter(entry for tables in rounds for table in tables for entry in table)
    assert len(set(at.values())) == 1
    assert len(at) == n


# found by a seeded climb: a tournament that has begun asks for its tables again after every match
BLOCKS = {
    7: ((6, 5, 0, 1), (1, 5, 2, 4)),
    10: ((8, 1, 0, 6), (1, 4, 5, 7), (2, 7, 3, 4)),
    14: ((9, 0, 1, 6), (9, 8, 2, 4), (8, 0, 3, 10), (8, 12, 13, 10)),
    18: ((2, 1, 0, 11), (12, 2, 17, 16), (3, 1, 13, 4), (15, 12, 8, 2), (3, 17, 10, 15)),
    22: ((18, 17, 14, 10), (15, 0, 6, 21), (6, 16, 17, 4), (19, 11, 1, 6), (0, 11, 13, 19), (21, 2, 6, 4)),
}


def test_mixed_movement_is_pinned_and_refuses_too_few():
    assert {n: whist.level_blocks(n) for n in BLOCKS} == BLOCKS
    assert whist.movement(5) == [[(1, 2, 4, 3)], [(2, 3, 0, 4)], [(3, 4, 1, 0)], [(4, 0, 2, 1)], [(0, 1, 3, 2)]]
    with pytest.raises(ValueError, match="3 entries cannot fill a table of 4"):
        whist.movement(3)


def _sides(rounds):
    partners, opponents = Counter(), Counter()
    for tables in rounds:
        for a, c, b, d in tables:
            partners.update([tuple(sorted((a, b))), tuple(sorted((c, d)))])
            opponents.update(tuple(sorted((x, y))) for x in (a, b) for y in (c, d))
    return partners, opponents


@pytest.mark.parametrize(("n", "challengers"), [(2, 1), (5, 1), (7, 2), (9, 3)])
def test_gauntlet_challengers_meet_all_others_and_nobody_else_meets(n, challengers):
    _, sheet = look("gauntlet", field("gauntlet", n, challengers=challengers, cycles=2), {})

    newest = set(range(n - challengers, n))
    assert met(sheet.pairings) == {(a, b): 2 for a in range(n - challengers) for b in newest}
    assert len(sheet.pairings) == 2 * challengers * (n - challengers)


@pytest.mark.parametrize(("n", "seats"), [(4, 3), (6, 3), (7, 4), (5, 5)])
def test_gauntlet_at_larger_tables_keeps_companies_level(n, seats):
    _, sheet = look("gauntlet", field("gauntlet", n, seats=seats), {})

    times = [met(sheet.pairings)[entry, n - 1] for entry in range(n - 1)]
    assert all(n - 1 in table.entries for table in sheet.pairings)
    assert len(set(times)) == 1


def test_gauntlet_needs_somebody_to_meet():
    with pytest.raises(ValueError, match="leaves too few to fill a table of 3"):
        FORMATS["gauntlet"].size(field("gauntlet", 4, seats=3, challengers=3))
