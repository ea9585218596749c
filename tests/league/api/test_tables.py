"""Tables of people by the API: the same rows, quota and permissions as on the page, and no card that the seat may not know."""

from __future__ import annotations

import json

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

import engine
from engine.runner.table import TableResult
from league.domain.bots import house
from league.domain.people import bans, tokens
from league.domain.tables import holding
from league.enums import TokenScope
from league.models import Table, TableAction
from tests.league.api.client import Api
from tests.support import league, seats
from tests.support.seats import hold

WISH = {"game": "partnership", "against": "greedy"}


@pytest.fixture(autouse=True)
def _greedy(db) -> None:
    league.accepted(house.player(now=league.NOW), "greedy")


def test_a_person_sits_down_reads_answers_and_leaves(nobody, as_alice, as_charlie, as_operator, alice) -> None:
    first, again = (as_alice.post("tables", WISH, headers={"Idempotency-Key": "one"}) for _ in range(2))
    assert (first.status_code, again.json()) == (201, first.json())
    where = first["Location"].removeprefix("/api/v1/")
    begun = as_alice.get(where).json()
    assert begun == first.json()
    assert (begun["status"], begun["turn"], begun["legal"], begun["events"]) == ("waiting", None, [], [])
    assert begun["players"] == ["alice", "greedy", "greedy", "greedy"]
    page = Client()
    page.force_login(alice.user)
    assert page.get(f"/tables/{begun['id']}/").status_code == 200
    assert as_alice.post("tables", WISH).status_code == 409  # one at a time
    assert as_alice.post(f"{where}/choices", {"turn": 0, "do": "play 1o"}).status_code == 409

    row = Table.objects.get()
    lease, state = hold(row)
    with CaptureQueriesContext(connection) as queries:
        view = as_alice.get(where).json()
    assert len(queries) <= 4
    row.refresh_from_db()
    assert (view["status"], view["turn"], view["legal"], view["hand"]) == (
        "held",
        row.question,
        seats.person(row).legal,
        seats.person(row).hand,
    )
    assert view["events"] == json.loads(json.dumps(engine.redact(state.events, 0)))
    secret = bytes(Table.objects.values_list("secret", flat=True).get())
    sent = json.dumps(view)
    assert secret.hex() not in sent
    assert state.seed.hex() not in sent
    assert [event["hands"] for event in view["events"] if "hands" in event] == []

    assert [other.get(where).status_code for other in (nobody, as_charlie, as_operator)] == [404, 404, 404]
    choice = {"turn": view["turn"], "do": view["legal"][0]}
    for what in ("choices", "leave"):
        assert nobody.post(f"{where}/{what}", choice if what == "choices" else {}).status_code == 401
        assert as_charlie.post(f"{where}/{what}", choice if what == "choices" else {}).status_code == 404
    assert as_alice.post(f"{where}/choices", {**choice, "do": "play 9z"}).status_code == 409
    assert as_alice.post(f"{where}/choices", {**choice, "turn": choice["turn"] + 1}).status_code == 409
    assert as_alice.post(f"{where}/choices", {"do": choice["do"]}).status_code == 400
    taken = as_alice.post(f"{where}/choices", choice)
    assert (taken.status_code, taken.json()["turn"], taken.json()["legal"]) == (200, None, [])
    assert as_alice.post(f"{where}/choices", choice).status_code == 409
    assert TableAction.objects.filter(seat=0).count() == 1
    assert holding.answer(lease, row.turn) == choice["do"]

    state.apply(engine.load("partnership").parse_action(choice["do"]))
    while not state.is_over:
        state.apply(state.legal_actions()[0])
    record = engine.replay.make(state, {"match": row.public_id})
    holding.finish(lease, TableResult([state.scores()], [{**record, "faults": [], "notes": []}], []), 1000)
    for who in (as_alice, as_charlie, nobody):  # Everybody may see a finished table
        over = who.get(where).json()
        assert (over["status"], over["scores"]) == ("finished", [state.scores()])
        assert over["replays"][0]["events"][1]["hands"] == record["events"][1]["hands"]
    assert as_alice.post(f"{where}/leave", {}).json()["status"] == "finished"
    second = as_alice.post("tables", {**WISH, "boards": 2}).json()
    assert as_alice.post(f"tables/{second['id']}/leave", {}).json()["status"] == "left"
    assert nobody.get(f"tables/{second['id']}").status_code == 404
    assert as_alice.post(f"tables/{second['id']}/advice", {"turn": 0}).status_code == 409


def test_advice_is_asked_for_at_a_table_with_hints(as_alice, as_charlie) -> None:
    begun = as_alice.post("tables", {**WISH, "advice": True}).json()
    where = f"tables/{begun['id']}"
    lease, _state = hold(Table.objects.get())
    turn = as_alice.get(where).json()["turn"]
    assert as_charlie.post(f"{where}/advice", {"turn": turn}).status_code == 404
    assert as_alice.post(f"{where}/advice", {"turn": turn + 1}).status_code == 409
    assert as_alice.post(f"{where}/advice", {}).status_code == 400
    assert as_alice.post(f"{where}/advice", {"turn": turn}).json()["advice"] == ""
    holding.advise(lease, Table.objects.get().turn, "play 1o")
    assert as_alice.get(where).json()["advice"] == "play 1o"


def test_the_rules_of_a_table_are_chosen(as_alice) -> None:
    wish = {"game": "corriente", "against": "greedy", "players": 2, "options": {"match_games": 3}}
    opened = as_alice.post("tables", wish)
    assert (opened.status_code, opened.json()["pool"]["options"]) == (201, {"match_games": 3})
    for wrong in (
        {"options": {"players": 3}},
        {"options": [1]},
        {"players": 21},
        {"options": {"match_games": 0}},
        {"options": {"no_such": 1}},
    ):
        refused = as_alice.post("tables", {**wish, **wrong})
        assert refused.status_code in (400, 409), (wrong, refused.status_code)
    assert Table.objects.count() == 1


def test_the_limits_are_those_of_the_page(as_alice, alice, settings) -> None:
    settings.QUOTA_TABLES = 1
    for wrong in ({"game": "chess"}, {"against": "nobody"}, {"partner": "nobody"}, {"boards": 5}, {"seat": 1}):
        assert as_alice.post("tables", {**WISH, **wrong}).status_code in (400, 409, 422), wrong
    reads = Api(tokens.create(alice, "reads", scope=TokenScope.READ)[1])
    assert reads.post("tables", WISH).status_code == 403
    assert Table.objects.count() == 0
    made_one = as_alice.post("tables", WISH).json()
    as_alice.post(f"tables/{made_one['id']}/leave", {})
    refused = as_alice.post("tables", WISH)
    assert (refused.status_code, "Retry-After" in refused) == (429, True)
    settings.TABLES = 0
    assert as_alice.post("tables", WISH).status_code == 409
    bans.ban(alice, why="odd", actor="eva", now=league.NOW)
    assert as_alice.post("tables", WISH).status_code in (401, 403)
    assert Table.objects.count() == 1
