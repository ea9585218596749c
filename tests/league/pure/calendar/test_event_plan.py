"""Event documents, promotion and relegation, calendars."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from league.pure.calendar import calendars, divisions, event_plan
from league.pure.pairing.movements import snake

SCHEMA = json.loads((Path(__file__).parents[4] / "docs" / "event.schema.json").read_text(encoding="utf-8"))
GOOD = {
    "name": "Spring",
    "game": "partnership",
    "stages": [
        {"format": "swiss", "parameters": {"rounds": 2}, "boards": 2, "groups": 2, "advance": 2},
        {"format": "double_elimination", "boards": 4},
    ],
}


def changed(**stage):
    return {**GOOD, "stages": [{**GOOD["stages"][0], **stage}, GOOD["stages"][1]]}


def test_a_document_is_read():
    plan = event_plan.read_plan(GOOD)

    assert [(s.format, s.groups, s.advance) for s in plan.stages] == [("swiss", 2, 2), ("double_elimination", 1, None)]
    assert list(Draft202012Validator(SCHEMA).iter_errors(GOOD)) == []


@pytest.mark.parametrize(
    ("document", "message", "schema_knows"),
    [
        ([], "the event: must be an object with name", True),
        ({**GOOD, "colour": 1}, "the event: there is no field 'colour'", True),
        ({"name": "x", "game": "y"}, "the event: the field 'stages' is missing", True),
        ({**GOOD, "name": 3}, r"the event\.name: must be a text, not 3", True),
        ({**GOOD, "stages": []}, "an event has 1 to 8 stages, not 0", True),
        (changed(format="chess"), r"stages\[0\]\.format: there is no format 'chess'", True),
        (
            changed(parameters={"rounds": 99}),
            r"stages\[0\]\.parameters: rounds must be a whole number from 0 to 50",
            False,
        ),
        (changed(boards=0), r"stages\[0\]\.boards: a match has 1 to 256 boards, not 0", True),
        (changed(groups=True), r"stages\[0\]\.groups: must be a whole number, not True", True),
        (changed(advance=0), r"stages\[0\]\.advance: must say how many", True),
        ({**GOOD, "stages": [GOOD["stages"][0]]}, "the last stage has one group and nobody advances", False),
        (changed(format="ladder", parameters={}), "a ladder in an event needs a budget", False),
    ],
)
def test_bad_documents_are_refused_at_their_place(document, message, schema_knows):
    with pytest.raises(event_plan.BadEvent, match=message):
        event_plan.read_plan(document)
    assert bool(list(Draft202012Validator(SCHEMA).iter_errors(document))) is schema_knows


def test_a_stage_has_at_most_32_groups():
    assert event_plan.read_plan(changed(groups=32)).stages[0].groups == 32
    with pytest.raises(event_plan.BadEvent, match="groups"):
        event_plan.read_plan(changed(groups=33))


def test_groups_are_a_snake_and_who_goes_on_is_seeded_across_them():
    assert snake(range(8), 3) == [[0, 5, 6], [1, 4, 7], [2, 3]]
    assert event_plan.advancing_entries([[4, 0, 5], [1, 7, 2]], 2) == [4, 1, 0, 7]


def test_promotion_and_relegation():
    last = [[1, 2, 3, 4], [5, 6, 7, 8], [9, 10]]

    assert divisions.next_divisions(last, range(1, 11), [], size=4, moves=1) == [[1, 2, 3, 5], [4, 6, 7, 9], [8, 10]]
    assert divisions.next_divisions(last, range(1, 11), [], size=4, moves=2) == [[1, 2, 5, 6], [3, 4, 7, 9], [8, 10]]
    assert divisions.next_divisions(last, range(1, 11), [], size=4, moves=0) == last


def test_gaps_are_filled_from_below_and_newcomers_start_at_the_bottom():
    last = [[1, 2, 3], [4, 5, 6]]

    groups = divisions.next_divisions(last, {1, 3, 4, 5, 6}, [7, 8], size=3, moves=1)

    assert groups == [[1, 4, 3], [5, 6, 7, 8]]  # 8 alone could not play
    assert divisions.next_divisions([], [], [3, 1, 2], size=2, moves=1) == [[3, 1, 2]]  # one alone cannot play
    assert divisions.next_divisions([], [], [], size=2, moves=1) == []


@pytest.mark.parametrize(("size", "moves", "message"), [(1, 0, "at least 2 entries"), (4, 3, "at most 2 can move")])
def test_divisions_that_cannot_be(size, moves, message):
    with pytest.raises(ValueError, match=message):
        divisions.next_divisions([], [], [], size=size, moves=moves)


def at(*numbers: int) -> datetime:
    return datetime(*numbers, tzinfo=UTC)


def test_due_moments_keep_the_wall_clock_over_changes_of_the_clock():
    """Madrid goes from UTC+1 to UTC+2 on 29 March 2026 and back on 25 October 2026."""
    sundays = calendars.read_calendar("sun", "20:00", "Europe/Madrid")

    assert sundays.moments(at(2026, 3, 20), at(2026, 4, 1)) == [at(2026, 3, 22, 19), at(2026, 3, 29, 18)]
    assert sundays.moments(at(2026, 10, 17), at(2026, 10, 27)) == [at(2026, 10, 18, 18), at(2026, 10, 25, 19)]


def test_times_that_are_skipped_or_come_twice_are_due_once():
    early = calendars.read_calendar("sun", "02:30", "Europe/Madrid")

    assert early.moments(at(2026, 3, 28), at(2026, 3, 30)) == [at(2026, 3, 29, 1, 30)]  # 03:30 there
    assert early.moments(at(2026, 10, 24), at(2026, 10, 26)) == [at(2026, 10, 25, 0, 30)]  # the first 02:30


def test_days_of_the_month_and_what_is_next():
    fair = calendars.read_calendar("1, 15", "09:00", "UTC")

    assert fair.next(at(2026, 1, 1, 9)) == at(2026, 1, 15, 9)
    assert len(fair.moments(at(2025, 12, 31), at(2026, 12, 31))) == 24


@pytest.mark.parametrize(
    ("days", "clock", "zone", "message"),
    [
        ("", "20:00", "UTC", "days are weekdays"),
        ("mon,31", "20:00", "UTC", "days are weekdays"),
        ("mon", "25:00", "UTC", "write the time in the form 20:00"),
        ("mon", "20:00", "Mars", "is not a time zone"),
    ],
)
def test_calendars_that_cannot_be(days, clock, zone, message):
    with pytest.raises(ValueError, match=message):
        calendars.read_calendar(days, clock, zone)


def test_a_calendar_may_name_every_day_there_is():
    every = ",".join([*calendars.WEEKDAYS, *map(str, range(1, 29))])
    assert (
        len(
            calendars.read_calendar(every, "20:00", "UTC").moments(
                datetime(2026, 2, 1, tzinfo=UTC), datetime(2026, 3, 1, tzinfo=UTC)
            )
        )
        == 28
    )


@pytest.mark.parametrize(("size", "least"), [(1, 1), (1, 2), (2, 3)])
def test_a_division_is_large_enough_to_play(size, least):
    with pytest.raises(ValueError, match="a division needs"):
        divisions.next_divisions([], [], [1, 2, 3], size=size, moves=0, least=least)


@pytest.mark.parametrize(
    ("days", "clock", "after", "expected"),
    [
        ("tue", "20:00", (2028, 2, 22, 19), [(2028, 2, 29, 19), (2028, 3, 7, 19)]),  # through a leap day
        ("28,1", "08:00", (2028, 2, 27), [(2028, 2, 28, 7), (2028, 3, 1, 7)]),
        ("28,1", "08:00", (2027, 2, 27), [(2027, 2, 28, 7), (2027, 3, 1, 7)]),
        ("sun", "02:30", (2027, 3, 21, 2), [(2027, 3, 28, 1, 30), (2027, 4, 4, 0, 30)]),  # 02:30 does not exist
        ("sun", "02:30", (2027, 10, 24, 2), [(2027, 10, 31, 0, 30), (2027, 11, 7, 1, 30)]),  # 02:30 comes twice
    ],
)
def test_leap_days_and_changes_of_the_clock_in_madrid(days, clock, after, expected):
    hours = calendars.read_calendar(days, clock, "Europe/Madrid")
    first = hours.next(at(*after))
    assert [first, hours.next(first)] == [at(*numbers) for numbers in expected]
