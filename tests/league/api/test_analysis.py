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
from tests.support import jobs, league


@pytest.fixture
def match(alice, charlie) -> Match:
    """Finished, of two boards."""
    return league.play(
        league.started(alice, [league.accepted(alice, "rufo"), league.accepted(charlie, "luna")]).matches.get()
    )


def test_who_may_ask_for_a_judgement_and_how_often(match, nobody, as_alice, charlie, settings) -> None:
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
    assert nobody.get(f"{where}/fair").status_code == 404

    far = league.NOW.replace(year=2126)
    embargoes.change(match, far, why="a final", actor="olga", now=league.NOW)
    for answer in (nobody.get(f"{where}/open"), as_alice.post(f"{where}/fair", {})):
        assert answer.status_code == 409
        assert "are hidden until" in answer.json()["detail"]


@pytest.mark.slow
def test_a_match_is_judged_on_demand(match, nobody, as_alice, monkeypatch) -> None:
    monkeypatch.setattr(analysis, "Child", partial(Child, nodes=500))
    where = f"matches/{match.public_id}/analysis"
    assert as_alice.post(f"{where}/open", {}).status_code == 202
    job = jobs.ANALYSIS.claim("host:1", now=league.NOW)
    assert job is not None
    assert jobs.run(job, now=league.NOW)
    report = nobody.get(f"{where}/open").json()
    assert (report["status"], report["match"], report["unit"], report["decisions"]) == (
        "done",
        match.public_id,
        "points",
        len(report["verdicts"]),
    )
    assert report["judged"] == sum(verdict["lost"] is not None for verdict in report["verdicts"]) > 0
    assert [party["party"] for party in report["parties"]] == [0, 1]
    all_of_them = [party["phases"][0] for party in report["parties"]]
    assert [phase["phase"] for phase in all_of_them] == ["all", "all"]
    assert sum(phase["decisions"] for phase in all_of_them) == report["decisions"]
    assert all(phase["margin"] is not None for phase in all_of_them), "of two boards"
    lines = {verdict["step"]: verdict for verdict in report["verdicts"] if verdict["line"]}
    assert lines, [verdict for verdict in report["verdicts"] if verdict["lost"]]
    assert all(
        verdict["lost"] and verdict["line"][0] == {"seat": verdict["seat"], "action": verdict["best"][0]}
        for verdict in lines.values()
    )
    second = nobody.get(f"{where}/open?board=2").json()["verdicts"]
    assert second == [verdict for verdict in report["verdicts"] if verdict["board"] == 2] != []
    assert nobody.get(f"{where}/open?board=x").status_code == 400

    assert nobody.results("bots/rufo/judged") == []
    assert summing.count_new() == 1
    [sums] = nobody.results("bots/rufo/judged")
    assert (sums["pool"]["game"], sums["kind"], sums["version"]) == ("partnership", "open", 1)
    whole, *parts = sums["phases"]
    assert (whole["phase"], whole["mine"]["boards"]) == ("all", 2)
    rufo = next(party for party in report["parties"] if party["party"] == 0)["phases"][0]
    assert whole["mine"]["lost"] == pytest.approx(rufo["lost"])
    assert whole["mine"]["margin"] == pytest.approx(rufo["margin"])
    assert sum(phase["mine"]["judged"] for phase in parts) == whole["mine"]["judged"] < whole["everybody"]["judged"]
    assert nobody.get("bots/nobody/judged").status_code == 404


def test_a_damaged_body_is_said_to_be_so(match, nobody, alice) -> None:
    row = {"match": match, "kind": "open", "judge": "open-1", "created": league.NOW, "status": "done"}
    Judgement.objects.create(**row, body=b"rubbish")
    answer = nobody.get(f"matches/{match.public_id}/analysis/open")
    assert answer.status_code == 409
    assert "damaged" in answer.json()["detail"]
