"""Swiss rounds against the FIDE Dutch system, tie-breaks against published and computed numbers."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import pytest
from caissify_pairings import generate_pairings

from league.pure.formats import swiss, tiebreaks
from league.pure.formats.tiebreaks import CardLine
from tests.support.formats import by_chance, by_number, field, look, met, places, play_out

HALF = Fraction(1, 2)


@pytest.mark.parametrize("n", [4, 5, 7, 8, 13, 16])
@pytest.mark.parametrize("seed", [0, 1])
def test_nobody_meets_twice_and_byes_go_round(n, seed):
    _, sheet = play_out("swiss", field("swiss", n), by_chance(seed, {i: -0.5 * i for i in range(n)}), order=seed)

    assert set(met(sheet.pairings).values()) == {1}
    rounds = max(table.round for table in sheet.pairings)
    rested = Counter()
    for number in range(1, rounds + 1):
        seated = {entry for table in sheet.pairings if table.round == number for entry in table.entries}
        assert len(seated) == n - n % 2
        rested.update(set(range(n)) - seated)
    assert not rested or max(rested.values()) == 1


def test_first_round_is_upper_half_against_lower_half_by_seed():
    _, sheet = look("swiss", field("swiss", 8, seeds=(7, 6, 5, 4, 3, 2, 1, 0)), {})

    assert [table.entries for table in sheet.pairings] == [(7, 3), (6, 2), (5, 1), (4, 0)]


@pytest.mark.parametrize(("n", "more"), [(8, {}), (9, {}), (10, {"seats": 4}), (9, {"mixed": True})])
def test_a_round_that_was_drawn_stands_and_is_not_paired_again(n, more, monkeypatch):
    """Also where a match before it has been struck out, by which it would be paired otherwise; what follows goes by the results of now."""
    played = field("swiss", n, rounds=3, **more)
    results, drawn = {}, []
    for _ in range(2):
        _, sheet = look("swiss", played, results, drawn)
        drawn += sheet.pairings[len(drawn) :]
        results |= {t.slot: [by_number(t, b) for b in range(t.first, t.first + t.boards)] for t in drawn}
    verdict, sheet = look("swiss", played, results, drawn)
    assert (verdict.over, sheet.pairings[: len(drawn)]) == (False, drawn)
    assert (look("swiss", played, results)[1].pairings, sheet.waiting) == (
        sheet.pairings,
        len(sheet.pairings) - len(drawn),
    )

    struck = {slot: [] if slot[0] == drawn[0].name else boards for slot, boards in results.items()}
    assert look("swiss", played, struck)[1].pairings[: len(drawn)] != drawn, "it would be another round"
    paired = []
    pair = swiss._pair
    monkeypatch.setattr(swiss, "_pair", lambda *arguments: paired.append(arguments[2]) or pair(*arguments))
    _, sheet = look("swiss", played, struck, drawn)
    assert (sheet.pairings[: len(drawn)], paired) == (drawn, [3])
    paired.clear()
    look("swiss", played, results, drawn[:-1])
    assert paired == [2, 3], "a round that is not there as a whole is paired as it was"


@pytest.mark.parametrize("n", [8, 9, 14, 15])
def test_scores_that_meet_differ_no_more_than_in_the_dutch_system(n):
    """Colours aside, both look for equal scores: the sum of squared differences is never larger than the oracle's."""
    played = field("swiss", n, boards=3, rounds=5)
    results = {}
    winner = by_chance(n, {i: -0.4 * i for i in range(n)})
    history = []  # scores before each round
    for number in range(1, 6):
        verdict, sheet = look("swiss", played, results)
        scores = {entry: value["match_points"] for entry, value in verdict.rank().breaks.items()}
        if n % 2:  # the bye of a round counts as soon as it is drawn
            rested = _rested(n, sheet.pairings, number)
            scores[rested] -= 1
        pairs = [table.entries for table in sheet.pairings if table.round == number]
        history.append(scores)
        oracle, bye = _dutch(n, history, sheet.pairings)
        assert _spread(pairs, scores) <= _spread(oracle, scores)
        if n % 2:
            assert scores[rested] == scores[bye]
        results |= {t.slot: [winner(t, b) for b in range(t.first, t.first + t.boards)] for t in sheet.pairings}


def _rested(n, tables, number):
    return (set(range(n)) - {entry for table in tables if table.round == number for entry in table.entries}).pop()


def _spread(pairs, scores):
    return sum((scores[a] - scores[b]) ** 2 for a, b in pairs)


def _float(history, table, entry):
    """Return "up" or "down" if an entry met a higher or a lower score."""
    if table is None:
        return "down"
    own, other = (history[table.round - 1][e] for e in (entry, *(set(table.entries) - {entry})))
    return "down" if own > other else "up" if own < other else "none"


def _dutch(n, history, tables):
    """The pairs and the bye of the oracle after the same rounds."""
    number, scores = len(history), history[-1]
    before = [table for table in tables if table.round < number]
    byes = Counter(_rested(n, tables, r) for r in range(1, number)) if n % 2 else Counter()
    players = []
    for entry in range(n):
        seats = {table.round: table.entries.index(entry) for table in before if entry in table.entries}
        sat = {table.round: table for table in before if entry in table.entries}
        players.append(
            {
                "id": entry + 1,
                "name": str(entry),
                "score": scores[entry],
                "rating": 2000 - entry,
                "starting_number": entry + 1,
                "color_hist": [("white", "black")[seats[r]] if r in seats else "none" for r in range(1, number)],
                "float_history": [_float(history, sat.get(r), entry) for r in range(1, number)],
                "bye_count": byes[entry],
            }
        )
    earlier = {tuple(sorted((a + 1, b + 1))) for a, b in (table.entries for table in before)}
    pairings = generate_pairings(
        system="dutch", players=players, previous_pairings=earlier, round_number=number, total_rounds=5
    )
    pairs, bye = [], None
    for pair in pairings:
        a, b = pair["white_id"], pair["black_id"]
        if a and b:
            pairs.append((a - 1, b - 1))
        else:
            bye = (a or b) - 1
    return pairs, bye


def test_larger_tables_seat_equals_and_share_out_the_byes():
    _, sheet = play_out("swiss", field("swiss", 10, seats=4, rounds=5), by_number)

    assert len(sheet.pairings) == 5 * 2
    rested = Counter()
    for number in range(1, 6):
        tables = [table for table in sheet.pairings if table.round == number]
        rested.update(set(range(10)) - {entry for table in tables for entry in table.entries})
    assert sorted(rested.values()) == [1] * 10


def test_final_order_uses_the_tie_breaks_in_their_order():
    verdict, _ = play_out("swiss", field("swiss", 8, boards=3, rounds=3), by_number)

    rows = verdict.rank()
    values = [list(rows.breaks[entry].values())[:5] for [entry] in rows.levels]
    assert values == sorted(values, reverse=True)
    assert places(verdict)[0] == [0]
    assert list(rows.breaks[0])[:3] == ["match_points", "buchholz_cut1", "buchholz"]


# six players, Berger order: opponent, points; values as gacrux 1.11 gives them (PTS SB KS)
SIX = {
    1: [(6, HALF), (2, HALF), (3, HALF), (4, HALF), (5, 1)],
    2: [(5, HALF), (1, HALF), (6, 1), (3, HALF), (4, HALF)],
    3: [(4, 0), (5, 1), (1, HALF), (2, HALF), (6, 0)],
    4: [(3, 1), (6, 1), (5, 1), (1, HALF), (2, HALF)],
    5: [(2, HALF), (3, 0), (4, 0), (6, HALF), (1, 0)],
    6: [(1, HALF), (4, 0), (2, 0), (5, HALF), (3, 1)],
}


def record(results):
    return {
        entry: [CardLine(number, opponent, Fraction(points)) for number, (opponent, points) in enumerate(row, 1)]
        for entry, row in results.items()
    }


def test_tie_breaks_of_a_round_robin():
    six = record(SIX)

    assert [float(v) for v in tiebreaks.points(six).values()] == [3, 3, 2, 4, 1, 2]
    assert [float(v) for v in tiebreaks.sonneborn_berger(six).values()] == [6.5, 7, 4, 8, 2.5, 4]
    assert list(tiebreaks.wins(six).values()) == [1, 1, 1, 3, 0, 1]
    assert all(
        15 - own == other
        for own, other in zip(tiebreaks.points(six).values(), tiebreaks.buchholz(six).values(), strict=True)
    )


def test_buchholz_as_published():
    """Opponents with 5, 1.5, 2, 1, 4, 2 points, wins against those with 2, 1 and 2: Buchholz 15.5, Sonneborn-Berger 5."""
    scores = {1: 5, 2: Fraction(3, 2), 3: 2, 4: 1, 5: 4, 6: 2}
    won = {3, 4, 6}
    cards = {0: [CardLine(e, e, Fraction(int(e in won))) for e in scores]}
    # A score, wherever it is from
    cards |= {entry: [CardLine(1, 0, Fraction(value))] for entry, value in scores.items()}

    assert tiebreaks.buchholz(cards)[0] == Fraction(31, 2)
    assert tiebreaks.sonneborn_berger(cards)[0] == 5
    assert tiebreaks.buchholz(cards, cut=1)[0] == Fraction(29, 2)
    assert tiebreaks.buchholz(cards, median=1)[0] == Fraction(19, 2)


def test_a_bye_is_a_dummy_with_ones_own_score():
    cards = record({0: [(None, 1), (1, 0)], 1: [(2, 1), (0, 1)], 2: [(1, 0), (None, 1)]})

    assert tiebreaks.buchholz(cards) == {0: 1 + 2, 1: 1 + 1, 2: 2 + 1}
    assert tiebreaks.progressive(cards) == {0: 1 + 1, 1: 1 + 2, 2: 0 + 1}


def test_who_comes_late_has_no_points_for_the_rounds_before_and_changes_no_table():
    started = field("swiss", 8, rounds=5, late=3, lot="a")
    _verdict, sheet = look("swiss", started, {})
    drawn = list(sheet.pairings)
    results = {table.slot: [(60, 50)] * table.boards for table in drawn}
    joined = field("swiss", 9, rounds=5, late=3, lot="a", since={8: 2})

    verdict, sheet = look("swiss", joined, results, drawn)

    assert sheet.pairings[:4] == drawn
    assert len(sheet.pairings) == 8, "nine entries: four tables and a bye"
    assert verdict.rank().breaks[8]["match_points"] == 0
    second = [table for table in sheet.pairings if table.round == 2]
    assert any(8 in table.entries for table in second), "a missed round is a bye of 0 points, so the bye is another's"
    assert swiss.FORMAT.size(joined).matches == (20, 20)
    assert swiss.FORMAT.late(joined) == 3
    assert swiss.FORMAT.late(field("swiss", 8, late=50)) == 4, "the last round"


def test_a_field_with_late_entries_is_played_to_its_end():
    for late in range(1, 4):
        played = field("swiss", 7, rounds=5, late=4, since={5: 2, 6: late})
        verdict, sheet = play_out("swiss", played, by_number)
        assert verdict.over
        assert len(sheet.pairings) == swiss.FORMAT.size(played).matches[0]
