"""Forms of events and recurring leagues: the preview, refusals in place, creating, joining and leaving."""

from __future__ import annotations

import pytest

from league.models import Circuit, Event
from tests.league.web.page import Page, faults
from tests.support import league as made

STAGES = {
    "stage1-format": "round_robin",
    "stage1-boards": "1",
    "stage1-groups": "2",
    "stage1-advance": "1",
    "stage1-parameters": "cycles=2",
    "stage2-format": "single_elimination",
    "stage2-boards": "2",
}
EVENT = {"name": "Clase 4B", "bots": ["rufo", "luna", "sol", "vega"], **STAGES}
LEAGUE = {
    "name": "Viernes",
    "days": ["mon", "fri"],
    "at": "20:00",
    "time_zone": "Europe/Madrid",
    "format": "round_robin",
    "boards": "1",
    "size": "4",
    "moves": "1",
    "bots": ["rufo"],
}


@pytest.fixture
def four(league):
    return made.accepted(league.berto, "vega")


def test_both_forms_are_pages_like_the_others(league, owner) -> None:
    for url in ("/e/new/", "/e/new/?game=partnership", "/c/new/", "/c/new/?game=cabrero&players=3"):
        answer = owner.get(url)
        assert answer.status_code == 200, url
        assert faults(Page(answer.content.decode())) == [], url


def test_who_is_not_logged_in_is_asked_to(league, reader) -> None:
    for url in ("/e/new/", "/c/new/"):
        assert reader.get(url).url.startswith("/accounts/login/")


def test_an_event_is_created_with_its_stages_and_starts(league, four, owner) -> None:
    answer = owner.post("/e/new/?game=partnership", {**EVENT, "action": "start"})
    event = Event.objects.get()
    assert answer.url == f"/e/{event.slug}/"
    assert event.document["stages"] == [
        {"format": "round_robin", "boards": 1, "groups": 2, "advance": 1, "parameters": {"cycles": 2}},
        {"format": "single_elimination", "boards": 2},
    ]
    assert [tournament.matches.count() for tournament in event.tournaments.order_by("group")] == [2, 2]


def test_what_it_takes_is_told_stage_by_stage(league, four, owner) -> None:
    query = {name: value for name, value in EVENT.items() if name != "name"} | {"game": "partnership"}
    forecast = owner.get("/e/new/forecast/", query).content.decode()
    assert forecast.startswith("Fase 1: 4 partidas, 4 manos; ")
    assert "\nFase 2: 1 a 5 partidas, " in forecast
    assert "\nTodas las fases: " in forecast
    page = owner.post("/e/new/?game=partnership", {**EVENT, "action": "predict"}).content.decode()
    assert "Fase 1: 4 partidas" in page
    assert not Event.objects.exists()


@pytest.mark.parametrize(
    ("change", "messages"),
    [
        ({"stage1-advance": ""}, "advance"),
        ({"stage1-parameters": "cycles"}, "cycles no es un parámetro"),
        ({"stage1-parameters": "rounds=3"}, "rounds"),
        ({"bots": ["rufo"]}, "necesita 2 inscritos o más|inscribe más bots"),
        ({"bots": []}, 'role="alert"'),
    ],
)
def test_what_is_wrong_is_said_in_place(league, four, owner, change, messages) -> None:
    answer = owner.post("/e/new/?game=partnership", {**EVENT, **change, "action": "start"})
    assert answer.status_code == 422
    assert any(word in answer.content.decode() for word in messages.split("|"))
    assert not Event.objects.exists()


def test_a_league_is_created_and_others_join_and_leave_it(league, owner, stranger) -> None:
    assert owner.post("/c/new/?game=partnership", LEAGUE).url == "/c/viernes/"
    circuit = Circuit.objects.get()
    assert (circuit.days, circuit.at, circuit.size, circuit.moves) == ("mon,fri", "20:00", 4, 1)
    assert [bot.slug for bot in circuit.bots.all()] == ["rufo"]
    assert "luna" in Page(stranger.get("/c/viernes/").content.decode()).text
    stranger.post("/c/viernes/do/", {"action": "join", "bot": "luna"})
    assert circuit.bots.filter(slug="luna").exists()
    assert stranger.post("/c/viernes/do/", {"action": "leave", "bot": "rufo"}).status_code == 403
    owner.post("/c/viernes/do/", {"action": "leave", "bot": "luna"})  # The league's owner may
    assert not circuit.bots.filter(slug="luna").exists()


def test_a_league_rests_only_by_its_owner(league, owner, stranger) -> None:
    owner.post("/c/new/?game=partnership", LEAGUE)
    assert stranger.post("/c/viernes/do/", {"action": "rest"}).status_code == 403
    owner.post("/c/viernes/do/", {"action": "rest"})
    assert not Circuit.objects.get().active
    owner.post("/c/viernes/do/", {"action": "go"})
    assert Circuit.objects.get().active


def test_a_calendar_that_cannot_be_is_refused_in_place(league, owner) -> None:
    answer = owner.post("/c/new/?game=partnership", {**LEAGUE, "time_zone": "Madrid"})
    assert answer.status_code == 422
    assert "Madrid" in answer.content.decode()
    assert not Circuit.objects.exists()
