"""The sums of a pool are rows, of which a match changes its own; who remembers them notices that somebody else has changed them."""

from __future__ import annotations

import zlib

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from league.domain.ratings import ratings, totals
from league.models import BoardSums, BotSums, PoolSums, Rating
from league.pure.rating.tallies import board_rows, from_rows, tally
from tests.support import rows
from tests.support.league import NOW, accepted, later, play, started


@pytest.fixture
def cup(ana, berto):
    return rows.once(make_cup, ana, berto)


def make_cup(ana, berto):
    return started(ana, [accepted((ana, berto)[number % 2], f"bot-{number}") for number in range(4)], boards=6)


def waiting(cup):
    return list(cup.matches.filter(rated=True, status="queued").order_by("id"))


def test_a_match_writes_the_rows_of_its_own_versions(cup) -> None:
    first, second, *_ = waiting(cup)
    for match in (first, second):
        play(match, now=NOW)
        written = []

        def note(execute, sql, params, many, context, written=written):
            if sql.startswith("INSERT") and "sums" in sql:  # PostgreSQL gets whole columns
                written.append(len(params[0]) if isinstance(params[0], list) else sql.count("), (") + 1)
            return execute(sql, params, many, context)

        with connection.execute_wrapper(note):
            ratings.refresh(cup.pool, now=NOW)
    met = set(second.parties.values_list("version_id", flat=True))

    assert written == [2, 1], "two bots, one pair"
    assert set(BotSums.objects.filter(pool=cup.pool).values_list("version_id", flat=True)) >= met
    assert totals.read_stored(cup.pool).dump() == totals.recount(cup.pool).dump()


@pytest.mark.slow
def test_rows_of_the_table_that_did_not_change_are_not_written(cup) -> None:
    for match in waiting(cup):
        play(match, now=NOW)
    ratings.refresh(cup.pool, now=NOW)
    assert Rating.objects.exclude(updated=NOW).count() == 0

    ratings.refresh(cup.pool, rebuild=True, now=later(60))

    assert Rating.objects.exclude(updated=NOW).count() == 0


def test_what_a_process_remembers_holds_until_somebody_else_changes_it(cup, django_capture_on_commit_callbacks) -> None:
    first, second, third, fourth = waiting(cup)
    for match in (first, second):
        play(match, now=NOW)
        with django_capture_on_commit_callbacks(execute=True):
            ratings.refresh(cup.pool, now=NOW)
    with CaptureQueriesContext(connection) as queries:
        memory = totals.cached(cup.pool)
    assert (len(queries), memory.whole.dump()) == (1, totals.recount(cup.pool).dump())

    play(third, now=NOW)
    ratings.refresh(cup.pool, now=NOW)  # like by another process: this one remembers nothing of it
    assert totals.cached(cup.pool).whole.dump() == totals.recount(cup.pool).dump()
    play(fourth, now=NOW)
    ratings.refresh(cup.pool, now=NOW)
    assert totals.read_stored(cup.pool).dump() == totals.recount(cup.pool).dump()


def test_sums_of_an_earlier_release_become_rows_with_the_next_match(cup) -> None:
    first, second, *_ = waiting(cup)
    play(first, now=NOW)
    ratings.refresh(cup.pool, now=NOW)
    old = zlib.compress(totals.read_stored(cup.pool).dump(), 1)
    BotSums.objects.all().delete()
    BoardSums.objects.all().delete()
    PoolSums.objects.update(data=old)

    play(second, now=NOW)
    ratings.refresh(cup.pool, now=NOW)

    assert PoolSums.objects.get().data == b""
    assert totals.read_stored(cup.pool).dump() == totals.recount(cup.pool).dump()


@pytest.mark.parametrize("sides", [None, ((0, 2), (1, 3))], ids=["seats", "mixed pairs"])
def test_rows_give_the_same_sums_in_any_order(sides) -> None:
    tallies = tally(
        [((4, 9, 2, 7), (3, 1, 3, 1)), ((9, 4, 7, 2), (1, 2, 1, 2)), ((2, 4, 7, 9), (0, 0, 0, 0))], sides, {9: 2}
    )

    again = from_rows(tallies.totals.tolist()[::-1], list(board_rows(tallies))[::-1])

    assert again.dump() == tallies.dump()
