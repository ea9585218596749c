"""Events, circuits and seasons in the API."""

from __future__ import annotations

from datetime import timedelta

import pytest

from league.domain.tournaments import circuits
from league.models import Circuit, Event
from tests.support import league as made

DOCUMENT = {
    "name": "Spring",
    "game": "partnership",
    "stages": [
        {"format": "swiss", "boards": 1, "parameters": {"rounds": 1}, "advance": 2},
        {"format": "duel", "boards": 2},
    ],
}
CIRCUIT = {
    "name": "Liga",
    "game": "partnership",
    "days": "fri",
    "at": "20:00",
    "time_zone": "Europe/Madrid",
    "size": 2,
    "moves": 1,
}


def test_an_event_is_created_and_read(as_alice, nobody, league):
    created = as_alice.post("events", {"document": DOCUMENT, "bots": ["rufo", "luna", "sol"]})

    assert created.status_code == 201, created.json()
    assert created["Location"] == "/api/v1/events/spring"
    event = nobody.get("events/spring").json()
    assert event["document"] == DOCUMENT
    assert (event["status"], event["secret"]) == ("running", None)
    assert [(row["stage"], row["group"], row["format"]) for row in event["tournaments"]] == [(1, 1, "swiss")]
    assert [row["slug"] for row in nobody.results("events")] == ["spring"]
    assert nobody.get("events/autumn").status_code == 404


@pytest.mark.parametrize(
    ("body", "status", "text"),
    [
        ({"document": {**DOCUMENT, "stages": []}, "bots": []}, 409, "an event has 1 to 8 stages, not 0"),
        ({"document": [1], "bots": []}, 409, "the event: must be an object"),
        ({"document": DOCUMENT, "bots": ["nobody"]}, 400, "there is no bot 'nobody'"),
        ({"document": DOCUMENT}, 400, "bots"),
    ],
)
def test_bad_events_leave_nothing(as_alice, league, body, status, text):
    response = as_alice.post("events", body)

    assert (response.status_code, text in response.json()["detail"]) == (status, True), response.json()
    assert Event.objects.count() == 0


def test_a_circuit_from_creation_to_its_season(as_alice, as_charlie, nobody, league):
    created = as_alice.post("circuits", CIRCUIT)
    assert created.status_code == 201, created.json()
    assert as_alice.post("circuits/liga/bots", {"bot": "rufo"}).json()["bots"] == ["rufo"]
    assert as_charlie.post("circuits/liga/bots", {"bot": "rufo"}).status_code == 403
    assert as_alice.post("circuits/liga/bots", {"bot": "nobody"}).status_code == 400
    circuit = Circuit.objects.get()
    for version in (league.luna, league.sol):
        circuits.join(circuit, version.bot, player=version.bot.owner, now=made.NOW)
    due = circuits.next_due(circuit)

    circuits.open_due(now=due + timedelta(minutes=1))

    [season] = nobody.results("circuits/liga/seasons")
    assert (season["number"], season["reason"], [division["group"] for division in season["divisions"]]) == (1, "", [1])
    assert as_charlie.call("PATCH", "circuits/liga", {"active": False}).status_code == 403
    rested = as_alice.call("PATCH", "circuits/liga", {"active": False}).json()
    assert (rested["active"], rested["next_due"]) == (False, None)
    assert as_charlie.call("DELETE", "circuits/liga/bots/rufo").status_code == 403
    assert as_alice.call("DELETE", "circuits/liga/bots/rufo").status_code == 204
    assert sorted(nobody.get("circuits/liga").json()["bots"]) == ["luna", "sol"]
    assert nobody.post("circuits", CIRCUIT).status_code == 401


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"days": "holiday"}, "days are weekdays"),
        ({"time_zone": "Mars"}, "not a time zone"),
        ({"moves": 2}, "at most 1 can move"),
    ],
)
def test_bad_circuits_say_what_is_allowed(as_alice, change, text):
    response = as_alice.post("circuits", CIRCUIT | change)

    assert response.status_code == 409
    assert text in response.json()["detail"]
