"""Tunings by the API: for those who may upload the bot, with the limits of the page."""

from __future__ import annotations

from league.domain.jobs.handlers.tunings import TuningHandler
from league.domain.tunings import steps
from league.models import Tuning
from tests.league.api.client import Api
from tests.league.domain.tunings.test_tunings import outcome, tunable


def test_an_author_starts_follows_and_stops_a_tuning(as_alice: Api, as_charlie: Api, nobody: Api, alice) -> None:
    tunable(alice)
    path, wish = "bots/rufo/tunings", {"game": "a_dos", "boards": 400}
    for change in ({"boards": 9}, {"boards": 10_001}, {"game": "no"}, {"opponent": "nobody"}, {"game": None}, {"x": 1}):
        assert as_alice.post(path, wish | change).status_code in (400, 409, 422), change
    assert [caller.post(path, wish).status_code for caller in (as_charlie, nobody)] == [403, 401]
    assert not Tuning.objects.exists()

    first = as_alice.call("POST", path, wish, headers={"Idempotency-Key": "1"})
    row = Tuning.objects.get()
    assert (first.status_code, first["Location"]) == (201, f"/api/v1/tunings/{row.pk}")
    assert as_alice.call("POST", path, wish, headers={"Idempotency-Key": "1"}).json() == first.json()
    assert as_alice.post(path, wish).status_code == 429
    handler = TuningHandler()
    handler.report(handler.claim("host:1"), outcome(won=6, lost=2))
    steps.settle()

    place = f"tunings/{row.pk}"
    for caller, status in ((as_charlie, 403), (nobody, 401)):
        for answer in (caller.get(path), caller.get(place), caller.post(f"{place}/stop", {})):
            assert answer.status_code == status
    assert as_alice.get("tunings/999").status_code == 404
    (listed,) = as_alice.get(path).json()["results"]
    detail = as_alice.get(place).json()
    assert (listed["played"], listed["decided"], listed["opponent"]) == (8, None, None)
    assert [detail[name] for name in listed] == list(listed.values())
    assert [point[0] for point in detail["course"]] == [0, 8]
    assert f"care = {{ start = {detail['values']['care']}" in detail["toml"]
    for _ in range(2):
        stopped = as_alice.post(f"{place}/stop", {}).json()
        assert (stopped["why"], stopped["played"]) == ("stopped", 8)
