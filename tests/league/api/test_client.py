"""The client of the wheel: a method for each operation of the OpenAPI document, checked values, pages, streams, retries, errors by kind."""

from __future__ import annotations

import functools
import re
import threading
from datetime import UTC, datetime
from http.client import HTTPResponse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from django.core.cache import cache
from django.urls import resolve

from engine import client
from engine.client import ApiOperation, League, operations_of
from league.api.http import cursors
from league.api.http.base import StreamedView
from league.api.http.schema import document
from league.api.http.settings import REST_FRAMEWORK
from league.domain.people import players, tokens
from league.models import Match
from tests.league.api.client import violations
from tests.support import league as made

WORDS = {"^[-a-z0-9_]{1,60}$": "a-b", "^[0-9]{1,9}$": 7}
SAMPLES = {"string": "x", "integer": 3, "boolean": True}


@functools.cache
def api_operations() -> dict[str, ApiOperation]:
    """Return the operations of the document: when a test asks, because every process that collects tests imports this file."""
    return operations_of(document())


def sample(schema: dict[str, Any]) -> Any:
    """Return a value that the schema of a parameter allows."""
    if "enum" in schema:
        return schema["enum"][0]
    if schema.get("format") == "date-time":
        return datetime(2026, 11, 21, tzinfo=UTC)
    return WORDS.get(schema.get("pattern", ""), SAMPLES[schema["type"]])


@pytest.fixture
def alone(live_server, db) -> League:
    """A client without a token."""
    cache.clear()
    return League(live_server.url)


@pytest.fixture
def signed_in(alone) -> League:
    """A client of ana, whose bots are rufo and lola."""
    ana = players.create("ana", now=made.NOW)
    made.started(ana, made.in_turn(ana, ana, "rufo", "lola"))
    return League(alone.url, tokens.create(ana, "desk", scope="manage")[1])


def test_each_operation_of_the_document_is_a_method(alone) -> None:
    names = {row["operationId"] for methods in document()["paths"].values() for row in methods.values()}
    assert names == alone.operations.keys() == api_operations().keys()
    assert names <= set(dir(alone))
    assert not names & set(dir(League)), "a method of its own hides an operation"
    for name in names:
        assert getattr(alone, name).__doc__
    with pytest.raises(AttributeError, match="did you mean 'get_match'"):
        _ = alone.get_mach


def test_each_method_sends_what_the_document_says() -> None:
    for name, operation in api_operations().items():
        check_request(name, operation)


def check_request(name: str, operation: ApiOperation) -> None:
    """Check what a method sends, and what it refuses."""
    rows = operation.description.get("parameters", [])
    in_path = {row["name"]: row["schema"] for row in rows if row["in"] == "path"}
    places = [sample(in_path[place]) for place in operation.places]
    values = {key: sample(row["schema"]) for key, row in operation.parameters.items()}
    body = b"x" if operation.takes_bytes else None
    required = operation.fields.get("required", [])
    assert not operation.parameters.keys() & operation.fields.get("properties", {}).keys(), "a keyword is one of both"
    if required:
        with pytest.raises(ValueError, match=f"{required[0]} is missing"):
            operation.request(*places, **values)
        return
    method, address, _, headers = operation.request(*places, body=body, **values)
    parts = urlsplit(address)
    assert re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", operation.path), parts.path)
    assert method.lower() in resolve(parts.path).func.view_class().http_method_names  # type: ignore[attr-defined]
    assert {*parse_qs(parts.query), *headers} - {"Content-Type"} == {row["name"] for row in rows if row["in"] != "path"}
    for wrong in ((*places, 1), places[:-1] if places else (1, 2)):
        with pytest.raises(TypeError, match=name):
            operation.request(*wrong, body=body, **values)
    with pytest.raises(TypeError, match="has no 'colour'"):
        operation.request(*places, body=body, **values, colour="red")
    for key, row in operation.parameters.items():
        if row["schema"]["type"] in ("integer", "boolean") or "enum" in row["schema"]:
            with pytest.raises(ValueError, match=key):
                operation.request(*places, body=body, **{**values, key: "wrong"})


WRONG = [
    ("create_tournament", (), {"name": 5, "game": "partnership"}, "name is no string"),
    ("create_tournament", (), {"name": "x", "game": "partnership", "boards": "many"}, "boards is no integer"),
    ("create_tournament", (), {"name": "x", "game": "partnership", "bots": [1]}, r"bots\[0\] is no string"),
    ("list_matches", (), {"page_size": 101}, "page_size is not from 1 to 100"),
    ("list_matches", (), {"status": "won"}, "status is none of"),
    ("get_match", ("../me",), {}, "id has not the form"),
]


@pytest.mark.parametrize(("name", "places", "values", "why"), WRONG)
def test_wrong_values_are_refused_before_they_are_sent(name, places, values, why) -> None:
    with pytest.raises(ValueError, match=why):
        api_operations()[name].request(*places, **values)


def test_pages_streams_and_writes(signed_in, monkeypatch) -> None:
    cup = signed_in.create_tournament(name="First cup", game="partnership", boards=1, bots=["rufo", "lola"])
    schema = {"$ref": "#/components/schemas/Tournament"}
    assert violations(schema, signed_in.get_tournament(cup["slug"])) == []
    assert [row["version"]["bot"] for row in signed_in.list_entries(cup["slug"], page_size=1)] == ["rufo", "lola"]
    assert signed_in.withdraw_entry(cup["slug"], 1) is None
    signed_in.enter_tournament(cup["slug"], bot="lola")
    signed_in.start_tournament(cup["slug"])
    ids = [row["id"] for row in signed_in.list_matches(page_size=1)]
    assert len(ids) == Match.objects.count() > 2
    monkeypatch.setattr(cursors, "MAX_SIZE", 1)
    monkeypatch.setattr(StreamedView, "MOST_LINES", 1)
    assert [row["id"] for row in signed_in.stream("list_matches")] == ids
    assert [row["id"] for row in signed_in.stream("list_matches", id=ids[1:])] == ids[1:]
    with pytest.raises(TypeError, match="has no streams"):
        signed_in.stream("list_bots")
    version = signed_in.upload_version("vega", body=made.source(), filename="a.py", games="partnership")
    assert version["status"] == "validating"
    with pytest.raises(client.RequestRefused, match=r"x\.exe") as refused:
        signed_in.upload_version("vega", body=made.source(), filename="x.exe")
    assert refused.value.status == 422


def test_a_program_may_work_slowly_on_the_rows_of_a_stream(signed_in, monkeypatch) -> None:
    cup = signed_in.create_tournament(name="First cup", game="partnership", boards=1, bots=["rufo", "lola"])
    signed_in.start_tournament(cup["slug"])
    rows = signed_in.stream("list_matches")
    first = next(rows)

    def cut_off(*_arguments: object) -> bytes:
        raise ConnectionResetError

    monkeypatch.setattr(HTTPResponse, "readline", cut_off)
    assert [first, *rows] == list(signed_in.list_matches())


def test_an_address_that_answers_other_json_is_no_league() -> None:
    class Elsewhere(BaseHTTPRequestHandler):
        requests = 0

        def do_GET(self) -> None:
            Elsewhere.requests += 1
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"[]")

    with ThreadingHTTPServer(("127.0.0.1", 0), Elsewhere) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            with pytest.raises(client.Unreachable, match="no OpenAPI document"):
                League(f"http://127.0.0.1:{server.server_port}").list_matches()
        finally:
            server.shutdown()
    assert Elsewhere.requests == 1


@pytest.mark.parametrize(
    "link", ["https://evil.example/x?a=1", "//evil.example/x?a=1", "https:.evil.example/x?a=1", "@evil.example/x?a=1"]
)
def test_the_next_page_is_one_of_the_same_league(link: str) -> None:
    address = urlsplit("https://tute.example" + str(client._own(link)))
    assert (address.hostname, address.username, address.query) == ("tute.example", None, "a=1")


def test_refusals_have_their_kinds(alone, signed_in) -> None:
    for kind, act in {
        client.NoToken: alone.get_me,
        client.NotThere: lambda: alone.get_bot("nobody"),
        client.NotNow: lambda: signed_in.fetch_version("rufo", url="https://x.example/a", tag="v1"),
    }.items():
        with pytest.raises(kind, match="the league refused this") as refused:
            act()
        assert refused.value.problem["status"] == refused.value.status
        assert not refused.value.is_away
    with pytest.raises(client.Unreachable, match="cannot reach"):
        League("http://127.0.0.1:9").get_queue()
    with pytest.raises(client.LeagueError, match="not encrypted"):
        League("http://tute.example", "tute_x")


def test_a_request_is_repeated_after_the_seconds_that_the_league_names(alone, monkeypatch) -> None:
    waits: list[float] = []

    def sleep(seconds: float) -> None:
        waits.append(seconds)
        cache.clear()

    monkeypatch.setattr(client.time, "sleep", sleep)
    monkeypatch.setitem(REST_FRAMEWORK["DEFAULT_THROTTLE_RATES"], "anon", (1, 40))
    assert alone.operations
    for _ in range(2):
        alone.forecast_tournament(game="partnership", entries=4)
    assert len(waits) == 1
    assert 0 < waits[0] <= 40
    monkeypatch.setattr(client.time, "sleep", waits.append)
    with pytest.raises(client.TooManyRequests):
        alone.forecast_tournament(game="partnership", entries=4)
    assert len(waits) == client.TRIES
