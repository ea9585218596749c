"""The operator's numbers: for Prometheus, on the page, by the API."""

from __future__ import annotations

import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from league import tasks
from league.domain.matches import leases, workers
from league.domain.ratings import ratings
from league.domain.upkeep import invariants, metrics
from league.models import Bot, Match
from tests.support.league import NOW, accepted, later, play, started, uploaded, with_token

LINE = re.compile(r'^(?:# (?:HELP|TYPE) tute_\w+ .+|tute_\w+(?:\{\w+="\w+"\})? -?[0-9.e+-]+)$')


def values(text: str) -> dict[str, float]:
    """The samples of a page of metrics."""
    assert all(LINE.match(line) for line in text.splitlines()), text
    return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in text.splitlines() if line[0] != "#")}


def test_numbers_say_what_waits_what_lags_and_what_is_wrong(ana, berto) -> None:
    cup = started(ana, [accepted(ana, "rufo"), accepted(berto, "lola"), accepted(berto, "sol")], boards=1)
    play(cup.matches.filter(rated=True).order_by("id")[0], now=NOW)

    numbers = values(metrics.metrics_page(now=later(60)))
    assert numbers['tute_matches{status="queued"}'] == 2
    assert numbers['tute_queue_waiting{reason="worker"}'] == 2
    assert numbers["tute_queue_oldest_seconds"] == 60
    assert numbers["tute_queue_starved"] == 1
    assert numbers["tute_ratings_lag_seconds"] == 60
    assert numbers["tute_ratings_lag_boards"] == 1
    assert {lane: numbers[f'tute_lane_waiting{{lane="{lane}"}}'] for lane in metrics.LANES} == {
        "validation": 0,
        "match": 2,
        "slow": 0,
        "ladder": 0,
        "audit": 0,
    }
    assert numbers['tute_lane_oldest_seconds{lane="match"}'] == 60
    assert numbers["tute_matches_per_minute"] == numbers["tute_boards_per_minute"] == 1 / 5
    assert numbers["tute_voids_last_hour"] == 0
    assert numbers["tute_invariant_check_age_seconds"] == -1

    ratings.refresh(cup.pool, now=later(60))
    workers.register("w1", tier="landlock", now=later(60))
    workers.register("w2", tier="", refusal="no Landlock here", now=later(60))
    Match.objects.filter(status="finished").update(counted=None)
    Bot.objects.filter(slug="rufo").update(state="paused", paused_for="faults")
    invariants.check_all(now=later(60) + invariants.GRACE)
    numbers = values(metrics.metrics_page(now=later(90) + invariants.GRACE))
    assert numbers['tute_workers{state="ready"}'] == 0  # not heard of for ten minutes
    assert numbers["tute_bots_paused"] == 1
    assert numbers["tute_invariant_findings"] > 0
    assert numbers["tute_invariant_check_age_seconds"] == 30
    assert values(metrics.metrics_page(now=later(61)))['tute_workers{state="refusing"}'] == 1


@pytest.mark.slow
def test_numbers_take_the_same_queries_for_any_number_of_matches(ana, berto) -> None:
    counts = []
    for name in ("one", "two", "three"):
        started(ana, [accepted(ana, f"{name}-a"), accepted(berto, f"{name}-b")], boards=1, name=name)
        with CaptureQueriesContext(connection) as queries:
            metrics.metrics_page(now=NOW)
        counts.append(len(queries))

    assert counts == [16, 16, 16]


def test_page_and_api_say_why_matches_wait(client, ana) -> None:
    uploaded(ana, "rufo")
    Bot.objects.filter(slug="rufo").update(paused_for="three faults in a row")

    page = client.get("/status/", headers={"accept-language": "en"}).content.decode()
    assert "no worker is running" in page
    assert "three faults in a row" in page
    assert client.get("/api/v1/queue").json()["waiting"] == {
        "turn": 0,
        "retry": 0,
        "paused": 0,
        "retest": 0,
        "rules": 0,
        "worker": 1,
        "sandbox": 0,
    }
    answer = client.get("/metrics")
    assert answer["Content-Type"].startswith("text/plain; version=0.0.4")
    assert values(answer.content.decode())['tute_queue_waiting{reason="worker"}'] == 1
    assert client.post("/metrics").status_code == 405


@pytest.mark.slow
def test_the_line_stands_as_it_is_claimed_and_says_why(client, ana, berto) -> None:
    bots = [accepted(ana, "rufo"), accepted(berto, "lola"), accepted(berto, "sira")]
    started(ana, bots, boards=1)
    workers.register("w1", tier="namespaces", now=NOW)
    first = workers.waiting_line(now=NOW).first()
    assert first.why == "turn"
    assert leases.claim("w1", now=NOW) == first
    leases.fail(with_token(first, first.token + 1), why="the disk was full", now=NOW)
    assert [waiting.why for waiting in workers.waiting_line(now=NOW)] == ["turn", "turn", "retry"]
    assert workers.waiting_line(now=NOW).last() == first  # it stands behind until it may be tried again
    Bot.objects.filter(slug="lola").update(state="paused", paused_for="three faults in a row")
    whys = {
        waiting.why: {party.version.bot.slug for party in waiting.parties.all()}
        for waiting in workers.waiting_line(now=NOW)
    }
    assert "lola" in whys["retest"]
    workers.unregister("w1", now=NOW)
    assert workers.waiting_line(now=later(600)).first().why == "worker"
    page = client.get("/status/", headers={"accept-language": "en"}).content.decode()
    for match in Match.objects.filter(status="queued"):
        assert f"/m/{match.public_id}/" in page


def test_findings_are_shown_to_the_staff_alone(client, ana, admin_user) -> None:
    cup = started(ana, [accepted(ana, "rufo"), accepted(ana, "lola")], boards=1)
    play(cup.matches.get())
    Match.objects.filter(status="finished").update(status="cancelled")
    tasks.check_invariants(hours=2)

    client.force_login(admin_user)
    assert "has boards" not in client.get("/status/").content.decode()
    assert "has boards" in client.get("/operators/").content.decode()
