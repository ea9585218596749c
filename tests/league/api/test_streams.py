"""Bulk reads by id, and lists as NDJSON: the rows of the pages, with a bound, and an address to go on."""

from __future__ import annotations

import json

import pytest
from django.core.cache import cache

from league.api.http import cursors
from league.api.http.base import StreamedView
from league.api.http.negotiation import NDJSON
from league.api.http.settings import REST_FRAMEWORK
from league.response_cache import read_key
from tests.league.api.client import ROOT, Api

LISTS = ("matches", "boards?match={ids}")


@pytest.fixture
def ids(league) -> list[str]:
    """The finished matches of the cup, newest first."""
    return [match.public_id for match in league.cup.matches.order_by("-pk")]


def stream(api: Api, address: str) -> tuple[list[dict], str | None]:
    """Return the rows of a stream, and where it goes on."""
    answer = api.client.get(address, headers={"Accept": NDJSON, **api.headers})
    assert (answer.status_code, answer["Content-Type"]) == (200, NDJSON)
    assert "Accept" in answer["Vary"].split(", ")
    *rows, last = [json.loads(line) for line in b"".join(answer.streaming_content).splitlines()]
    assert list(last) == ["next"]
    return rows, last["next"]


def pages(api: Api, address: str, size: int) -> list[dict]:
    rows: list[dict] = []
    following = f"{address}{'&' if '?' in address else '?'}page_size={size}"
    while following:
        page = api.get(following).json()
        rows += page["results"]
        following = page["next"] and page["next"].removeprefix("http://testserver")
    return rows


def test_matches_and_boards_are_read_by_id(nobody, league, ids) -> None:
    assert [row["id"] for row in nobody.results(f"matches?id={ids[2]},{ids[0]},{ids[0]},nobody")] == [ids[0], ids[2]]
    boards = nobody.results(f"boards?match={ids[1]},{ids[0]}")
    assert boards == [row for id in ids[:2] for row in nobody.results(f"matches/{id}/boards")]
    assert len(boards) == 4
    league.cup.matches.filter(public_id=ids[0]).update(in_class=True)
    assert [row["id"] for row in nobody.results(f"matches?id={ids[0]},{ids[1]}")] == [ids[1]]
    assert {row["match"] for row in nobody.results(f"boards?match={ids[0]},{ids[1]}")} == {ids[1]}
    many = ",".join(f"m{number}" for number in range(101))
    for wrong in (
        f"matches?id={many}",
        f"boards?match={many}",
        "boards",
        "boards?match=",
        "boards?match=,",
        "matches?id=%00",
    ):
        assert nobody.get(wrong).status_code == 400, wrong
    assert nobody.results(f"boards?match={many.rpartition(',')[0]}") == []


@pytest.mark.parametrize("address", LISTS)
def test_a_stream_has_the_rows_of_the_pages(nobody, ids, address, monkeypatch) -> None:
    path = f"{ROOT}/{address.format(ids=','.join(ids))}"
    whole = pages(nobody, path, 2)
    assert stream(nobody, path) == (whole, None)
    monkeypatch.setattr(cursors, "MAX_SIZE", 1)
    monkeypatch.setattr(StreamedView, "MOST_LINES", 2)
    rows: list[dict] = []
    following: str | None = path
    while following:
        part, following = stream(nobody, following)
        assert len(part) <= 2
        rows += part
    assert rows == whole


def test_a_stream_counts_as_the_pages_and_takes_no_other_parameters(nobody, ids, monkeypatch) -> None:
    previous = nobody.get(nobody.get("matches?page_size=1").json()["next"].removeprefix("http://testserver")).json()[
        "previous"
    ]
    for wrong in (
        "matches?page_size=5",
        previous.removeprefix(f"http://testserver{ROOT}/"),
        "matches?cursor=x",
        "boards",
    ):
        assert nobody.get(wrong, headers={"Accept": f"text/html, {NDJSON};q=0.9"}).status_code == 400, wrong
    assert nobody.get("players", headers={"Accept": NDJSON}).json()["results"], "other lists have no streams"
    cache.clear()
    monkeypatch.setitem(REST_FRAMEWORK["DEFAULT_THROTTLE_RATES"], "anon", (2, 10**9))
    monkeypatch.setattr(cursors, "MAX_SIZE", 1)
    rows, following = stream(nobody, f"{ROOT}/matches?status=finished")
    assert ([row["id"] for row in rows], following is None) == (ids[:2], False)
    assert nobody.get("matches").status_code == 429


def test_the_response_cache_leaves_streams_alone() -> None:
    plain = {
        "REQUEST_METHOD": "GET",
        "PATH_INFO": "/api/v1/matches",
        "HTTP_HOST": "localhost",
        "wsgi.url_scheme": "http",
    }
    assert read_key(plain) is not None
    assert read_key({**plain, "HTTP_ACCEPT": f"{NDJSON}, */*"}) is None
