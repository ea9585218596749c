"""Studies by the API: everybody reads them, whoever has an account asks; the permissions and limits are those of the page."""

from __future__ import annotations

import pytest

from league.models import Study
from tests.league.api.client import Api
from tests.league.domain.studies.test_studies import house_bots, play_all  # noqa: F401 - a fixture

WISH = {"game": "brisca", "options": {"exchange": "none"}, "boards": 64, "better": "counting"}


@pytest.mark.usefixtures("house_bots")
def test_a_researcher_starts_reads_and_stops_a_study(
    nobody: Api, as_alice: Api, as_charlie: Api, as_operator: Api
) -> None:
    wrong = (
        {"boards": 9},
        {"game": "no"},
        {"options": {"exchange": "x"}},
        {"options": 1},
        {"players": 9},
        {"better": "x"},
    )
    for change in (*wrong, {"game": None}, {"x": 1}, {"options": {"players": 2}}, {"better": "\0"}):
        assert as_alice.post("studies", WISH | change).status_code in (400, 409), change
    assert nobody.post("studies", WISH).status_code == 401
    assert not Study.objects.exists()

    first = as_alice.call("POST", "studies", WISH, headers={"Idempotency-Key": "1"})
    row = Study.objects.get(options=WISH["options"])
    place = f"studies/{row.key}"
    assert (first.status_code, first["Location"]) == (201, f"/api/v1/{place}")
    assert as_alice.call("POST", "studies", WISH, headers={"Idempotency-Key": "1"}).json() == first.json()
    assert as_charlie.post("studies", WISH).json()["key"] == row.key, "the same rules are the same study"
    assert as_alice.post("studies", WISH | {"game": "guinote", "options": {}}).status_code == 429
    assert nobody.get(place).json()["report"] is None
    play_all()

    newest, usual = nobody.get("studies?game=brisca").json()["results"]
    assert (newest["key"], newest["usual"], usual["usual"], newest["player"]) == (row.key, usual["key"], None, "alice")
    assert nobody.get("studies?game=guinote").json()["results"] == []
    detail = nobody.get(place).json()
    assert {name: detail[name] for name in newest} == newest
    assert (detail["played"], detail["report"]["boards"], detail["report"]["options"]) == (64, 64, WISH["options"])
    assert detail["spent_s"] > 0

    assert as_alice.post("studies", WISH | {"boards": 128}).status_code == 201
    statuses = [caller.post(f"{place}/stop", {}).status_code for caller in (nobody, as_charlie, as_operator, as_alice)]
    assert statuses == [401, 403, 200, 200]
    stopped = as_alice.get(place).json()
    assert (stopped["why"], stopped["played"]) == ("stopped by an operator", 64)
    assert as_alice.post("studies", WISH | {"boards": 128}).status_code == 409, "for operators only"
    assert as_operator.post("studies", WISH | {"boards": 128}).status_code == 201
    assert [nobody.get(f"studies/{'0' * 24}{more}").status_code for more in ("", "/stop")] == [404, 405]
