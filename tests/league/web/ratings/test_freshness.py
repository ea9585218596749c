"""A leaderboard says which results it does not count yet."""

from __future__ import annotations

import re

import pytest
from django.test import Client

from league.domain.people import players
from league.domain.ratings import leaderboards, ratings
from tests.support import league

pytestmark = pytest.mark.django_db


def test_page_and_api_name_the_results_that_do_not_count_yet(client: Client, ana, berto) -> None:
    carla = players.create("carla")
    cup = league.started(
        ana, [league.accepted(ana, "rufo"), league.accepted(berto, "lola"), league.accepted(carla, "nena")]
    )
    first, second, third = cup.matches.order_by("turn")
    league.play(first)
    ratings.refresh(cup.pool, now=league.NOW)
    page, pool = (
        client.get("/g/partnership/", headers={"accept-language": "en"}),
        client.get(f"/api/v1/pools/{cup.pool.pk}").json(),
    )
    assert "All finished matches are counted." in page.content.decode()
    assert (pool["uncounted"], pool["uncounted_since"]) == (0, None)

    league.play(second, now=league.later(60))
    league.play(third, now=league.later(70))
    page = client.get("/g/partnership/", headers={"accept-language": "en"}).content.decode()
    text = " ".join(re.sub("<time[^>]*>|</time>", "", page).split())
    assert "2 results, the oldest from 1 Jan 2026, 12:01 UTC, are not counted yet." in text
    es = client.get("/g/partnership/", headers={"accept-language": "es"}).content.decode()
    assert "not counted yet" not in es
    listed = {row["id"]: row for row in client.get("/api/v1/pools").json()["results"]}
    for answer in (client.get(f"/api/v1/pools/{cup.pool.pk}").json(), listed[cup.pool.pk]):
        assert (answer["uncounted"], answer["uncounted_since"]) == (2, "2026-01-01T12:01:00Z")

    ratings.refresh(cup.pool, now=league.later(80))
    assert leaderboards.read_uncounted(cup.pool) == leaderboards.Uncounted(0, None)
