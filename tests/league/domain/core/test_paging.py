"""Pages by the key of the row at their edge: every row once, forward and back, and nothing but a cursor is taken for one."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from hypothesis import given
from hypothesis import strategies as st

from league.domain.core import paging
from league.domain.people import players
from league.models import Player
from tests.support import league as made
from tests.support import rows

BY_NAME = paging.Order(("-name",), (str,))


def walk(rows, order, size):
    """The rows of all pages forward, then of all pages back."""
    forward, back = [], []
    page = paging.read_page(rows, order, None, size)
    while True:
        forward += page.rows
        if page.after is None:
            break
        page = paging.read_page(rows, order, paging.read_cursor(page.after, order.kinds), size)
    while True:
        back = page.rows + back
        if page.before is None:
            return forward, back
        page = paging.read_page(rows, order, paging.read_cursor(page.before, order.kinds), size)


@pytest.mark.parametrize("size", [1, 2, 3, 7, 50])
def test_every_row_comes_once_forward_and_back(db, size):
    for number in (3, 1, 6, 5, 2, 4, 0):
        players.create(f"p{number}", now=made.NOW)

    forward, back = walk(Player.objects.all(), BY_NAME, size)

    assert [player.name for player in forward] == ["p6", "p5", "p4", "p3", "p2", "p1", "p0"]
    assert back == forward


def test_rows_that_are_level_come_once(rated):
    from league.domain.ratings.leaderboards import BEST
    from league.models import Rating

    Rating.objects.update(elo=1000.0)

    forward, back = walk(Rating.objects.all(), BEST, 2)

    assert [rating.version_id for rating in forward] == sorted(rating.version_id for rating in forward)
    assert len(forward) == 5
    assert back == forward


@pytest.fixture
def rated(ana):
    return rows.once(make_rated, ana)


def make_rated(ana):
    from league.domain.ratings import pools
    from league.models import Rating

    pool = pools.pool("partnership")
    for number in range(5):
        version = made.accepted(ana, f"bot-{number}")
        row = dict.fromkeys(("boards", "opponents", "faults", "rank_best", "rank_worst"), 1)
        Rating.objects.create(
            pool=pool,
            version=version,
            elo=1000.0 + number,
            margin=10.0,
            score=0.5,
            points_per_board=1.0,
            provisional=number == 2,
            updated=made.NOW,
            **row,
        )
    return pool


def test_places_go_on_from_page_to_page(rated):
    from league.domain.ratings import leaderboards

    first = leaderboards.read_page(rated, None, 2)
    second = leaderboards.read_page(rated, paging.read_cursor(first.after, leaderboards.BEST.kinds), 2)
    third = leaderboards.read_page(rated, paging.read_cursor(second.after, leaderboards.BEST.kinds), 2)
    again = leaderboards.read_page(rated, paging.read_cursor(third.before, leaderboards.BEST.kinds), 2)

    whole = leaderboards.leaderboard(rated)
    assert [row.place for row in whole] == [1, 2, 3, 4, 5]
    assert [*first, *second, *third] == whole
    assert again.rows == second.rows
    assert third.after is None


def test_a_page_is_one_query_and_asks_for_one_row_more(rated):
    from league.domain.ratings import leaderboards

    with CaptureQueriesContext(connection) as queries:
        page = leaderboards.read_page(rated, None, 2)
    assert len(page) == 2
    assert len(queries) == 1
    assert "LIMIT 3" in queries[0]["sql"]
    with CaptureQueriesContext(connection) as queries:
        leaderboards.read_page(rated, paging.read_cursor(page.after, leaderboards.BEST.kinds), 2)
    assert len(queries) == 2


@given(
    st.lists(st.floats(allow_nan=False, allow_infinity=False) | st.integers(0, 10**14), min_size=1, max_size=3),
    st.booleans(),
)
def test_a_cursor_is_read_as_it_was_written(edge, back):
    kinds = [type(value) for value in edge]

    assert paging.read_cursor(paging.write_cursor(edge, back=back), kinds) == paging.Cursor(back, tuple(edge))


@pytest.mark.slow
@given(st.text(max_size=300))
def test_any_other_text_is_refused(text):
    try:
        cursor = paging.read_cursor(text, (float, int))
    except paging.BadCursor:
        return
    assert len(cursor.edge) == 2


@pytest.mark.parametrize("edge", [[1, 2], [1.5], ["x"], [True], [float("inf")], [10**15], [-1]])
def test_values_of_another_list_are_refused(edge):
    with pytest.raises(paging.BadCursor):
        paging.read_cursor(paging.write_cursor(edge, back=False), (int,))


def test_lists_at_hand_are_cut_by_place():
    first = paging.cut_page("abcde", None, 2)
    second = paging.cut_page("abcde", paging.read_cursor(first.after, (int,)), 2)
    third = paging.cut_page("abcde", paging.read_cursor(second.after, (int,)), 2)

    assert (first.rows, second.rows, third.rows) == (["a", "b"], ["c", "d"], ["e"])
    assert paging.cut_page("abcde", paging.read_cursor(third.before, (int,)), 2) == second
    assert (first.before, third.after) == (None, None)
