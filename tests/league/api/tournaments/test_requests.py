"""Requests for bots of others by the API: asked, answered, taken back, blocked."""

from __future__ import annotations

import pytest

from league.domain.tournaments import tournaments
from tests.league.pure.calendar.test_event_plan import GOOD
from tests.support import league


@pytest.fixture
def cup(alice):
    """Alice's, open, and Charlie's luna, about which he has said nothing."""
    return tournaments.create(alice, "Copa", "partnership", boards=1, now=league.NOW)


@pytest.fixture
def luna(charlie):
    """Charlie's bot."""
    return league.accepted(charlie, "luna", policy="usual")


def test_a_request_is_asked_and_granted(nobody, as_alice, as_charlie, cup, luna) -> None:
    wish = {"bot": "luna", "message": "come"}
    first = as_alice.post("tournaments/copa/entries", wish, headers={"Idempotency-Key": "k"})
    again = as_alice.post("tournaments/copa/entries", wish, headers={"Idempotency-Key": "k"})

    assert (first.status_code, again.status_code) == (202, 202)
    request = first.json()
    assert first["Location"] == again["Location"] == f"/api/v1/requests/{request['id']}"
    fields = {name: request[name] for name in ("bot", "version", "owner", "asker", "kind", "slug", "status", "message")}
    assert fields == {
        "bot": "luna",
        "version": None,
        "owner": "charlie",
        "asker": "alice",
        "kind": "tournament",
        "slug": "copa",
        "status": "asked",
        "message": "come",
    }
    [row] = nobody.results("tournaments/copa/requests")
    assert (row["bot"], row["message"]) == ("luna", None)
    assert [each["message"] for each in as_charlie.results("me/requests?status=asked&asker=alice")] == ["come"]
    where = f"requests/{request['id']}"
    assert as_alice.post(f"{where}/grant").status_code == 409
    granted = [as_charlie.post(f"{where}/grant") for _ in range(2)]
    assert [answer.json()["status"] for answer in granted] == ["granted", "granted"]
    assert as_charlie.post(f"{where}/refuse").status_code == 409
    assert [entry["version"]["bot"] for entry in nobody.results("tournaments/copa/entries")] == ["luna"]
    assert as_alice.get(where).json()["status"] == "granted"


def test_a_request_is_refused_or_taken_back(as_alice, as_charlie, as_operator, cup, luna) -> None:
    first = as_alice.post("tournaments/copa/entries", {"bot": "luna"}).json()["id"]
    assert as_operator.get(f"requests/{first}").status_code == 404
    assert as_charlie.call("DELETE", f"requests/{first}").status_code == 409
    assert [as_alice.call("DELETE", f"requests/{first}").status_code for _ in range(2)] == [204, 204]
    second = as_alice.post("tournaments/copa/entries", {"version": luna.pk}).json()
    assert second["version"] == 1
    assert as_charlie.post(f"requests/{second['id']}/refuse").json()["status"] == "refused"

    refused = as_alice.post("tournaments/copa/entries", {"bot": "luna"})
    assert (refused.status_code, "does not want it" in refused.json()["detail"]) == (409, True)


def test_policies_and_blocks(as_alice, as_charlie, cup, luna) -> None:
    changed = as_charlie.call("PATCH", "bots/luna", {"entry_policy": "anybody"})
    assert changed.json()["entry_policy"] == "anybody"
    assert as_charlie.call("PATCH", "bots/luna", {"entry_policy": "x"}).status_code == 400
    assert as_charlie.post("me/blocks", {"player": "alice"}).status_code == 201
    assert as_alice.post("tournaments/copa/entries", {"bot": "luna"}).status_code == 409
    assert [block["player"] for block in as_charlie.results("me/blocks")] == ["alice"]
    assert as_charlie.call("DELETE", "me/blocks/alice").status_code == 204
    assert as_alice.post("tournaments/copa/entries", {"bot": "luna"}).status_code == 201


@pytest.mark.slow
def test_events_and_circuits_ask_as_well(as_alice, as_charlie, alice, luna) -> None:
    own = [league.accepted(alice, f"bot{number}").bot.slug for number in range(5)]
    event = as_alice.post("events", {"document": GOOD, "bots": [*own, "luna"]}).json()
    assert (event["status"], event["tournaments"]) == ("open", [])
    assert as_charlie.post("events/spring/start").status_code == 403
    [request] = as_charlie.results("events/spring/requests")
    assert as_charlie.post(f"requests/{request['id']}/grant").status_code == 200
    assert as_alice.post("events/spring/start").json()["status"] == "running"
    assert as_alice.post("events/spring/cancel").status_code == 409

    calendar = {"name": "Liga", "game": "partnership", "days": "fri", "at": "20:00", "time_zone": "Europe/Madrid"}
    as_alice.post("circuits", calendar)
    answer = as_alice.post("circuits/liga/bots", {"bot": "luna"})
    assert answer.status_code == 202
    assert [request["kind"] for request in as_charlie.results("circuits/liga/requests")] == ["circuit"]
    as_charlie.post(f"requests/{answer.json()['id']}/grant")
    assert as_alice.get("circuits/liga").json()["bots"] == ["luna"]


def test_what_asks_does_not_start_at_once(as_alice, luna) -> None:
    body = {"name": "Now", "game": "partnership", "bots": ["luna"], "start": True}

    refused = as_alice.post("tournaments", body)
    assert (refused.status_code, "want to be asked" in refused.json()["detail"]) == (409, True)
    assert as_alice.get("tournaments/now").status_code == 404
