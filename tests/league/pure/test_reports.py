"""Reports of users of rating and pairing libraries and of calendars, tried here (docs/reports.md)."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest

from league.pure.calendar.calendars import read_calendar
from league.pure.formats import FORMATS, check_field
from league.pure.rating.bradley_terry import fit
from league.pure.rating.leaderboard import expected_score, fit_leaderboard
from league.pure.rating.people import rate
from league.pure.rating.tallies import tally
from league.web.tournaments import tiebreaks
from tests.support.formats import by_chance, by_number, field, level, look, paired, play_out
from tests.support.parts import mostly_slow

ZONES = ("America/New_York", "Europe/Madrid", "Australia/Lord_Howe", "Pacific/Apia", "America/Santiago", "Africa/Cairo")


@pytest.mark.parametrize(("won", "lost"), [(0, 0), (1, 0), (100_000, 0), (0, 100_000), (10**9, 1)])
def test_no_record_is_too_one_sided_for_a_rating(won: int, lost: int) -> None:
    boards = [((1, 2), (1, 0))] * min(won, 5000) + [((1, 2), (0, 1))] * min(lost, 5000) + [((3, 4), (0, 0))]
    table = fit_leaderboard(tally(boards))
    assert all(math.isfinite(value) for row in table.rows for value in (row.elo, row.margin))
    strength = {row.bot: row.elo for row in table.rows}
    assert won == lost == 0 or (strength[1] > strength[2]) == (won > lost)


def test_who_has_not_played_has_no_rating_and_breaks_nobody_elses() -> None:
    assert fit(tally([])).bots == ()
    assert fit_leaderboard(tally([])).rows == ()
    assert rate([]) is None
    assert expected_score(-20_000.0, 20_000.0) == pytest.approx(0)
    assert expected_score(20_000.0, -20_000.0) == pytest.approx(1)


@pytest.mark.parametrize("n", [3, 5, 7])
def test_a_bye_of_a_swiss_round_counts_as_a_won_match(n: int) -> None:
    played = field("swiss", n, rounds=2)
    _, sheet = look("swiss", played, {})
    seated = {entry for table in sheet.pairings for entry in table.entries}
    (rested,) = set(range(n)) - seated
    results = {t.slot: [by_number(t, b) for b in range(t.first, t.first + t.boards)] for t in sheet.pairings}
    verdict, _ = look("swiss", played, results)
    points = verdict.rank().breaks
    winner = min(sheet.pairings[0].entries)
    assert points[rested]["match_points"] == points[winner]["match_points"] > 0


LIMITS = {"ladder": {"budget": 12}, "duel": {"cap": 50}}


@pytest.mark.parametrize("key", mostly_slow(sorted(FORMATS), lambda key: key not in ("ladder", "round_robin")))
def test_every_number_of_entries_can_be_paired_to_the_end(key: str) -> None:
    form, played_fields = FORMATS[key], 0
    for n in (2, 3, 5, 6, 7, 9):
        for shape in ({}, {"seats": 3}, {"seats": 4}, {"mixed": True}):
            played = field(key, n, boards=1, **shape, **LIMITS.get(key, {}))
            try:
                check_field(form, played)
            except ValueError:
                continue
            winner = by_chance(n, dict.fromkeys(range(n), 0.0))
            verdict, _ = play_out(key, played, paired(winner) if played.mixed else winner, order=n)
            assert sorted(entry for group in verdict.rank().levels for entry in group) == list(range(n))
            played_fields += 1
    assert played_fields > 3 or form.most == 2


@pytest.mark.parametrize("winner", [level, by_number, by_chance(3, dict.fromkeys(range(9), 0.0))])
def test_the_order_is_that_of_the_numbers_that_are_shown(winner) -> None:
    """The tie-breaks of a table, read from left to right, never contradict its order."""
    verdict, _ = play_out("swiss", field("swiss", 9, boards=2), winner, order=1)
    ranking = verdict.rank()
    levels = [
        [
            [value for key, value in ranking.breaks[entry].items() if tiebreaks.TieBreakColumn(key, "", "").orders]
            for entry in group
        ]
        for group in ranking.levels
    ]
    for upper, lower in pairwise(levels):
        assert min(upper) >= max(lower)


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("at", ["00:00", "02:30", "16:04", "23:59"])
def test_a_daily_time_is_due_once_a_day_at_that_time_of_the_clock(zone: str, at: str) -> None:
    place = ZoneInfo(zone)
    for year in (2011, 2024, 2026):
        begin = datetime(year, 1, 1, tzinfo=UTC)
        calendar = read_calendar("mon,tue,wed,thu,fri,sat,sun", at, zone)
        moments = calendar.moments(begin, begin + timedelta(days=366))
        assert all(first < second for first, second in pairwise(moments)), "no time is due twice"
        clock = [moment.astimezone(place) for moment in moments]
        days = [moment.date() for moment in clock]
        assert len(set(days)) == len(days)
        off = [moment for moment in clock if f"{moment:%H:%M}" != at]
        assert len(off) <= 1, "only where the clock skips it"
        for moment in moments[::50]:
            assert calendar.next(moment - timedelta(microseconds=1)) == moment
            assert calendar.next(moment) > moment


@pytest.mark.parametrize("at", ["20:00+05:00", "20:00Z"])
def test_a_time_with_a_zone_of_its_own_is_refused(at: str) -> None:
    """Taken without its zone, it would be another time."""
    with pytest.raises(ValueError, match="write the time in the form 20:00"):
        read_calendar("mon", at, "Europe/Madrid")
