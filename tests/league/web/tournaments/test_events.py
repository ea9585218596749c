"""Pages of events and of leagues that recur."""

from __future__ import annotations

from copy import deepcopy
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from league.domain.core import clock
from league.domain.matches import matches
from league.domain.tournaments import circuits, events, progress
from league.domain.upkeep import reconcile
from league.models import Event, LeagueEvent, Match
from tests.league.web.page import Page, faults, text
from tests.support import league as made
from tests.support import rows

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
    return rows.once(make_field, league)


def make_field(league):
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


@pytest.mark.slow
def test_an_event_shows_stages_before_and_after_they_are_played(league, field, reader) -> None:
    event = events.create(league.ana, DOCUMENT, field, secret=made.SECRET, now=made.NOW)
    page = text(reader, f"/e/{event.slug}/")
    assert "Fase 1: Todos contra todos" in page or "Fase 1: todos contra todos" in page
    assert "Esta fase empieza cuando acabe la anterior." in page
    assert event.secret_sha256 in page
    assert made.SECRET.hex() not in page
    play_all()
    page = text(reader, f"/e/{event.slug}/")
    assert "empieza cuando acabe" not in page
    assert made.SECRET.hex() in page


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
        per_player=9,
        now=made.NOW,
    )
    assert "La primera temporada aún no ha empezado" in text(reader, f"/c/{circuit.slug}/")
    for version in field:
        circuits.join(circuit, version.bot, player=version.bot.owner, now=made.NOW)
    assert circuits.open_due(now=datetime(2026, 1, 2, 19, tzinfo=UTC)) == 1
    page = text(reader, f"/c/{circuit.slug}/")
    assert "Temporada 1" in page
    assert "División 2" in page
    assert "vega" in page


def test_both_are_listed_and_linked(league, field, reader) -> None:
    event = events.create(league.ana, DOCUMENT, field, secret=made.SECRET, now=made.NOW)
    circuits.create(league.ana, "Liga", "partnership", days="fri", at="20:00", time_zone="UTC", now=made.NOW)
    page = Page(reader.get("/e/").content.decode())
    assert faults(page) == []
    assert {f"/e/{event.slug}/", "/c/liga/"} <= set(page.links)
    assert "/e/" in Page(reader.get("/t/").content.decode()).links


@pytest.mark.slow
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
        per_player=9,
        now=made.NOW,
    )
    for version in field:
        circuits.join(circuit, version.bot, player=version.bot.owner, now=made.NOW)

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


@pytest.mark.slow
def test_an_event_says_what_it_waits_for(league, field, reader, client) -> None:
    """A match that our machines could not play is tried again; one that an operator struck out from a bracket holds all up."""
    event = events.create(league.ana, DOCUMENT, field, secret=made.SECRET, now=made.NOW)
    url, address = f"/e/{event.slug}/", f"/api/v1/events/{event.slug}"
    first = event.tournaments.get(group=1)
    lost = first.matches.order_by("pk").first()
    matches.void(lost, actor="", why="no sandbox", now=made.NOW)
    again = matches.retry_later(lost, why="no sandbox", now=made.NOW)

    page, waits = text(reader, url), client.get(address).json()["waits"]
    assert "faltan 3 partidas" in page
    assert f"La partida {lost.public_id} no se pudo jugar. La sustituye la {again.public_id}" in page
    assert [(wait["tournament"], wait["left"], wait["stalls"]) for wait in waits] == [
        (first.slug, 3, [{"void": lost.public_id, "again": again.public_id}]),
        (event.tournaments.get(group=2).slug, 1, []),
    ]

    while match := Match.objects.filter(status="queued", tournament__stage=1).first():
        made.play(match, winner=0, now=made.later(120))
        progress.advance(match.tournament, now=made.later(125))
    events.advance(event, now=made.later(125))
    final = event.tournaments.get(stage=2)
    for match in final.matches.all():
        matches.void(match, actor="eva", why="a dispute", now=made.later(126))
        struck = match.public_id
    progress.advance(final, now=made.later(127))
    assert events.advance(event, now=made.later(127)) is False

    page = text(reader, url)
    assert f"La partida {struck} se anuló" in page
    assert client.get(address).json()["waits"][0]["stalls"] == [{"void": struck, "again": ""}]


@pytest.mark.slow
def test_an_event_that_cannot_go_on_says_why(league, field, reader, client) -> None:
    event = events.create(league.ana, DOCUMENT, field, secret=made.SECRET, now=made.NOW)
    while match := Match.objects.filter(status="queued", tournament__stage=1).first():
        made.play(match, winner=0, now=made.later(120))
        progress.advance(match.tournament, now=made.later(125))
    # Written for a release that knew more formats
    document = deepcopy(DOCUMENT)
    document["stages"][1]["format"] = "gauntlet of old"
    Event.objects.filter(pk=event.pk).update(document=document)
    assert events.advance_all(now=made.later(126)) == 1

    why = LeagueEvent.objects.get(kind="event.refused").data["why"]
    assert f"Este torneo no pudo seguir: {why}" in text(reader, f"/e/{event.slug}/")
    assert client.get(f"/api/v1/events/{event.slug}").json()["why"] == why


@pytest.mark.slow
def test_owners_hold_back_replays_by_a_form(league, field, reader, client) -> None:
    event = events.create(league.ana, DOCUMENT, field, secret=made.SECRET, now=made.NOW)
    cup = made.started(league.ana, field, name="Held")
    client.force_login(league.ana.user)
    other = Client()
    other.force_login(league.berto.user)
    for row, page in ((event, f"/e/{event.slug}/"), (cup, f"/t/{cup.slug}/")):
        assert 'name="until"' in client.get(page).content.decode()
        assert 'name="until"' not in reader.get(page).content.decode()
        assert client.post(f"{page}do/", {"action": "embargo", "until": "2999-01-01T00:00"}).status_code == 302
        row.refresh_from_db()
        assert row.embargo is None  # Too far ahead
        until = clock.present().replace(second=0, microsecond=0) + timedelta(days=2)
        client.post(f"{page}do/", {"action": "embargo", "until": f"{until:%Y-%m-%dT%H:%M}"})
        row.refresh_from_db()
        assert row.embargo == until
        assert f'value="{until:%Y-%m-%dT%H:%M}"' in client.get(page).content.decode()
        local = until.astimezone(ZoneInfo("America/Bogota"))  # Typed on a clock that is five hours behind
        client.post(f"{page}do/", {"action": "embargo", "until": f"{local:%Y-%m-%dT%H:%M}", "zone": "America/Bogota"})
        row.refresh_from_db()
        assert row.embargo == until
        client.post(f"{page}do/", {"action": "embargo", "until": f"{until:%Y-%m-%dT%H:%M}", "zone": "Europe/Nowhere"})
        row.refresh_from_db()
        assert row.embargo == until
        assert other.post(f"{page}do/", {"action": "embargo", "until": ""}).status_code == 403
        client.post(f"{page}do/", {"action": "embargo", "until": ""})
        row.refresh_from_db()
        assert row.embargo is None
