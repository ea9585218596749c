"""Reports of users of other APIs, tried here on every address that takes a body (docs/reports.md)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from league.api.http.index import operations
from league.domain.tournaments import tournaments
from league.models import Tournament
from tests.league.api.client import ROOT, Api
from tests.support import league as made
from tests.support.parts import mostly_slow

MOST_EXACT = 2**53 - 1  # The largest whole number that JavaScript reads as it is written.


@pytest.fixture(autouse=True)
def _no_limit(settings) -> None:
    rates = {"anon": (10**6, 60), "user": (10**6, 60), "upload": (10**6, 60), "remote": (10**6, 60)}
    settings.REST_FRAMEWORK = {**settings.REST_FRAMEWORK, "DEFAULT_THROTTLE_RATES": rates}


def addresses(league, *methods: str) -> Iterator[tuple[str, str]]:
    """Yield each operation with the names of things that exist in place of its parameters."""
    names = {"slug": league.next_cup.slug, "id": "1", "name": "alice", "key": "partnership", "number": "1"}
    for operation in operations():
        if operation["method"] in methods:
            path = operation["path"].removeprefix(f"{ROOT}/")
            parts = [names.get(part[1:-1], "1") if part.startswith("{") else part for part in path.split("/")]
            yield (
                operation["method"],
                "/".join("rufo" if part == "next-cup" and "bots/{" in path else part for part in parts),
            )


WRONG = {
    "half of a surrogate pair": rb'{"name":"\ud83d","description":"\udc00"}',
    "a lone null": b"null",
    "a text": b'"null"',
    "an empty list": b"[]",
    "deep": b"[" * 100_000,
    "deep and closed": b'{"options":' + b'{"a":' * 900 + b"1" + b"}" * 901,
    "a huge number": b'{"players":' + b"9" * 6000 + b"}",
    "not a number": b'{"boards":NaN}',
    "a text that is no number": b'{"boards":"nan","players":"1e400"}',
    "true for one": b'{"boards":true,"players":true}',
    "NUL": rb'{"name":"a\u0000b"}',
    "nothing": b"",
}


@pytest.mark.parametrize("kind", mostly_slow(WRONG, ("half of a surrogate pair", "deep", "nothing").__contains__))
def test_no_body_breaks_an_address(as_alice: Api, league, kind: str) -> None:
    body, tried = WRONG[kind], 0
    for method, path in addresses(league, "POST", "PATCH", "PUT", "DELETE"):
        answer = as_alice.call(method, path, body, content_type="application/json")  # It fails for 500 and above
        tried += 1
        assert answer.status_code != 201 or body in (b"", b"null"), (method, path)
    assert tried > 30


@pytest.mark.parametrize("value", ["nan", "inf", "1e400", float("1e308"), 2**63, -(2**63) - 1, 10**300, "9" * 5000])
def test_options_and_numbers_out_of_every_range_are_refused(as_alice: Api, league, value: Any) -> None:
    for field in (
        {"options": {"win_by": value}},
        {"boards": value},
        {"players": value},
        {"parameters": {"rounds": value}},
    ):
        body = {"name": "Big", "game": "partnership", "format": "swiss", **field}
        assert as_alice.post("tournaments", body).status_code == 400, field
    for path in (
        f"versions/{value}",
        f"pools/{value}/leaderboard",
        f"matches/{league.faulty.public_id}/boards/{value}",
    ):
        assert as_alice.get(path).status_code == 404, path


def numbers(value: Any) -> Iterator[int]:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for part in value:
            yield from numbers(part)
    elif isinstance(value, int) and not isinstance(value, bool):
        yield value


def test_every_number_can_be_read_by_javascript(as_alice: Api, league) -> None:
    read = 0
    for _, path in addresses(league, "GET"):
        path = path.replace("matches/1", f"matches/{league.faulty.public_id}")
        answer = as_alice.get(path)
        if answer.status_code == 200 and answer["Content-Type"].startswith("application/json"):
            assert max(map(abs, numbers(json.loads(answer.content))), default=0) <= MOST_EXACT, path
            read += 1
    assert read > 25


def test_rows_of_the_same_moment_are_listed_once_each(nobody: Api, alice) -> None:
    slugs = {tournaments.create(alice, f"Cup {n}", "partnership", now=made.NOW).slug for n in range(9)}
    Tournament.objects.update(created=made.NOW)
    listed: list[str] = []
    page = nobody.get("tournaments?page_size=2").json()
    listed += [row["slug"] for row in page["results"]]
    while page["next"]:
        page = nobody.get(page["next"].partition("testserver")[2] or page["next"]).json()
        listed += [row["slug"] for row in page["results"]]
    assert sorted(listed) == sorted(slugs)
