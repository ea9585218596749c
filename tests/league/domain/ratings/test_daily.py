"""Places from one day to the other, rows that fade, and the rows that a reader chooses."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from league.domain.core import paging
from league.domain.people import players
from league.domain.ratings import daily, idle, leaderboards, ratings, refits
from league.domain.upkeep import reconcile
from league.models import Bot, PlaceOfDay, PoolSums, Rating, TableOfDay
from tests.support import rows
from tests.support.league import NOW, accepted, play, started

pytestmark = pytest.mark.django_db

DAY = timedelta(days=1)


@pytest.fixture
def cup(ana, berto):
    """Three bots of three owners, one of the house; nobody has played. NOW is noon of 1 January."""
    return rows.once(make_cup, ana, berto)


def make_cup(ana, berto):
    house = players.create("house", reserved=True, now=NOW)
    versions = [accepted(ana, "rufo"), accepted(berto, "lola"), accepted(house, "greedy")]
    Bot.objects.filter(slug="greedy").update(is_house=True)
    return started(ana, versions, boards=40)


def decide(cup, winner: str, loser: str, *, now) -> None:
    match = cup.matches.filter(parties__version__bot__slug=winner).get(parties__version__bot__slug=loser)
    play(match, winner=match.parties.get(version__bot__slug=winner).number, now=now)
    ratings.refresh(cup.pool, now=now)


def moved(cup, now) -> dict[str, tuple]:
    page = leaderboards.read_page(cup.pool)
    page = daily.movement(cup.pool, page.rows, now=now).add_to(page)
    return {
        row.rating.version.bot.slug: (row.place, row.day and row.day.places, row.week and row.week.places)
        for row in page
    }


@pytest.mark.slow
def test_a_table_is_kept_at_the_end_of_each_day_that_changed_it(cup) -> None:
    assert daily.keep(now=NOW) == 0
    decide(cup, "greedy", "rufo", now=NOW)
    assert daily.keep(now=NOW) == 0, "it has begun today: as it was yesterday, there was none"
    assert moved(cup, NOW) == {"greedy": (1, None, None), "rufo": (2, None, None)}

    assert reconcile.reconcile(now=NOW + DAY).stored == 1
    assert daily.keep(now=NOW + DAY) == 0
    assert list(TableOfDay.objects.values_list("day", "since")) == [(date(2026, 1, 1), None)]
    decide(cup, "rufo", "lola", now=NOW + DAY)

    now = moved(cup, NOW + DAY)
    assert now["lola"][1:] == (None, None), "it had no place yesterday"
    assert now["greedy"] == (1, 0, None)
    assert now["rufo"] == (2, 0, None)
    assert daily.movement(cup.pool, [], now=NOW + DAY).week is None

    assert daily.keep(now=NOW + 8 * DAY) == 1
    assert daily.keep(now=NOW + 9 * DAY) == 0, "nothing has changed since"
    decide(cup, "lola", "greedy", now=NOW + 9 * DAY)
    movement = daily.movement(cup.pool, leaderboards.leaderboard(cup.pool), now=NOW + 9 * DAY)
    assert (movement.day, movement.week) == (date(2026, 1, 9), date(2026, 1, 2))
    lola = Bot.objects.get(slug="lola").pk
    assert lola in movement.by_day
    assert lola not in movement.by_week
    assert sorted(movement.by_week) == sorted(Bot.objects.exclude(slug="lola").values_list("pk", flat=True))


@pytest.mark.slow
def test_a_pool_has_nine_tables_at_most_and_what_is_read_is_bounded(cup) -> None:
    decide(cup, "greedy", "rufo", now=NOW)
    for day in range(1, 31):
        PoolSums.objects.filter(pool=cup.pool).update(ranked=day)
        assert daily.keep(now=NOW + day * DAY) == 1
    days = sorted(TableOfDay.objects.values_list("day", flat=True))
    assert days == [date(2026, 1, day) for day in range(23, 31)]
    assert PlaceOfDay.objects.count() == 2 * len(days)

    page = leaderboards.read_page(cup.pool)
    with CaptureQueriesContext(connection) as queries:
        movement = daily.movement(cup.pool, page.rows, now=NOW + 30 * DAY)
    assert len(queries) == 2
    assert (movement.day, movement.week) == (date(2026, 1, 30), date(2026, 1, 23))


def test_who_has_risen_was_settled_then_and_now(cup) -> None:
    decide(cup, "greedy", "rufo", now=NOW)
    decide(cup, "lola", "greedy", now=NOW)
    Rating.objects.update(provisional=False)
    daily.keep(now=NOW + DAY)
    greedy, lola = (Rating.objects.get(version__bot__slug=slug) for slug in ("greedy", "lola"))
    Rating.objects.filter(pk=greedy.pk).update(elo=greedy.elo + 12)
    Rating.objects.filter(pk=lola.pk).update(elo=lola.elo + 300, provisional=True)
    Rating.objects.filter(version__bot__slug="rufo").update(elo=-300)
    PoolSums.objects.update(ranked=1)
    daily.keep(now=NOW + 3 * DAY)

    (riser,) = daily.rises([cup.pool], 5, now=NOW + 3 * DAY)

    assert (riser.bot, round(riser.rise), riser.since) == ("greedy", 12, date(2026, 1, 1))
    assert daily.rises([cup.pool], 5, now=NOW + 20 * DAY) == [], "that is no news any more"


@pytest.mark.slow
@pytest.mark.parametrize("large", [False, True])
def test_idle_rows_fade_and_come_back(cup, settings, large) -> None:
    settings.RATINGS_AT_ONCE = 0 if large else 300
    decide(cup, "greedy", "rufo", now=NOW)
    decide(cup, "rufo", "lola", now=NOW + 20 * DAY)
    assert dict(Rating.objects.values_list("version__bot__slug", "played")) == {
        "greedy": NOW,
        "rufo": NOW + 20 * DAY,
        "lola": NOW + 20 * DAY,
    }

    assert idle.mark(now=NOW + 31 * DAY) == 1
    assert idle.mark(now=NOW + 31 * DAY) == 0
    active = leaderboards.Only(show="active")
    page = leaderboards.read_page(cup.pool, only=active)
    assert {row.rating.version.bot.slug for row in page} == {"rufo", "lola"}
    whole = {row.rating.version.bot.slug: row.place for row in leaderboards.leaderboard(cup.pool)}
    assert {row.rating.version.bot.slug: row.place for row in page} == {bot: whole[bot] for bot in ("rufo", "lola")}

    match = cup.matches.get(status="queued")
    play(match, winner=0, now=NOW + 32 * DAY)
    refits.advance(cup.pool, now=NOW + 32 * DAY)
    assert not Rating.objects.filter(idle=True).exists()
    again = dict(Rating.objects.values_list("version__bot__slug", "played"))
    assert again == {"greedy": NOW + 32 * DAY, "rufo": NOW + 20 * DAY, "lola": NOW + 32 * DAY}
    ratings.refresh(cup.pool, rebuild=True, now=NOW + 33 * DAY)
    assert dict(Rating.objects.values_list("version__bot__slug", "played")) == again
    then = leaderboards.leaderboard(cup.pool, at=NOW + 31 * DAY)
    assert {row.rating.version.bot.slug for row in then if row.rating.idle} == {"greedy"}


@pytest.mark.slow
def test_chosen_rows_keep_their_places_on_every_page(cup) -> None:
    decide(cup, "lola", "greedy", now=NOW)
    decide(cup, "greedy", "rufo", now=NOW)
    for show, owner, expected in (
        ("house", "", {"greedy": 2}),
        ("", "ana", {"rufo": 3}),
        ("", "berto", {"lola": 1}),
        ("", "nobody", {}),
        ("house", "ana", {}),
        ("active", "", {"lola": 1, "greedy": 2, "rufo": 3}),
    ):
        only = leaderboards.Only(show, owner)
        page = leaderboards.read_page(cup.pool, only=only)
        assert {row.rating.version.bot.slug: row.place for row in page} == expected
        past = leaderboards.leaderboard(cup.pool, at=NOW, only=only)
        assert {row.rating.version.bot.slug: row.place for row in past} == expected
    first = leaderboards.read_page(cup.pool, None, 1, only=leaderboards.Only("active"))
    assert first.after is not None
    second = leaderboards.read_page(
        cup.pool, paging.read_cursor(first.after, leaderboards.BEST.kinds), 1, only=leaderboards.Only("active")
    )
    assert [row.place for row in (*first, *second)] == [1, 2]
    assert second.before is not None
    back = leaderboards.read_page(
        cup.pool, paging.read_cursor(second.before, leaderboards.BEST.kinds), 1, only=leaderboards.Only("active")
    )
    assert [row.place for row in back] == [1]
