"""Remote bots by the API: who may connect one, what is refused, and that one answer counts."""

from __future__ import annotations

import json

import pytest

from league.domain.bots import house
from league.domain.matches import leases, workers
from league.domain.people import tokens
from league.domain.remote import drawing
from league.enums import TokenScope
from league.models import Match, Party, RemoteLine, RemoteLink
from tests.league.api.client import Api
from tests.support.league import accepted
from tests.support.remote import GAMES, toml

WHERE = "bots/far/remote"


@pytest.fixture
def far(as_alice) -> None:
    """Upload Alice's remote bot as any program does."""
    answer = as_alice.call("POST", "bots/far/versions?filename=bot.zip", toml("far"))
    assert (answer.status_code, answer.json()["status"]) == (201, "remote")


def test_an_author_connects_and_answers(as_alice, as_charlie, alice, far) -> None:
    accepted(house.player(), "greedy", games=GAMES)
    workers.register("host:1", tier="none")
    connected = as_alice.post(WHERE, {"matches": 50}).json()
    assert connected == {
        "requests": [],
        "matches": [],
        "accepted": False,
        "topic": f"remote:{RemoteLink.objects.get().bot_id}",
    }
    assert RemoteLink.objects.get().matches == 4, "the limit of the league"
    assert drawing.play() == 4
    (match, *_) = leases.claim_several("host:1", 1, remote=True)
    leases.start(match)
    party = Party.objects.get(match=match, version__bot__slug="far")
    RemoteLine.objects.create(party=party, number=1, request='{"type":"hello"}')
    (request,) = as_alice.post(WHERE, {}).json()["requests"]
    assert request == {"match": match.public_id, "number": 1, "line": '{"type":"hello"}', "before": []}
    answer = {"match": match.public_id, "number": 1, "line": " ready "}
    assert as_charlie.post(WHERE, {"answer": answer}).status_code == 403
    accepted_first = [
        as_alice.post(WHERE, {"answer": answer | {"line": line}}).json()["accepted"] for line in (" ready ", "x")
    ]
    assert accepted_first == [True, False]
    assert RemoteLine.objects.get().answer == " ready ", "the line is not changed"
    RemoteLine.objects.create(party=party, number=2, request='{"type":"act"}')
    for playing, before in (([], [['{"type":"hello"}', " ready "]]), ([match.public_id], [])):
        (request,) = as_alice.post(WHERE, {"playing": playing}).json()["requests"]
        assert (request["number"], request["before"]) == (2, before)
    for public in ("m", "pools", "matches", "bots/far", "versions"):
        assert '{"type":"act"}' not in as_charlie.get(public).content.decode()
    assert Match.objects.filter(kind="remote").count() == 4


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({}, 200),
        ({"matches": -1}, 400),
        ({"matches": "x"}, 400),
        ({"matches": 10**9}, 400),
        ({"playing": "x"}, 400),
        ({"playing": ["x" * 13]}, 400),
        ({"playing": ["x"] * 65}, 400),
        ({"answer": {"match": "x", "number": 1, "line": "x" * 65537}}, 400),
        ({"answer": {"match": "x", "number": 1, "line": "a\0b"}}, 400),
        ({"answer": {"match": "x", "number": 0, "line": ""}}, 400),
        ({"answer": {"match": "x", "number": 1}}, 400),
        ({"answer": {"match": "x", "number": 1, "line": "\ud800"}}, 400),
        ({"answer": {"match": "nowhere", "number": 1, "line": ""}}, 200),
        ({"other": 1}, 400),
        ([], 400),
    ],
)
def test_what_does_not_fit_is_refused(body, status: int, as_alice, far) -> None:
    answer = as_alice.call("POST", WHERE, json.dumps(body).encode(), content_type="application/json")
    assert answer.status_code == status, answer.content


def test_a_token_needs_the_scope_and_a_bot_exists(alice, far, as_alice) -> None:
    reads = Api(tokens.create(alice, "reads", scope=TokenScope.READ)[1])
    assert reads.post(WHERE, {}).status_code == 403
    assert as_alice.post("bots/nobody/remote", {}).status_code == 404
