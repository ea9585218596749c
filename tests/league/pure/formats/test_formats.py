"""Properties of every format: played in any order, at every table size, no deal twice, the end within the predicted size."""

from __future__ import annotations

import pytest

from league.pure.formats import FORMATS, Sheet, check_field
from league.pure.formats.base import Parameter, split_boards
from tests.support.formats import by_chance, by_number, field, level, look, paired, places, play_out

SHORT = {"ladder": {"budget": 6}, "duel": {"cap": 30}, "arena": {"most": 6}}
CASES = [
    (key, n, seats, mixed)
    for key, form in FORMATS.items()
    for n in (2, 3, 4, 5, 6, 7, 8, 9, 13)
    for seats, mixed in ((2, False), (3, False), (4, False), (4, True))
    if n >= max(seats, form.fewest) and n <= (form.most or n) and form.takes(field(key, n, seats=seats, mixed=mixed))
]


@pytest.mark.slow
@pytest.mark.parametrize(("key", "n", "seats", "mixed"), CASES)
def test_every_format_comes_to_its_end(key, n, seats, mixed):
    for order, winner in enumerate((by_number, level, by_chance(n, {i: -0.3 * i for i in range(n)}))):
        played = field(key, n, seats=seats, mixed=mixed, **SHORT.get(key, {}))

        verdict, sheet = play_out(key, played, paired(winner) if mixed else winner, order=order)

        size = FORMATS[key].size(played)
        assert size.matches[0] <= len(sheet.pairings) <= size.matches[1]
        assert size.boards[0] <= sum(table.boards for table in sheet.pairings) <= size.boards[1]
        assert sorted(entry for group in places(verdict) for entry in group) == list(range(n))
        if winner is by_number and key not in ("ladder", "arena") and not mixed:  # too short, and luck of partners
            assert places(verdict)[0] == [0]


@pytest.mark.parametrize("key", FORMATS)
def test_matches_that_were_struck_out_hold_nothing_up(key):
    n = FORMATS[key].most or 6
    played = field(key, n, **{**SHORT, "duel": {"cap": 10}}.get(key, {}))
    results, drawn = {}, []
    for _ in range(200):
        verdict, sheet = look(key, played, results, drawn)
        drawn = sheet.pairings
        if verdict.over:
            break
        results |= {table.slot: [] for table in sheet.pairings}

    assert verdict.over
    assert sorted(entry for group in places(verdict) for entry in group) == list(range(n))


@pytest.mark.parametrize("key", sorted(set(FORMATS) - {"ladder", "arena"}))  # they draw by what is known at the moment
def test_results_in_another_order_give_the_same_tables(key):
    n = FORMATS[key].most or 7
    played = field(key, n, **SHORT.get(key, {}))
    winner = by_chance(3, {i: -0.3 * i for i in range(n)})

    ends = [play_out(key, played, winner, order=order) for order in range(3)]

    assert len({frozenset(sheet.pairings) for _, sheet in ends}) == 1
    assert all(places(verdict) == places(ends[0][0]) for verdict, _ in ends)


def test_parameters_say_what_is_allowed():
    form = FORMATS["duel"]

    assert form.complete({})["elo0"] == -20.0
    assert form.complete({"elo0": -5, "cap": 7})["elo0"] == -5.0
    with pytest.raises(
        ValueError, match="duel has no parameter 'cups'; its parameters are: elo0, elo1, alpha, beta, cap"
    ):
        form.complete({"cups": 1})
    with pytest.raises(ValueError, match=r"cap must be a whole number from 1 to 100000, not 2\.5"):
        form.complete({"cap": 2.5})
    with pytest.raises(ValueError, match=r"alpha must be a number from 0\.0001 to 0\.4999, not True"):
        form.complete({"alpha": True})
    with pytest.raises(ValueError, match="bronze must be true or false, not 1"):
        FORMATS["single_elimination"].complete({"bronze": 1})
    with pytest.raises(ValueError, match="kind must be one of a, b, not 'c'"):
        Parameter(name="kind", default="a", help="", words=("a", "b")).read("c")


# default, lowest, highest: owners' saved tournaments and their programs rely on them
NUMBERS = {
    ("round_robin", "cycles"): (1, 1, 200),
    ("round_robin", "sure"): (0.0, 0, 0.999),
    ("swiss", "rounds"): (0, 0, 50),
    ("swiss", "late"): (0, 0, 50),
    ("single_elimination", "extra"): (2, 1, 64),
    ("single_elimination", "cap"): (8, 0, 256),
    ("single_elimination", "advance"): (0, 0, 5),
    ("double_elimination", "extra"): (2, 1, 64),
    ("double_elimination", "cap"): (8, 0, 256),
    ("gauntlet", "challengers"): (1, 1, 32),
    ("gauntlet", "cycles"): (1, 1, 200),
    ("successive_halving", "budget"): (0, 0, 2_560_000),
    ("ladder", "open"): (0, 0, 200),
    ("ladder", "budget"): (0, 0, 1_000_000),
    ("arena", "minutes"): (60, 5, 180),
    ("arena", "most"): (40, 2, 200),
    ("duel", "elo0"): (-20.0, -1000, 1000),
    ("duel", "elo1"): (20.0, -1000, 1000),
    ("duel", "alpha"): (0.05, 0.0001, 0.4999),
    ("duel", "beta"): (0.05, 0.0001, 0.4999),
    ("duel", "cap"): (2000, 1, 100_000),
}


def test_numbers_are_taken_from_the_lowest_to_the_highest_and_no_other():
    of_all = {(key, parameter.name): parameter for key, form in FORMATS.items() for parameter in form.parameters}
    assert {place for place, parameter in of_all.items() if type(parameter.default) in (int, float)} == NUMBERS.keys()
    for place, (default, low, high) in NUMBERS.items():
        parameter = of_all[place]
        assert parameter.default == default, place
        assert [parameter.read(value) for value in (low, high)] == [low, high], place
        step = 1 if isinstance(default, int) or high == 1000 else 0.0001
        for beyond in (low - step, high + step):
            with pytest.raises(ValueError, match=f"{parameter.name} must be a .*number from"):
                parameter.read(beyond)


def test_the_two_answers_of_a_duel_are_in_order():
    form = FORMATS["duel"]
    assert form.complete({"elo0": 4.5, "elo1": 5})["elo1"] == 5.0
    for elo0 in (5, 6):
        with pytest.raises(ValueError, match="elo0 must be below elo1"):
            form.complete({"elo0": elo0, "elo1": 5})


@pytest.mark.parametrize(
    ("key", "entries", "seats", "mixed", "message"),
    [
        ("round_robin", 2, 3, False, "needs 3 entries or more, not 2"),
        ("round_robin", 3, 4, True, "needs 4 entries or more, not 3"),
        ("swiss", 1, 2, False, "needs 2 entries or more, not 1"),
        ("double_elimination", 2, 2, False, "needs 3 entries or more, not 2"),
        (
            "double_elimination",
            8,
            3,
            False,
            "cannot be played at tables of 3, .* round_robin, swiss, single_elimination, gauntlet, successive_halving, ladder",
        ),
        ("duel", 8, 4, False, "4 sit at a table .* choose one of round_robin, swiss, single_elimination, gauntlet"),
        (
            "single_elimination",
            8,
            2,
            True,
            "partners win and lose together.* round_robin, swiss, successive_halving, ladder$",
        ),
        ("gauntlet", 8, 2, True, "cannot play a gauntlet.* round_robin, swiss, successive_halving, ladder$"),
        ("duel", 2, 2, True, "mixed pairs are four; choose one of round_robin, swiss, successive_halving, ladder$"),
        ("swiss", 3, 2, True, "needs 4 entries or more, not 3"),
        ("single_elimination", 3, 4, False, "needs 4 entries or more, not 3"),
        ("duel", 3, 2, False, "takes 2 entries at most, not 3"),
    ],
)
def test_fields_that_cannot_play_are_refused(key, entries, seats, mixed, message):
    with pytest.raises(ValueError, match=message):
        check_field(FORMATS[key], field(key, entries, seats=seats, mixed=mixed))


def test_sheet_numbers_the_boards_of_a_name_on():
    sheet = Sheet(results={("0-1", 1): [(5, 3)]})

    assert sheet.seat(1, (0, 1), 1) == [(5, 3)]
    assert sheet.seat(2, (1, 0), 2) is None
    assert sheet.seat(2, (0, 2), 2) is None

    assert [table.slot for table in sheet.pairings] == [("0-1", 1), ("0-1", 2), ("0-2", 1)]
    assert sheet.waiting == 2
    assert sheet.shared_tables() == {(0, 1): 2, (0, 2): 1}
    with pytest.raises(ValueError, match="two or more different entries"):
        sheet.seat(3, (1, 1), 2)


def test_long_matches_are_split():
    assert split_boards(256) == [256]
    assert split_boards(600) == [200, 200, 200]
    assert split_boards(257) == [129, 128]
