"""The border of the API, for every request: problems, limits, ETags, strict bodies and queries."""

from __future__ import annotations

import json
from typing import ClassVar

import pytest
from django.core.cache import cache
from django.db import OperationalError
from django.test import Client
from openapi_spec_validator import OpenAPIV31SpecValidator

from league.api.http import throttles
from league.api.http.index import operations
from league.api.http.problems import KINDS
from league.api.http.schema import document
from tests.league.api.client import violations


@pytest.mark.slow
def test_document_is_valid_openapi_3_1(nobody):
    response = nobody.get("/api/v1/schema")

    assert response["Content-Type"].startswith("application/vnd.oai.openapi+json")
    assert response.json()["openapi"] == "3.1.0"
    assert list(OpenAPIV31SpecValidator(response.json()).iter_errors()) == []


def test_document_has_a_summary_and_tag_for_every_operation():
    assert len(operations()) == 158
    assert all(operation["summary"] and operation["tag"] for operation in operations())
    ids = [operation["operationId"] for methods in document()["paths"].values() for operation in methods.values()]
    assert len(set(ids)) == len(ids)


@pytest.mark.parametrize(
    "path",
    [
        "nothing",
        "bots/",
        "bots/UPPER",
        "bots/a%00b",
        "versions/99999999999",
        "versions/-1",
        "matches/x/boards/y",
        "bots/rufo/x/y",
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
def test_other_addresses_are_problems_too(nobody, method, path):
    response = nobody.call(method, path)

    assert response.status_code == 404
    assert "GET /api/v1/ lists all endpoints" in response.json()["detail"]


@pytest.mark.parametrize(
    "path",
    [
        "games/nothing",
        "players/nobody",
        "bots/nobody",
        "bots/nobody/versions",
        "versions/77",
        "versions/77/ratings",
        "tournaments/none",
        "tournaments/none/entries",
        "tournaments/none/standings",
        "matches/none",
        "matches/none/boards",
        "matches/none/boards/1",
        "matches/none/boards/1/sittings/0/replay",
        "pools/77",
        "pools/77/leaderboard",
        "pools/77/history",
    ],
)
def test_rows_that_do_not_exist_are_404(nobody, path):
    response = nobody.get(path)

    assert response.status_code == 404
    assert response.json()["type"] == "/api/v1/#not-found"


@pytest.mark.parametrize(
    ("path", "allow"),
    [("bots", "GET, HEAD"), ("bots/rufo", "GET, HEAD, PATCH"), ("schema", "GET, HEAD"), ("", "GET, HEAD")],
)
def test_wrong_method_names_the_right_ones(as_alice, path, allow):
    for method in ("PUT", "OPTIONS", "TRACE"):
        response = as_alice.call(method, f"/api/v1/{path}")

        assert response.status_code == 405
        assert sorted(response["Allow"].split(", ")) == sorted(allow.split(", "))


@pytest.mark.parametrize(
    ("path", "parameters"),
    [
        (
            "matches?colour=red",
            "bot, cursor, game, id, kind, page_size, player, pool, rated, status, tournament, version",
        ),
        ("bots/rufo?page_size=3", "none"),
        ("queue?x", "none"),
        ("pools/{pool}/leaderboard?game=x", "at, cursor, every_version, limit, owner, page_size, show"),
    ],
)
def test_unknown_query_parameters_are_refused_with_the_known_ones(nobody, league, path, parameters):
    response = nobody.get(path.format(pool=league.pool.pk))

    assert response.status_code == 400
    assert response.json()["detail"].endswith(f"it accepts: {parameters}")


@pytest.mark.parametrize(
    ("path", "field"),
    [
        ("matches?status=won", "status"),
        ("matches?rated=maybe", "rated"),
        ("matches?pool=x", "pool"),
        ("matches?pool=0", "pool"),
        ("matches?pool=-1", "pool"),
        (f"matches?pool={10**40}", "pool"),
        (f"matches?version={'9' * 5000}", "version"),
        ("matches?bot=%00", "bot"),
        (f"matches?bot={'x' * 81}", "bot"),
        ("matches?status=queued&status=running", "status"),
        ("bots?state=asleep", "state"),
        ("games/cabrero?players=x", "players"),
        ("games/cabrero?players=99", "players"),
        ("pools/{pool}/leaderboard?every_version=1", "every_version"),
        ("pools/{pool}/leaderboard?at=yesterday", "at"),
        ("pools/{pool}/leaderboard?at=2026-11-21T12:00:00", "at"),
        ("pools/{pool}/leaderboard?at=2026-13-21T12:00:00Z", "at"),
        ("pools/{pool}/leaderboard?at=0001-01-01T00:00:00%2B14:00", "at"),
        ("pools/{pool}/leaderboard?at=9999-12-31T23:59:59-14:00", "at"),
        ("matches/{match}/boards/1/sittings/0/replay?seat=4", "seat"),
        ("matches/{match}/boards/1/sittings/0/replay?seat=-1", "seat"),
        ("matches/{match}/boards/1/sittings/0/replay?seat=all", "seat"),
        ("matches/{match}/boards/1/sittings/0/replay?seat=", "seat"),
        ("matches/{match}/boards/1/sittings/0/replay?seat=%C2%B2", "seat"),
    ],
)
def test_bad_values_are_refused_by_name(nobody, league, path, field):
    response = nobody.get(path.format(pool=league.pool.pk, match=league.faulty.public_id))

    assert response.status_code == 400
    assert list(response.json()["errors"]) == [field]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"nonsense",
        b'{"name":"a","name":"b"}',
        b'{"name":NaN}',
        b'{"name":-Infinity}',
        b'{"name":1e999}',
        b'{"name":"a\\u0000b"}',
        b'{"a\\u0000":1}',
        b'{"name":"\\ud800"}',
        b'{"name":"\xff"}',
        b"[" * 100_000,
        b"[" * 25 + b"]" * 25,
        b'{"name":' + b"9" * 5000 + b"}",
        b"\xef\xbb\xbf{}",
    ],
    ids=lambda body: body[:20].decode("latin-1"),
)
def test_bodies_that_are_no_good_json_are_refused(as_alice, body):
    response = as_alice.post("tournaments", body, content_type="application/json")

    assert response.status_code == 400, response.json()


def test_oversized_json_is_refused(as_alice):
    response = as_alice.post("tournaments", b" " * 300_000, content_type="application/json")

    assert response.status_code == 413


@pytest.mark.parametrize(
    "content_type", ["text/plain", "application/x-www-form-urlencoded", "nonsense", "multipart/form-data"]
)
def test_other_content_types_are_415_or_400_with_the_right_ones_named(as_alice, content_type):
    response = as_alice.post("tournaments", b"name=x", content_type=content_type)

    assert response.status_code == 415
    assert "application/json" in response.json()["detail"]


@pytest.mark.parametrize(
    "content_type",
    [
        "multipart/form-data",
        "multipart/form-data; boundary=",
        "multipart/form-data; boundary=x",
        "multipart/form-data; boundary=\xe9",
    ],
)
def test_broken_multipart_is_refused(as_alice, content_type):
    response = as_alice.post("bots/pinta/versions", b"--x\r\nbroken", content_type=content_type)

    assert response.status_code == 400


def test_reads_have_etags_and_answer_304(nobody, league):
    first = nobody.get("bots/rufo")
    again = nobody.get("bots/rufo", headers={"If-None-Match": first["ETag"]})

    assert (again.status_code, again.content) == (304, b"")
    assert again["ETag"] == first["ETag"]
    league.rufo.bot.description = "changed"
    league.rufo.bot.save()
    changed = nobody.get("bots/rufo", headers={"If-None-Match": first["ETag"]})
    assert changed.status_code == 200
    assert changed["ETag"] != first["ETag"]


def test_answers_are_english_unless_asked_and_never_shared_between_callers(nobody, league):
    response = nobody.get("matches?status=won", headers={"Accept-Language": "de, *;q=0.1"})

    assert "Select a valid choice" in response.json()["detail"]
    assert response["Content-Language"] == "en"
    assert {"Authorization", "Cookie", "Accept-Language"} <= set(response["Vary"].replace(" ", "").split(","))
    assert "private" in response["Cache-Control"]


def test_limits_are_told_and_kept(nobody, as_alice, settings):
    rates = {"anon": (2, 60), "user": (3, 60), "upload": (1, 3600)}
    settings.REST_FRAMEWORK = {**settings.REST_FRAMEWORK, "DEFAULT_THROTTLE_RATES": rates}

    answers = [nobody.get("bots") for _ in range(3)]

    assert [answer.status_code for answer in answers] == [200, 200, 429]
    assert answers[0]["RateLimit-Policy"] == '"anon";q=2;w=60'
    assert answers[0]["RateLimit"].startswith('"anon";r=1;t=')
    assert answers[2]["RateLimit"].startswith('"anon";r=0;t=')
    assert 1 <= int(answers[2]["Retry-After"]) <= 60
    assert as_alice.get("bots").status_code == 200  # counted by account
    uploads = [as_alice.post("bots/pinta/versions", b"x") for _ in range(2)]
    assert [answer.status_code for answer in uploads] == [422, 429]
    assert '"upload";q=1;w=3600' in uploads[0]["RateLimit-Policy"]


def test_limits_count_an_address_that_a_client_cannot_choose(nobody, settings):
    rates = {"anon": (1, 60), "user": (1, 60), "upload": (1, 60)}
    settings.REST_FRAMEWORK = {**settings.REST_FRAMEWORK, "DEFAULT_THROTTLE_RATES": rates}

    answers = [nobody.get("bots", headers={"X-Forwarded-For": f"10.0.0.{number}"}) for number in range(2)]

    assert [answer.status_code for answer in answers] == [200, 429]


def test_bad_tokens_are_counted_as_requests_of_nobody(nobody, as_alice, settings):
    rates = {"anon": (3, 60), "user": (9, 60), "upload": (1, 60)}
    settings.REST_FRAMEWORK = {**settings.REST_FRAMEWORK, "DEFAULT_THROTTLE_RATES": rates}
    junk = ["Bearer tute_junk", "Basic abc", "Bearer"]

    answers = [nobody.get("bots", headers={"Authorization": header}) for header in [*junk, *junk]]

    assert [answer.status_code for answer in answers] == [401, 401, 401, 429, 429, 429]
    assert 1 <= int(answers[3]["Retry-After"]) <= 60
    assert nobody.get("bots").status_code == 429
    assert as_alice.get("bots").status_code == 200  # a live token is not refused for them


def test_every_kind_of_problem_says_what_to_do():
    for status, title, what_to_do in KINDS.values():
        assert 400 <= status < 600
        assert title
        assert what_to_do.endswith(".")


def test_refusals_come_in_the_language_that_is_asked_for(as_alice, league):
    plain = as_alice.post(f"tournaments/{league.cup.slug}/start")
    spanish = as_alice.post(
        f"tournaments/{league.cup.slug}/start", headers={"Accept-Language": "es-MX,es;q=0.9,en;q=0.5"}
    )

    assert (plain.status_code, spanish.status_code) == (409, 409)
    assert "cannot be started" in plain.json()["detail"]
    assert "no se puede empezar" in spanish.json()["detail"]
    assert spanish.json()["title"] == "Ahora no es posible"
    assert (plain["Content-Language"], spanish["Content-Language"]) == ("en", "es")


class TestEveryErrorIsAProblem:
    """Also where no view of the API answers, and in the language that the request asks for."""

    SPANISH: ClassVar = {"Accept-Language": "es"}

    @staticmethod
    def problem(response, status):
        """The problem of an answer."""
        assert response.status_code == status
        assert response["Content-Type"] == "application/problem+json"
        assert violations(document()["components"]["schemas"]["Problem"], response.json()) == []
        return response.json()

    @pytest.mark.parametrize(("language", "title"), [("es", "Error interno"), ("", "Internal error")])
    def test_fault_of_ours(self, db, monkeypatch, language, title):
        monkeypatch.setattr("league.domain.people.lists.rows", lambda: 1 // 0)
        client = Client(raise_request_exception=False)

        problem = self.problem(client.get("/api/v1/players", headers={"Accept-Language": language}), 500)

        assert problem["title"].startswith(title)

    def test_database_that_is_away(self, db, monkeypatch):
        def away():
            raise OperationalError

        monkeypatch.setattr("league.domain.people.lists.rows", away)
        response = Client(raise_request_exception=False).get("/api/v1/players")

        self.problem(response, 503)
        assert response["Retry-After"] == "10"

    @pytest.mark.parametrize(
        ("method", "path", "status", "detail"),
        [
            ("GET", "/api/v2/bots", 404, "No existe la dirección /api/v2/bots"),
            ("GET", "/api/v1/bots/", 404, "No existe la dirección /api/v1/bots/"),
            ("GET", "/api/v1/bots/none", 404, "No existe, o no puedes verlo"),
            ("POST", "/api/v1/schema", 405, "El método POST"),
            ("OPTIONS", "/api/v1/bots", 405, "Método"),
            ("GET", "/api/v1/bots?x=1", 400, "x: no es un parámetro"),
            ("POST", "/api/v1/forecast", 400, "El cuerpo no es JSON"),
            ("POST", "/api/v1/tournaments", 401, "credenciales"),
        ],
    )
    def test_refusals_speak_the_language_of_the_request(self, client, db, method, path, status, detail):
        response = client.generic(method, path, "{", content_type="application/json", headers=self.SPANISH)

        assert detail in self.problem(response, status)["detail"]
        assert response["Content-Language"] == "es"

    def test_host_that_is_not_ours(self, db):
        self.problem(Client().get("/api/v1/bots", headers={"Host": "evil.example"}), 400)


def test_304_keeps_the_headers_of_the_answer(nobody, league):
    first = nobody.get("bots/rufo")

    again = nobody.get("bots/rufo", headers={"If-None-Match": first["ETag"]})

    headers = ("ETag", "Cache-Control", "Vary", "Content-Language", "RateLimit-Policy", "RateLimit")
    assert again.status_code == 304
    assert [name for name in headers if name not in again] == []
    assert "Content-Length" not in again or again["Content-Length"] == "0"


def test_precondition_that_fails_is_a_problem(nobody, league):
    response = nobody.get("bots/rufo", headers={"If-Match": '"another"'})

    assert response.status_code == 412


def test_a_large_body_counts_as_many_requests(nobody, as_alice, settings):
    settings.REST_FRAMEWORK = {
        **settings.REST_FRAMEWORK,
        "DEFAULT_THROTTLE_RATES": {"anon": (9, 60), "user": (9, 60), "upload": (9, 3600)},
    }
    text = {"answer": "x" * (4 * throttles.WEIGHED)}

    answers = [as_alice.post("puzzles/none/answers", text) for _ in range(3)]

    assert [answer.status_code for answer in answers] == [404, 429, 429]
    assert answers[0]["RateLimit"].startswith('"user";r=4;t=')
    cache.clear()
    for kind in ("Application/JSON; charset=utf-8", "application/*", "*/*"):  # All are parsed as JSON.
        as_alice.post("puzzles/none/answers", json.dumps(text).encode(), content_type=kind)
    assert as_alice.get("bots").status_code == 429
    cache.clear()
    huge = as_alice.post("forecast", {"game": "x" * (20 * throttles.WEIGHED)})
    assert huge.status_code == 413, "the first one passes, however large, and is refused by its size"
    cache.clear()
    uploads = [as_alice.post("bots/pinta/versions", b"x" * (20 * throttles.WEIGHED)) for _ in range(3)]
    assert {answer.status_code for answer in uploads} == {422}, "uploads have a limit of their own"
    length = {"Content-Length": "9" * 400}
    assert nobody.post("forecast", {"game": "partnership"}, headers=length).status_code in (400, 413)
