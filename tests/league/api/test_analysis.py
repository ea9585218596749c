"""Judgements of matches by the API."""

from __future__ import annotations

from functools import partial

import pytest

from engine.judging import Child
from league.domain.jobs.handlers import analysis
from league.domain.judgements import summing
from league.domain.matches import embargoes
from league.domain.people import tokens
from league.enums import TokenScope
from league.models import Judgement, Match
from tests.league.api.client import Api
from tests.support import jobs
from tests.support import league as made


@pytest.fixture
def match(alice, charlie) -> Match:
    """Finished, of two boards."""
    return made.play(made.started(alice, [made.accepted(alice, "rufo"), made.accepted(charlie, "luna")]).matches.get())


def test_a_match_is_judged_on_demand(match, nobody, as_alice, alice, charlie, monkeypatch, settings) -> None:
    monkeypatch.setattr(analysis, "Child", partial(Child, nodes=500))
    settings.QUOTA_JUDGEMENTS = 1
    where = f"matches/{match.public_id}/analysis"
    reads = Api(tokens.create(charlie, "reads", scope=TokenScope.READ)[1])
    submits = Api(tokens.create(charlie, "submits", scope=TokenScope.SUBMIT)[1])

    assert nobody.get(f"{where}/open").status_code == 404
    assert nobody.post(f"{where}/open", {}).status_code == 401
    assert reads.post(f"{where}/open", {}).status_code == 403
    assert submits.post(f"{where}/odd", {}).status_code == 404
    first = submits.post(f"{where}/open", {})
    assert (first.status_code, first.json()["status"], first.json()["samples"]) == (202, "asked", 0)
    assert as_alice.post(f"{where}/open", {}).status_code == 200
    assert submits.post(f"{where}/fair", {}).status_code == 429
    waits = nobody.get(f"{where}/open").json()
    assert (waits["status"], waits["verdicts"], waits["parties"]) == ("asked", [], [])

    held = jobs.ANALYSIS.claim("host:1", now=made.NOW)
    assert held is not None
    assert jobs.run(held, now=made.NOW)
    done = nobody.get(f"{where}/open").json()
    assert (done["status"], done["match"], done["unit"], done["decisions"]) == (
        "done",
        match.public_id,
        "points",
        len(done["verdicts"]),
    )
    assert done["judged"] == sum(one["lost"] is not None for one in done["verdicts"]) > 0
    assert [one["party"] for one in done["parties"]] == [0, 1]
    all_of_them = [one["phases"][0] for one in done["parties"]]
    assert [one["phase"] for one in all_of_them] == ["all", "all"]
    assert sum(one["decisions"] for one in all_of_them) == done["decisions"]
    assert all(one["margin"] is not None for one in all_of_them), "of two boards"
    lines = {one["step"]: one for one in done["verdicts"] if one["line"]}
    assert lines, [one for one in done["verdicts"] if one["lost"]]
    assert all(
        one["lost"] and one["line"][0] == {"seat": one["seat"], "action": one["best"][0]} for one in lines.values()
    )
    second = nobody.get(f"{where}/open?board=2").json()["verdicts"]
    assert second == [one for one in done["verdicts"] if one["board"] == 2] != []
    assert nobody.get(f"{where}/open?board=x").status_code == 400
    assert nobody.get(f"{where}/fair").status_code == 404

    assert nobody.results("bots/rufo/judged") == []
    assert summing.count_new() == 1
    [sums] = nobody.results("bots/rufo/judged")
    assert (sums["pool"]["game"], sums["kind"], sums["version"]) == ("partnership", "open", 1)
    whole, *parts = sums["phases"]
    assert (whole["phase"], whole["mine"]["boards"]) == ("all", 2)
    rufo = next(one for one in done["parties"] if one["party"] == 0)["phases"][0]
    assert whole["mine"]["lost"] == pytest.approx(rufo["lost"])
    assert whole["mine"]["margin"] == pytest.approx(rufo["margin"])
    assert sum(one["mine"]["judged"] for one in parts) == whole["mine"]["judged"] < whole["everybody"]["judged"]
    assert nobody.get("bots/nobody/judged").status_code == 404

    far = made.NOW.replace(year=2126)
    embargoes.change(match, far, why="a final", actor="olga", now=made.NOW)
    for answer in (nobody.get(f"{where}/open"), as_alice.post(f"{where}/fair", {})):
        assert answer.status_code == 409
        assert "held back" in answer.json()["detail"]


def test_a_damaged_body_is_said_to_be_so(match, nobody, alice) -> None:
    row = {"match": match, "kind": "open", "judge": "open-1", "created": made.NOW, "status": "done"}
    Judgement.objects.create(**row, body=b"rubbish")
    answer = nobody.get(f"matches/{match.public_id}/analysis/open")
    assert answer.status_code == 409
    assert "damaged" in answer.json()["detail"]
