"""The decisions of house bots, asked for by the API."""

from __future__ import annotations

import pytest

from league.domain.matches import embargoes
from league.domain.people import tokens
from league.enums import TokenScope
from league.models import Consultation, Match
from tests.league.api.client import Api
from tests.support import consulting, league


@pytest.fixture
def match(alice, charlie) -> Match:
    """Finished, of two boards; greedy is of the house."""
    consulting.enter("greedy")
    cup = league.started(alice, [league.accepted(alice, "rufo"), league.accepted(charlie, "luna")])
    return consulting.told(league.play(cup.matches.get()))


@pytest.mark.slow
def test_a_bot_of_the_house_is_asked_on_demand(match, nobody, as_alice, charlie, settings, tmp_path) -> None:
    settings.QUOTA_JUDGEMENTS = 1
    sitting = f"matches/{match.public_id}/boards/2/sittings/1/seats"
    where = f"{sitting}/3/answers/greedy"
    reads = Api(tokens.create(charlie, "reads", scope=TokenScope.READ)[1])
    submits = Api(tokens.create(charlie, "submits", scope=TokenScope.SUBMIT)[1])

    assert nobody.get(where).status_code == 404
    assert nobody.post(where, {}).status_code == 401
    assert reads.post(where, {}).status_code == 403
    for odd in (f"{sitting}/4/answers/greedy", f"{sitting}/3/answers/rufo"):
        assert submits.post(odd, {}).status_code == 409
    assert submits.post(where.replace(match.public_id, "zzzzzzzzzz"), {}).status_code == 404
    first = submits.post(where, {})
    assert (first.status_code, first.json()["status"], first.json()["bot"]) == (202, "asked", "greedy")
    assert as_alice.post(where, {}).status_code == 200
    assert submits.post(f"{sitting}/2/answers/greedy", {}).status_code == 429
    waits = nobody.get(where).json()
    assert (waits["status"], waits["answers"]) == ("asked", [])

    assert consulting.carry_out(tmp_path)
    consultation = nobody.get(where).json()
    place = (
        consultation["match"],
        consultation["board"],
        consultation["sitting"],
        consultation["seat"],
        consultation["version"],
    )
    assert place == (match.public_id, 2, 1, 3, 1)
    assert (consultation["status"], consultation["progress"], consultation["limited"]) == ("done", 100, False)
    assert len(consultation["package"]) == 64
    replay = nobody.get(f"matches/{match.public_id}/boards/2/sittings/1/replay").json()
    assert consultation["answers"]
    for decision in consultation["answers"]:
        assert replay["actions"][decision["step"]] == decision["action"]
        assert decision["differs"] == (decision["action"] != decision["would"])
    assert any(decision["differs"] for decision in consultation["answers"])

    Consultation.objects.update(answers=[["x"]])
    damaged = as_alice.get(where)
    assert damaged.status_code == 409
    assert "damaged" in damaged.json()["detail"]
    embargoes.change(match, league.NOW.replace(year=2126), why="a final", actor="olga", now=league.NOW)
    for answer in (nobody.get(where), as_alice.post(where, {})):
        assert answer.status_code == 409
        assert "hidden until" in answer.json()["detail"]
