"""The pages of an open tournament, event and league say how many bots are in, who may still enter, and who was taken out."""

from __future__ import annotations

from datetime import timedelta

import pytest

from league.domain.core import clock
from league.domain.tournaments import circuits, enrolment, events, releases
from league.enums import Entrance
from league.models import Event
from tests.league.web.page import text
from tests.support import league as made

PLAN = {"name": "Copa", "game": "partnership", "stages": [{"format": "round_robin", "boards": 4}]}


@pytest.fixture
def event(league) -> Event:
    terms = releases.ReleaseTerms(due=clock.present() + timedelta(days=2))
    return events.create(league.ana, PLAN, [], wait=True, entrance=Entrance.ANYBODY, terms=terms)


def test_an_entrant_enters_one_bot_leaves_and_reads_when_they_are_out(league, event, owner, stranger) -> None:
    page, door = f"/e/{event.slug}/", f"/e/{event.slug}/enter/"
    assert "0 de 224 plazas ocupadas. Cada jugador puede inscribir 1 bot." in text(stranger, page)
    stranger.post(door, {"bot": "luna", "action": "enter"})
    inside = text(stranger, page)
    assert "luna está inscrito" in inside
    assert "Inscribir" not in inside.split("Inscritos")[0], "no button that would be refused"
    made.accepted(league.berto, "vega")
    stranger.post(door, {"bot": "vega", "action": "enter"})
    assert "todos los bots que puede inscribir un jugador" in text(stranger, page)
    assert "plaza" in text(owner, page)
    owner.post(door, {"bot": "luna", "action": "leave"})
    assert "ha retirado tu bot" in text(stranger, page)
    stranger.post(door, {"bot": "luna", "action": "enter"})
    assert not event.requests.filter(status="granted").exists()
    assert "Deshacer" in text(owner, page)
    owner.post(door, {"bot": "luna", "action": "enter"})
    assert event.requests.get().status == "granted"
    assert "Quien organiza este torneo ha retirado tu bot" not in text(stranger, page)


@pytest.mark.slow
def test_the_owner_reads_before_the_start_why_it_cannot_start(league, event, owner, stranger, settings) -> None:
    events.enter(event, league.rufo.bot, league.ana)
    events.enter(event, league.luna.bot, league.berto)
    address = f"/e/{event.slug}/"
    assert "Ahora no podría empezar" not in text(owner, address)
    settings.QUOTA_BOARDS = 4
    made.started(league.ana, [league.rufo, league.luna], boards=4)
    assert "Ahora no podría empezar" in text(owner, address)
    assert "Ahora no podría empezar" not in text(stranger, address)
    Event.objects.filter(pk=event.pk).update(due=clock.present() - timedelta(seconds=1))
    events.start_due(now=clock.present())
    late = text(stranger, address)
    assert "La inscripción está cerrada" in late
    assert "empezará solo en cuanto se hayan jugado" in late
    assert "this needs" not in late, "no English, and no word to the owner"


def test_a_tournament_and_a_league_say_the_same(league, owner, stranger) -> None:
    cup = league.next_cup
    circuit = circuits.create(league.ana, "Liga", "partnership", days="fri", at="20:00", time_zone="UTC")
    for address, act in ((f"/t/{cup.slug}/", "remove"), (f"/c/{circuit.slug}/", "leave")):
        if act == "leave":
            circuits.join(circuit, league.luna.bot, player=league.berto)
            assert "joined" not in text(stranger, address)
            owner.post(f"{address}do/", {"action": "leave", "bot": "luna"})
        else:
            entry = enrolment.enter(cup, league.luna, player=league.berto)
            owner.post(f"{address}do/", {"action": act, "entry": entry.pk})
        page = text(stranger, address)
        assert "plazas ocupadas. Cada jugador puede inscribir 1 bot." in page
        assert "ha retirado tu bot" in page
        assert "retiró luna" in page, "the log"


def test_the_owner_sets_how_many_bots_each_player_may_enter(league, event, owner) -> None:
    sent = {"action": "save", "name": "Copa", "description": "", "per_player": "3"}
    owner.post(f"/e/{event.slug}/do/", sent)
    event.refresh_from_db()
    assert event.per_player == 3
    assert "Cada jugador puede inscribir 3 bots" in text(owner, f"/e/{event.slug}/")
    owner.post(f"/e/{event.slug}/do/", {**sent, "per_player": "0"})
    event.refresh_from_db()
    assert event.per_player == 3
