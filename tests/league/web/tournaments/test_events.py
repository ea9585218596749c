"""Pages of events and of leagues that recur."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from league.domain.tournaments import circuits, events, progress
from league.domain.upkeep import reconcile
from league.models import Match
from tests.league.web.page import Page, faults
from tests.support import league as made

DOCUMENT = {
    "name": "Spring",
    "game": "partnership",
    "stages": [
        {"format": "round_robin", "boards": 1, "groups": 2, "advance": 1},
        {"format": "single_elimination", "boards": 2},
    ],
}


@pytest.fixture
def field(league):
    return [league.rufo, league.luna, league.sol, *(made.accepted(league.berto, name) for name in ("vega", "zoe"))]


def play_all() -> None:
    for _ in range(60):
        match = Match.objects.filter(status="queued", kind="tournament").order_by("id").first()
        if match is None:
            if not reconcile.reconcile(now=made.later(5)).opened:
                return
            continue
        versions = list(match.parties.order_by("number").values_list("version_id", flat=True))
        made.play(match, winner=versions.index(min(versions)))
        progress.advance(match.tournament, now=made.later(5))


def text(client, url: str) -> str:
    page = Page(client.get(url).content.decode())
    assert faults(page) == []
    return page.text


def test_an_event_shows_stages_before_and_after_they_are_played(league, field, reader) -> None:
    event = events.create(league.ana, DOCUMENT, field, secret=made.SECRET, now=made.NOW)
    told = text(reader, f"/e/{event.slug}/")
    assert "Fase 1: Todos contra todos" in told or "Fase 1: todos contra todos" in told
    assert "Empieza cuando acabe la fase anterior." in told
    assert event.secret_sha256 in told
    assert made.SECRET.hex() not in told
    play_all()
    told = text(reader, f"/e/{event.slug}/")
    assert "Empieza cuando acabe" not in told
    assert made.SECRET.hex() in told


def test_a_league_shows_its_calendar_and_every_season(league, field, reader) -> None:
    circuit = circuits.create(
        league.ana,
        "Liga",
        "partnership",
        days="fri",
        at="20:00",
        time_zone="Europe/Madrid",
        size=3,
        moves=1,
        boards=1,
        now=made.NOW,
    )
    assert "La primera temporada aún no ha empezado" in text(reader, f"/c/{circuit.slug}/")
    for version in field:
        circuits.join(circuit, version.bot, actor="ana", now=made.NOW)
    assert circuits.open_due(now=datetime(2026, 1, 2, 19, tzinfo=UTC)) == 1
    told = text(reader, f"/c/{circuit.slug}/")
    assert "Temporada 1" in told
    assert "División 2" in told
    assert "vega" in told


def test_both_are_listed_and_linked(league, field, reader) -> None:
    event = events.create(league.ana, DOCUMENT, field, secret=made.SECRET, now=made.NOW)
    circuits.create(league.ana, "Liga", "partnership", days="fri", at="20:00", time_zone="UTC", now=made.NOW)
    page = Page(reader.get("/e/").content.decode())
    assert faults(page) == []
    assert {f"/e/{event.slug}/", "/c/liga/"} <= set(page.links)
    assert "/e/" in Page(reader.get("/t/").content.decode()).links


def test_queries_do_not_grow_with_groups_and_seasons(league, field, reader) -> None:
    circuit = circuits.create(
        league.ana,
        "Liga",
        "partnership",
        days="fri",
        at="20:00",
        time_zone="UTC",
        size=2,
        moves=1,
        boards=1,
        now=made.NOW,
    )
    for version in field:
        circuits.join(circuit, version.bot, actor="ana", now=made.NOW)

    def count() -> int:
        with CaptureQueriesContext(connection) as queries:
            assert reader.get(f"/c/{circuit.slug}/").status_code == 200
        return len(queries)

    circuits.open_due(now=datetime(2026, 1, 2, 21, tzinfo=UTC))
    before = count()
    play_all()
    circuits.open_due(now=datetime(2026, 1, 9, 21, tzinfo=UTC))
    assert circuit.seasons.count() == 2
    assert count() == before


def test_nothing_there_is_not_found(league, reader) -> None:
    assert reader.get("/e/none/").status_code == 404
    assert reader.get("/c/none/").status_code == 404
