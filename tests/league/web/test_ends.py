"""Values near the ends, at every address: dates, numbers, null characters, methods. The answer is never an error of ours."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import quote

import pytest
from django.core.cache import cache
from django.test import Client
from django.urls import URLPattern

from league.api.http.index import operations
from league.api.http.schema import document
from league.web.urls import urlpatterns
from tests.league.web.conftest import League
from tests.support.parts import mostly_slow

TIMES = [
    "0001-01-01",
    "9999-12-31",
    "0001-01-01T00:00:00+14:00",
    "9999-12-31T23:59:59-14:00",
    "0001-W01-1",
    "2026-02-30T25:61:00Z",
]
NUMBERS = ["0", "-1", "2147483648", "9223372036854775808", "9" * 30, "1e999", "NaN"]
TEXTS = ["\0", "a\0b", "٣", "\ud800".encode("utf-8", "surrogatepass").decode("latin-1"), "\r\nX: y"]
ENDS = [*TIMES, *NUMBERS, *TEXTS]
PARTS = 5  # The addresses are shared out, and one share is quick
PAGE_PARAMETERS = (
    "of at page cursor q b s step as pool game players format bot from with status url next maxwidth boards private n"
)


def places(league: League) -> dict[str, str]:
    """Return something that exists for each place in an address."""
    return {
        "name": "ana", "slug": "rufo", "other": "luna", "public_id": league.clean.public_id, "period": "day", "key": "partnership",
        "number": "1", "sitting": "0", "seat": "0", "kind": "open", "pk": str(league.pool.pk), "id": str(league.pool.pk), "part": "bots",
        "identity": "1", "link": "x", "word": "x", "token": "x", "uidb64": "x", "rival": "greedy",
    }  # fmt: skip


def fill(route: str, league: League) -> str:
    """Return the address of a route."""
    names = places(league)
    tournament = route.removeprefix("/").startswith(("t/", "api/v1/tournaments"))
    names |= {"slug": league.cup.slug} if tournament else {}
    return re.sub(r"<\w+:(\w+)>|\{(\w+)\}", lambda match: names.get(match[1] or match[2], "1"), route)


def page_routes() -> Iterator[str]:
    """Yield the routes of all pages."""
    for pattern in urlpatterns:
        if isinstance(pattern, URLPattern):
            yield f"/{pattern.pattern}"


@pytest.fixture
def client(league: League, settings) -> Client:
    """Ana, whom no limit of rates stops."""
    settings.LIMITS = dict.fromkeys(settings.LIMITS, (10**6, 60))
    settings.REST_FRAMEWORK = {
        **settings.REST_FRAMEWORK,
        "DEFAULT_THROTTLE_RATES": {"anon": (10**6, 60), "user": (10**6, 60), "upload": (10**6, 60)},
    }
    cache.clear()
    client = Client(raise_request_exception=True)
    client.force_login(league.ana.user)
    return client


def some(number: int, count: int = 4) -> list[str]:
    """Return some of the values, so that the parameters of many addresses get all of them."""
    return [ENDS[(number * count + step) % len(ENDS)] for step in range(count)]


@pytest.mark.parametrize("part", mostly_slow(range(PARTS), (0).__eq__))
def test_no_value_near_an_end_breaks_a_page(client: Client, league: League, part: int) -> None:
    names = PAGE_PARAMETERS.split()
    for number, route in list(enumerate(page_routes()))[part::PARTS]:
        address = fill(route, league)
        for step, value in enumerate(some(number)):
            chosen = {names[(number + step) % len(names)], names[(number * 5 + step * 3) % len(names)], "of", "at"}
            query = "&".join(f"{name}={quote(value, encoding='latin-1', errors='replace')}" for name in sorted(chosen))
            answer = client.get(f"{address}?{query}")
            assert answer.status_code < 500, (address, query)
            if "\0" in value:
                assert answer.status_code in (302, 400, 404, 405), (address, query)
    for period in ("day", "week"):
        for value in ENDS[part::PARTS]:
            assert client.get(f"/players/ana/digest/{period}/", {"of": value}).status_code in (400, 404), value


def test_no_null_character_of_a_form_reaches_the_database(client: Client, league: League) -> None:
    fields = [
        *PAGE_PARAMETERS.split(),
        "name",
        "label",
        "address",
        "username",
        "revoke",
        "action",
        "do",
        "version",
        "why",
        "rival",
    ]
    for route in page_routes():
        answer = client.post(fill(route, league), dict.fromkeys(fields, "a\0b"))
        assert answer.status_code in (302, 400, 403, 404, 405), route
    assert client.post("/c/liga/do/", {"bot": "a\0b"}).status_code == 400


@pytest.mark.parametrize("part", mostly_slow(range(PARTS), (0).__eq__))
def test_no_value_near_an_end_breaks_the_api(client: Client, league: League, part: int) -> None:
    parameters = [
        (path, spec["name"])
        for path, methods in document()["paths"].items()
        for spec in methods.get("get", {}).get("parameters", [])
        if spec["in"] == "query"
    ]
    for number, (path, name) in list(enumerate(parameters, 1))[part::PARTS]:
        for value in (*some(number), *(TIMES if name == "at" else ())):
            answer = client.get(fill(path, league), {name: value})
            assert answer.status_code < 500, (path, name, value)
            if "\0" in value:
                assert answer.status_code in (400, 404), (path, name)


def test_a_method_that_an_address_lacks_is_405_whatever_else_is_wrong(client: Client, league: League) -> None:
    for number, operation in enumerate(operations()):
        for caller, method in ((client, "TRACE"), (Client(), "PUT"), (client, ("OPTIONS", "BREW")[number % 2])):
            answer = caller.generic(method, f"{fill(operation['path'], league)}?unknown=1")
            assert (answer.status_code, "Allow" in answer) == (405, True), (method, operation["path"])
