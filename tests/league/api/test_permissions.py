"""Permissions of an anonymous client, the owner Alice, the stranger Charlie and the operator."""

from __future__ import annotations

import re

import pytest

from league.api.http.index import operations
from league.domain.people import tokens
from league.models import Bot, Entry, Tournament
from tests.league.api.client import Api
from tests.support import league as made
from tests.support.parts import mostly_slow

BODY = {"description": "Plays low."}
# method, address, body, and the status for nobody, Charlie, Alice, the operator
WRITES = [
    ("PATCH", "bots/rufo", BODY, 401, 403, 200, 403),
    ("PATCH", "bots/luna", BODY, 401, 403, 403, 403),
    ("POST", "bots/rufo/versions?filename=a.py", b"new", 401, 403, 201, 403),
    ("POST", "bots/fresh/versions?filename=a.py", b"new", 401, 201, 201, 201),
    ("POST", "bots/rufo/fetches", {"url": "https://x.example/a", "tag": "v1"}, 401, 409, 409, 409),
    ("GET", "bots/rufo/tunings", None, 401, 403, 200, 403),
    ("POST", "bots/rufo/tunings", {"game": "partnership"}, 401, 403, 409, 403),
    ("GET", "studies", None, 200, 200, 200, 200),
    ("POST", "studies", {"game": "partnership"}, 401, 409, 409, 409),
    ("POST", "bots/rufo/push", {}, 404, 404, 404, 404),
    ("POST", "bots/rufo/remote", {}, 401, 403, 409, 403),
    ("POST", "tournaments", {"name": "Copa fresh", "game": "partnership"}, 401, 201, 201, 201),
    ("POST", "tournaments/next-cup/start", None, 401, 403, 409, 403),
    ("POST", "tournaments/next-cup/cancel", {}, 401, 403, 200, 403),
    ("POST", "tournaments/next-cup/extend", {"parameters": {"cycles": 2}}, 401, 403, 409, 403),
    ("POST", "tournaments/next-cup/close", None, 401, 403, 409, 403),
    ("POST", "forecast", {"game": "partnership", "entries": 4}, 200, 200, 200, 200),
    ("POST", "tournaments/next-cup/entries", {"bot": "rufo"}, 401, 403, 201, 403),
    ("POST", "tournaments/next-cup/entries", {"bot": "luna"}, 401, 403, 201, 403),
    ("DELETE", "tournaments/next-cup/entries/0", None, 401, 403, 204, 403),
    ("POST", "volunteer", {"engine": "x"}, 401, 403, 403, 403),
    ("GET", "me", None, 401, 200, 200, 200),
    ("GET", "me/notices", None, 401, 200, 200, 200),
    ("POST", "me/notices/read", {"ids": [1]}, 401, 200, 200, 200),
    ("GET", "tokens", None, 401, 200, 200, 200),
    ("POST", "tokens", {"label": "x"}, 401, 403, 403, 403),
    ("DELETE", "tokens/{token}", None, 401, 404, 204, 404),
]


@pytest.mark.parametrize(("method", "path", "body", "nobody_", "stranger", "owner", "staff"), WRITES)
def test_matrix(
    method, path, body, nobody_, stranger, owner, staff, nobody, as_alice, as_charlie, as_operator, alice, league
):
    path = path.replace("{token}", str(alice.tokens.get().pk))
    callers = [(nobody, nobody_), (as_charlie, stranger), (as_operator, staff), (as_alice, owner)]
    results = []
    for number, (caller, expected) in enumerate(callers):
        sent, where = body, path
        if body == b"new":
            sent, where = made.source(), path.replace("fresh", f"fresh-{number}")
        if isinstance(body, dict) and "name" in body:  # a name belongs to who took it
            sent = {**body, "name": body["name"].replace("fresh", f"fresh {number}")}
        if caller is as_alice and staff < 300:  # the operator has changed it already
            Tournament.objects.filter(slug="next-cup").update(status="open")
            Entry.objects.get_or_create(tournament=league.next_cup, number=0, defaults={"version": league.rufo})
        results.append((caller.call(method, where, sent).status_code, expected))

    assert [status for status, _ in results] == [expected for _, expected in results]


SCOPES = {  # Scopes of writes; all others need manage
    ("POST", "/api/v1/forecast"): "read",
    ("DELETE", "/api/v1/requests/{id}"): "submit",
    ("POST", "/api/v1/challenges"): "submit",
    ("POST", "/api/v1/tries"): "submit",
    ("POST", "/api/v1/tables"): "submit",
    ("POST", "/api/v1/tables/{id}/choices"): "submit",
    ("POST", "/api/v1/tables/{id}/advice"): "submit",
    ("POST", "/api/v1/tables/{id}/leave"): "submit",
    ("PATCH", "/api/v1/tables/{id}"): "submit",
    ("POST", "/api/v1/lobby"): "submit",
    ("POST", "/api/v1/tables/{id}/seat"): "submit",
    ("PATCH", "/api/v1/tables/{id}/seat"): "submit",
    ("POST", "/api/v1/tables/{id}/start"): "submit",
    ("POST", "/api/v1/tables/{id}/swap"): "submit",
    ("POST", "/api/v1/tables/{id}/send-away"): "submit",
    ("POST", "/api/v1/tables/{id}/rematch"): "submit",
    ("POST", "/api/v1/tables/{id}/challenges"): "submit",
    ("DELETE", "/api/v1/tables/{id}/challenges/{name}"): "submit",
    ("POST", "/api/v1/tables/{id}/phrases"): "submit",
    ("POST", "/api/v1/deals/{id}/tables"): "submit",
    ("POST", "/api/v1/puzzles/{id}/answers"): "submit",
    ("POST", "/api/v1/classes/{slug}/assignments/{number}/hand-ins"): "submit",
    ("POST", "/api/v1/arenas/{slug}/play"): "submit",
    ("POST", "/api/v1/arenas/{slug}/stop"): "submit",
    ("POST", "/api/v1/arenas/{slug}/bots"): "submit",
    ("POST", "/api/v1/matches/{id}/analysis/{kind}"): "submit",
    ("POST", "/api/v1/matches/{id}/boards/{number}/sittings/{sitting}/seats/{seat}/answers/{bot}"): "submit",
    ("POST", "/api/v1/bots/{slug}/versions"): "submit",
    ("POST", "/api/v1/bots/{slug}/remote"): "submit",
    ("POST", "/api/v1/volunteer"): "volunteer",
    ("POST", "/api/v1/bots/{slug}/fetches"): "submit",
    ("POST", "/api/v1/bots/{slug}/tunings"): "submit",
    ("POST", "/api/v1/tunings/{id}/stop"): "submit",
    ("POST", "/api/v1/studies"): "submit",
    ("POST", "/api/v1/studies/{key}/stop"): "submit",
    ("POST", "/api/v1/bots/{slug}/push"): "",  # It takes a signature in place of a token.
    ("POST", "/api/v1/tournaments/{slug}/entries"): "submit",
    ("DELETE", "/api/v1/tournaments/{slug}/entries/{number}"): "submit",
    ("POST", "/api/v1/circuits/{slug}/bots"): "submit",
    ("POST", "/api/v1/events/{slug}/join"): "submit",
    ("POST", "/api/v1/events/{slug}/bots"): "submit",
    ("DELETE", "/api/v1/circuits/{slug}/bots/{bot}"): "submit",
}


@pytest.mark.parametrize("part", mostly_slow(range(4), (0).__eq__))
def test_scopes_of_tokens(alice, part):
    """No operation takes a token whose scope is too small, and each says which one it needs."""
    order = ["read", "submit", "manage", "volunteer"]  # The last one stands apart.
    callers = {scope: Api(tokens.create(alice, scope, scope=scope, scopes=order)[1]) for scope in order}
    refusals = {}
    for operation in operations()[part::4]:
        path = re.sub(r"\{(\w+)\}", "9999", operation["path"])
        usual = "read" if operation["method"] == "GET" else "manage"
        needed = SCOPES.get((operation["method"], operation["path"]), usual)
        for scope, caller in callers.items():
            answer = caller.call(operation["method"], path)
            refused = answer.status_code == 403 and answer.json()["type"].endswith("#scope")
            refusals[operation["method"], operation["path"], scope] = refused
            is_apart = scope == "volunteer" != needed
            is_too_small = bool(needed) and (is_apart or order.index(scope) < order.index(needed))
            assert refused == is_too_small, (operation, scope)
            if refused:
                assert answer.json()["detail"] == f"This API key has the scope {scope}; the request needs {needed}."
                assert answer["WWW-Authenticate"].endswith(f'error="insufficient_scope", scope="{needed}"')
    assert any(refusals.values())


def test_token_with_submit_uploads(alice):
    caller = Api(tokens.create(alice, "ci", scope="submit", days=1)[1])

    assert caller.post("bots/pinta/versions?filename=a.py", made.source()).status_code == 201
    assert caller.post("tournaments", {"name": "Copa", "game": "partnership"}).status_code == 403
    (listed,) = caller.results("tokens")
    assert listed["scope"] == "submit"
    assert listed["expires"] is not None


def test_refused_writes_change_nothing(nobody, as_charlie, league):
    for caller in (nobody, as_charlie):
        caller.call("PATCH", "bots/rufo", {"description": "hacked", "state": "retired"})
        caller.post("tournaments/next-cup/cancel", {})

    bot = Bot.objects.get(slug="rufo")
    assert (bot.description, bot.state) == ("", "active")
    assert Tournament.objects.get(slug="next-cup").status == "open"


def test_stranger_enters_an_own_bot_into_the_tournament_of_another(as_charlie, charlie, league):
    made.accepted(charlie, "paco")

    assert as_charlie.post("tournaments/next-cup/entries", {"bot": "paco"}).status_code == 201
    assert as_charlie.call("DELETE", "tournaments/next-cup/entries/1").status_code == 204


def test_every_read_but_the_account_is_open_to_all():
    from league.api.http.schema import document

    closed = {
        operation["path"]
        for operation in operations()
        if operation["method"] == "GET" and {} not in document()["paths"][operation["path"]]["get"]["security"]
    }
    assert closed == {
        "/api/v1/me",
        "/api/v1/me/limits",
        "/api/v1/me/requests",
        "/api/v1/me/blocks",
        "/api/v1/me/notices",
        "/api/v1/me/challenges",
        "/api/v1/me/puzzles",
        "/api/v1/me/classes",
        "/api/v1/classes/{slug}",
        "/api/v1/classes/{slug}/marks",
        "/api/v1/classes/{slug}/assignments",
        "/api/v1/classes/{slug}/assignments/{number}/hand-ins",
        "/api/v1/me/offers",
        "/api/v1/me/teams",
        "/api/v1/teams/{name}/history",
        "/api/v1/requests/{id}",
        "/api/v1/tokens",
        "/api/v1/tries/{id}",
        "/api/v1/operators/actions",
        "/api/v1/operators/journal",
    }


@pytest.mark.parametrize("header", ["Bearer", "Bearer ", "Bearer tute_wrong", "Basic YTpi", "tute_x", "Bearer \xe9"])
def test_a_wrong_authorization_is_refused_even_for_reading(nobody, header):
    response = nobody.get("bots", headers={"Authorization": header})

    assert response.status_code == 401
    assert response["WWW-Authenticate"] == 'Bearer realm="tute"'
