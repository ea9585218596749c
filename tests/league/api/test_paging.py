"""Pages: forward and back, stable while rows are added, and strict about what they are asked."""

from __future__ import annotations

import base64

import pytest

from league.domain.people import players
from league.models import Player
from tests.support import league


def names(page):
    return [row["name"] for row in page["results"]]


@pytest.fixture
def seven(db):
    for number in range(7):
        players.create(f"p{number}", now=league.NOW)


def test_pages_forward_and_back(nobody, seven):
    first = nobody.get("players?page_size=3").json()
    second = nobody.get(first["next"].removeprefix("http://testserver")).json()
    third = nobody.get(second["next"].removeprefix("http://testserver")).json()
    back = nobody.get(third["previous"].removeprefix("http://testserver")).json()
    home = nobody.get(back["previous"].removeprefix("http://testserver")).json()

    assert [names(page) for page in (first, second, third)] == [["p6", "p5", "p4"], ["p3", "p2", "p1"], ["p0"]]
    assert (first["previous"], third["next"]) == (None, None)
    assert names(back) == names(second)
    assert (names(home), home["previous"]) == (names(first), None)


def test_pages_stay_while_rows_are_added(nobody, seven):
    first = nobody.get("players?page_size=3").json()
    players.create("late", now=league.NOW)

    second = nobody.get(first["next"].removeprefix("http://testserver")).json()

    assert names(second) == ["p3", "p2", "p1"]
    assert second["previous"] is not None


def test_filters_stay_in_the_links(nobody, seven):
    first = nobody.get("players?q=p&page_size=2").json()

    assert "q=p" in first["next"]
    assert "page_size=2" in first["next"]


def test_pages_of_lists_that_are_no_tables(nobody):
    import engine

    keys, path = [], "games?page_size=2"
    while path:
        page = nobody.get(path).json()
        keys += [row["key"] for row in page["results"]]
        path = (page["next"] or "").removeprefix("http://testserver")
    assert keys == engine.games()
    back = nobody.get(page["previous"].removeprefix("http://testserver")).json()
    assert len(back["results"]) == 2


def coded(text):
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


@pytest.mark.parametrize(
    "cursor",
    ["", "x", "%00", "é", "a" * 500, coded("n"), coded("x1"), coded("n-1"), coded("n" + "9" * 30), coded("n٣"), "==="],
)
def test_bad_cursors_are_refused(nobody, seven, cursor):
    response = nobody.get(f"players?cursor={cursor}")

    assert response.status_code == 400
    assert list(response.json()["errors"]) == ["cursor"]


def test_cursor_beyond_the_end_is_an_empty_page(nobody, seven):
    assert nobody.get(f"players?cursor={coded('n0')}").json()["results"] == []
    assert nobody.get(f"games?cursor={coded('n999999999999999')}").json()["results"] == []
    assert nobody.get(f"games?cursor={coded('p0')}").json()["results"] == []


@pytest.mark.parametrize("size", ["0", "101", "-1", "x", "", "1e2", "٣", "9" * 5000])
def test_bad_page_sizes_are_refused(nobody, seven, size):
    response = nobody.get(f"players?page_size={size}")

    assert response.status_code == 400
    assert list(response.json()["errors"]) == ["page_size"]


def test_every_row_comes_once(nobody, seven):
    player_names, path = [], "players?page_size=2"
    while path:
        page = nobody.get(path).json()
        player_names += names(page)
        path = (page["next"] or "").removeprefix("http://testserver")

    assert player_names == list(Player.objects.order_by("-id").values_list("name", flat=True))
