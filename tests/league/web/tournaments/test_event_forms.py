"""The one form of every tournament: private, with stages, every week; the forecast; and what is wrong said at its field."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from league.domain.core import clock
from league.domain.tournaments import events, releases
from league.models import Circuit, Event, Tournament
from tests.league.web.page import Page, faults
from tests.support import league as made
from tests.support.parts import mostly_slow

STAGES = {
    "format": "groups",
    "boards": "1",
    "groups": "2",
    "advance": "1",
    "round_robin__cycles": "2",
    "stage2_format": "single_elimination",
    "stage2_boards": "2",
    "single_elimination__bronze": "on",
}
EVENT = {"name": "Clase 4B", "bots": ["rufo", "luna", "sol", "vega"], **STAGES}
LEAGUE = {
    "name": "Viernes",
    "description": "Cada viernes a las ocho.",
    "days": ["mon", "fri"],
    "at": "20:00",
    "zone": "Europe/Madrid",
    "format": "weekly",
    "weekly_format": "round_robin",
    "boards": "1",
    "size": "4",
    "moves": "1",
    "bots": ["rufo"],
}
CUP = {"name": "Cinco amigos", "boards": "2", "format": "round_robin", "action": "open"}


@pytest.fixture
def four(league):
    return made.accepted(league.berto, "vega")


def _post(client, sent):
    return client.post("/t/new/?game=partnership", sent)


def test_the_form_is_a_page_like_the_others(league, owner) -> None:
    for url in ("/t/new/", "/t/new/?game=partnership&format=groups", "/t/new/?game=cabrero&players=3&format=weekly"):
        answer = owner.get(url)
        assert answer.status_code == 200, url
        assert faults(Page(answer.content.decode())) == [], url


def test_the_old_addresses_lead_to_it(league, owner) -> None:
    assert owner.get("/e/new/?game=bato").url == "/t/new/?game=bato&format=groups"
    assert owner.get("/c/new/").url == "/t/new/?format=weekly"
    assert owner.get("/e/new/forecast/?game=bato").url == "/t/new/forecast/?game=bato&format=groups"


def test_who_is_not_logged_in_is_asked_to(league, reader) -> None:
    assert reader.get("/t/new/").url.startswith("/accounts/login/")


def test_stages_are_created_and_start(league, four, owner) -> None:
    answer = _post(owner, {**EVENT, "action": "start"})
    event = Event.objects.get()
    assert answer.url == f"/e/{event.slug}/"
    assert event.document["stages"] == [
        {"format": "round_robin", "boards": 1, "groups": 2, "advance": 1, "parameters": {"cycles": 2}},
        {"format": "single_elimination", "boards": 2},
    ]
    assert [tournament.matches.count() for tournament in event.tournaments.order_by("group")] == [2, 2]


def test_what_it_takes_is_told_stage_by_stage(league, four, owner) -> None:
    query = {name: value for name, value in EVENT.items() if name != "name"} | {"game": "partnership"}
    forecast = owner.get("/t/new/forecast/", query).content.decode()
    assert forecast.startswith("Fase 1: 4 partidas, 4 repartos; ")
    assert "\nFase 2: 1 a 5 partidas, " in forecast
    assert "\nTodas las fases: " in forecast
    page = _post(owner, {**EVENT, "action": "predict"}).content.decode()
    assert "Fase 1: 4 partidas" in page
    assert not Event.objects.exists()


def test_groups_need_nothing_more_to_be_filled_in(league, four, owner) -> None:
    _post(owner, {**CUP, "format": "groups", "bots": ["rufo"]})
    assert Event.objects.get().document["stages"] == [
        {"format": "round_robin", "boards": 2, "groups": 2, "advance": 2},
        {"format": "single_elimination", "boards": 2, "parameters": {"bronze": False}},
    ]


def test_a_single_stage_is_a_plain_tournament_with_its_rules(league, owner) -> None:
    sent = {
        **CUP,
        "game": "subastado",
        "players": "4",
        "mixture": "censor",
        "description": " Hola ",
        "entrance": "owner",
    }
    assert owner.post("/t/new/", sent).url == "/t/cinco-amigos/"
    cup = Tournament.objects.get(slug="cinco-amigos")
    assert (cup.pool.game, cup.pool.players, cup.pool.options) == ("subastado", 4, {"censor": True})
    assert (cup.status, cup.description, cup.entrance) == ("open", "Hola", "owner")


def test_a_private_tournament_waits_for_its_guests(league, owner) -> None:
    closing = clock.present().replace(second=0, microsecond=0, tzinfo=None) + timedelta(days=40)
    sent = {**CUP, "private": "on", "due": closing.strftime("%Y-%m-%dT%H:%M"), "zone": "Pacific/Kiritimati"}
    answer = _post(owner, sent)
    event = Event.objects.get()
    assert answer.url == f"/e/{event.slug}/"
    assert (event.private, event.status, bool(event.invitation)) == (True, "open", True)
    assert event.due == (closing - timedelta(hours=14)).replace(tzinfo=UTC), "times are those of the zone"


def test_start_now_starts_a_private_tournament_too(league, owner) -> None:
    sent = {**CUP, "private": "on", "bots": ["rufo", "luna"], "action": "start"}
    _post(owner, sent)
    assert Event.objects.get().status == "running"


def test_another_game_keeps_what_was_typed(league, owner) -> None:
    sent = {**CUP, "boards": "999", "game": "subastado", "players": "4", "action": "refresh"}
    answer = owner.post("/t/new/", sent)
    page = answer.content.decode()
    assert answer.status_code == 200
    assert 'value="Cinco amigos"' in page
    assert 'value="999"' in page
    assert 'value="censor"' in page
    assert 'class="errors"' not in page
    assert not Tournament.objects.filter(name="Cinco amigos").exists()


QUICK = ("boards", "stage2_format", "zone", "private")  # A number, a stage, a text and a rule that no field has alone


@pytest.mark.parametrize(
    ("change", "field", "message"),
    mostly_slow(
        [
            ({"boards": "999"}, "boards", "256"),
            ({"boards": ""}, "boards", "requerido"),
            ({"name": "a\u202eb"}, "name", "U+202E"),
            ({"stage3_format": "swiss", "stage2_format": "", "format": "swiss"}, "stage2_format", "segunda fase"),
            ({"format": "round_robin", "advance": ""}, "advance", "cuántos bots de cada grupo"),
            ({"format": "round_robin", "stage2_format": ""}, "stage2_format", "segunda fase"),
            ({"round_robin__cycles": "0"}, "round_robin__cycles", "1"),
            ({"zone": "Madrid"}, "zone", "Europe/Madrid"),
            ({"due": "2020-01-01T10:00"}, "due", "365"),
            ({"due": "2027-01-01T10:00", "entries_from": "2027-01-02T10:00"}, "due", "después de abrirse"),
            ({"release": "2027-01-01T10:00"}, "release", "desde el principio"),
            ({"option_match_games": "0"}, "option_match_games", "1"),
            ({"format": "weekly", "days": []}, "days", "semanal"),
            ({"format": "weekly", "private": "on", "days": ["fri"], "at": "20:00", "size": "4"}, "private", "pública"),
        ],
        lambda case: case[1] in QUICK,
    ),
)
def test_what_is_wrong_is_said_at_its_field(league, four, owner, change, field, message) -> None:
    answer = _post(owner, {**EVENT, **change, "action": "open"})
    assert answer.status_code == 422
    page = answer.content.decode()
    box = page.index(f'name="{field}"')
    error = page.index('<ul class="errors"')
    assert error > box - 3000
    assert message in page[error : error + 400]
    assert 'class="note bad faults" role="alert" tabindex="-1" autofocus' in page
    assert f'href="#id_{field}"' in page
    assert "<title>Error" in page
    assert "stages[" not in page
    if field not in ("days", "bots"):
        assert 'aria-invalid="true"' in page
    assert not Event.objects.exists()


def test_a_taken_name_and_too_few_bots_are_said_in_place(league, owner, stranger) -> None:
    _post(owner, CUP)
    taken = _post(stranger, CUP)
    assert taken.status_code == 422
    assert 'href="#id_name"' in taken.content.decode()
    few = _post(owner, {**CUP, "name": "Otra", "bots": ["rufo"], "action": "start"})
    assert few.status_code == 422
    assert "inscribe más bots" in few.content.decode()
    assert not Tournament.objects.filter(name="Otra").exists()


def test_a_league_is_created_and_others_join_and_leave_it(league, owner, stranger) -> None:
    assert _post(owner, LEAGUE).url == "/c/viernes/"
    circuit = Circuit.objects.get()
    assert (circuit.days, circuit.at, circuit.size, circuit.moves) == ("mon,fri", "20:00", 4, 1)
    assert circuit.description == "Cada viernes a las ocho."
    assert [bot.slug for bot in circuit.bots.all()] == ["rufo"]
    assert "luna" in Page(stranger.get("/c/viernes/").content.decode()).text
    stranger.post("/c/viernes/do/", {"action": "join", "bot": "luna"})
    assert circuit.bots.filter(slug="luna").exists()
    assert stranger.post("/c/viernes/do/", {"action": "leave", "bot": "rufo"}).status_code == 403
    owner.post("/c/viernes/do/", {"action": "leave", "bot": "luna"})  # The league's owner may
    assert not circuit.bots.filter(slug="luna").exists()


def test_a_league_rests_only_by_its_owner(league, owner, stranger) -> None:
    _post(owner, LEAGUE)
    assert stranger.post("/c/viernes/do/", {"action": "rest"}).status_code == 403
    owner.post("/c/viernes/do/", {"action": "rest"})
    assert not Circuit.objects.get().active
    owner.post("/c/viernes/do/", {"action": "go"})
    assert Circuit.objects.get().active


def test_hidden_results_are_shown_when_the_owner_says(league, owner) -> None:
    moment = (datetime.now(UTC) + timedelta(days=3)).strftime("%Y-%m-%dT%H:%M")
    _post(owner, {**CUP, "audience": "hidden", "release": moment, "pace_s": "60"})
    event = Event.objects.get()
    assert (event.audience, event.pace_s, event.release is None) == ("hidden", 60, False)


def test_a_copy_has_the_settings_and_guests_but_no_entries_of_others(league, owner, stranger) -> None:
    due = clock.present().replace(second=0, microsecond=0) + timedelta(hours=2)
    first = {
        "name": "Clase",
        "description": "Cada semana.",
        "boards": "3",
        "format": "swiss",
        "swiss__rounds": "4",
        "private": "on",
        "per_player": "2",
        "due": due.strftime("%Y-%m-%dT%H:%M"),
        "zone": "UTC",
        "option_songs_per_trick": "many",
        "bots": ["rufo"],
        "action": "open",
    }
    assert _post(owner, first).status_code == 302
    event = Event.objects.get()
    releases.join(event.slug, event.invitation, league.berto, now=clock.present())
    events.enter(event, league.luna.bot, league.berto)
    events.cancel(event, actor="ana")

    address = f"/t/new/?copy=event:{event.slug}"
    assert address in owner.get(f"/e/{event.slug}/").content.decode()
    assert "Clase" not in stranger.get(address).content.decode()
    page = Page(owner.get(address).content.decode())
    assert faults(page) == []
    form = owner.get(address).context["form"]
    values = {name: form[name].value() for name in form.fields}
    values |= {name: field.value() for name, field in ((f.name, f) for f in owner.get(address).context["part"])}
    assert (values["name"], values["bots"]) == ("Clase", ["rufo"])
    assert values["due"].replace(tzinfo=UTC) == due + timedelta(days=7)
    sent = {name: value for name, value in values.items() if value not in (None, False, "")}
    sent["due"] = sent["due"].strftime("%Y-%m-%dT%H:%M")
    assert owner.post(address, {**sent, "action": "open"}).status_code == 302

    again = Event.objects.latest("pk")
    assert again.document == event.document
    assert (again.private, again.due, again.per_player) == (True, due + timedelta(days=7), 2)
    assert again.description == event.description
    assert list(again.guests.order_by("player__name").values_list("player__name", flat=True)) == ["ana", "berto"]
    assert list(again.requests.values_list("bot__slug", flat=True)) == ["rufo"]


def test_a_plain_tournament_is_copied_too(league, owner) -> None:
    address = f"/t/new/?copy=tournament:{league.next_cup.slug}"
    form = owner.get(address).context["form"]
    assert form["name"].value() == league.next_cup.name
    assert form["boards"].value() == league.next_cup.boards
