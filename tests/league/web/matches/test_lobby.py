"""The lobby in the browser: who may do what there, and two people and a phone who meet, play with a clock, and challenge each other."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse

from league.domain.bots import house
from league.domain.core import clock
from league.domain.jobs.worker import WorkerLoop
from league.domain.people import players
from league.domain.tables import people
from league.models import Player, Table, TableChallenge, TablePerson
from tests.league.web.conftest import PATIENT_MS
from tests.league.web.matches.test_tables import MY_TURN, Company, answer, comes, look
from tests.league.web.page import Page, faults
from tests.support import rows
from tests.support.league import accepted
from tests.support.processes import wait_for

NAMES = ("ana", "berto", "carla")


def make_people() -> dict[str, Player]:
    accepted(house.player(), "greedy")
    return {name: players.create(name, now=clock.present() - timedelta(days=9)) for name in NAMES}


def client_of(player: Player | None) -> Client:
    client = Client(headers={"accept-language": "en"})
    if player is not None:
        client.force_login(player.user)
    return client


@pytest.mark.django_db
def test_each_role_sees_and_does_in_the_lobby_what_it_may() -> None:
    persons = rows.once(make_people)
    ana, berto, carla, stranger = (client_of(player) for player in (*persons.values(), None))

    def read(client: Client, path: str = "/lobby/") -> str:
        page = client.get(path)
        assert "no-store" in page.headers["Cache-Control"]
        text = page.content.decode()
        assert faults(Page(text)) == []
        assert text.count('<button class="button" ') + text.count('<a class="button" ') <= 1, "one filled button"
        return " ".join(text.split())

    for client, words in ((ana, 'value="open"'), (stranger, "Log in to open a table")):
        assert all(word in read(client) for word in ("Nobody waits", "Play with bots now", words))
    assert stranger.post("/play/", {"do": "open", "game": "partnership"}).status_code == 422
    where = ana.post("/play/", {"do": "open", "game": "partnership", "clock": "120+3"}).headers["Location"]
    row = Table.objects.get()
    assert (row.listed, row.clock_s, row.increment_s) == (True, 120, 3)
    for client, sits in ((ana, False), (berto, True), (stranger, False)):
        text = read(client)
        assert "3 seats free · 2 minutes a hand + 3 seconds an answer" in text
        assert (f'action="{where}do/"' in text) == sits
        read(client, where)
    assert '/accounts/login/?next=/lobby/"> Sit down' in read(stranger)

    for client, do, code in (
        (stranger, {"do": "challenge", "name": "ana"}, "/accounts/login/?next=/lobby/"),
        (carla, {"do": "else"}, 404),
        (berto, {"do": "withdraw", "name": "carla", "table": row.public_id}, reverse("lobby")),
        (ana, {"do": "challenge", "name": "nobody"}, where),
        (ana, {"do": "challenge", "name": "carla"}, where),
        (ana, {"do": "challenge", "name": "berto"}, where),
    ):
        reply = client.post("/lobby/", do)
        assert (reply.status_code if reply.status_code != 302 else reply.headers["Location"]) == code, do
    assert "carla is challenged." in read(ana, where)
    assert "ana challenges you." in read(carla)
    assert "ana challenges you." in read(carla, where)
    assert "challenges you" not in read(stranger, where)
    notices = read(carla, "/notices/")
    assert "ana challenges you to a table of Tute por parejas." in notices
    assert Client(enforce_csrf_checks=True).post("/lobby/", {"do": "refuse"}).status_code == 403
    carla.post("/lobby/", {"do": "refuse"})
    assert list(TableChallenge.objects.order_by("pk").values_list("answer", flat=True)) == ["declined", ""]
    assert "Nobody may challenge you by name." in read(carla)
    carla.post("/lobby/", {"do": "take"})
    berto.post("/lobby/", {"do": "decline", "table": row.public_id})
    assert set(TableChallenge.objects.values_list("answer", flat=True)) == {"declined"}

    assert "Challenge berto" in ana.get("/players/berto/").content.decode()
    for client in (berto, stranger):
        assert 'value="challenge"' not in client.get("/players/berto/").content.decode()
    stranger.post(f"{where}do/", {"do": "sit"})
    assert row.people.count() == 1
    berto.post(f"{where}do/", {"do": "sit"})
    for client in (berto, carla, stranger):
        client.post(f"{where}do/", {"do": "send-away", "seat": 0})
        client.post(f"{where}do/", {"do": "swap", "seat": 0})
    assert people.present(persons["ana"]) == row
    berto.post(f"{where}do/", {"do": "ready"})
    assert "Start without waiting" in read(berto, where)
    berto.post(f"{where}do/", {"do": "start"})
    row.refresh_from_db()
    assert row.gathering, "the others have some seconds"
    assert "Swap seats with me" in read(ana, where)
    ana.post(f"{where}do/", {"do": "send-away", "seat": 1})
    assert people.present(persons["berto"]) is None
    assert f'action="{where}do/"' not in read(berto)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_people_meet_in_the_lobby_and_play_with_a_clock(site: str, browser, worker: WorkerLoop) -> None:
    accepted(house.player(), "greedy")
    company = Company(browser, site)
    Player.objects.update(created=clock.present() - timedelta(days=9))
    desk, phone, guest = company.pages.values()
    for page in (phone, guest):
        page.goto(f"{site}/lobby/")
        page.wait_for_selector("#nobody")
    desk.goto(f"{site}/lobby/")
    desk.click("button[value=open]")
    desk.wait_for_url(re.compile(r"/tables/[a-z0-9]{10}/"))
    row = Table.objects.get()
    for page in (phone, guest):
        page.wait_for_selector(f"#t-{row.public_id}", timeout=PATIENT_MS)  # By itself, without a reload.
    company.look("lobby")
    desk.click("#settings summary")
    desk.select_option("[name=clock]", "120+3")
    desk.click("button[value=change]")
    desk.wait_for_load_state()
    desk.fill("#challenged", "berto")
    desk.click("#challenges button[value=challenge]")
    desk.wait_for_selector("text=berto is challenged.")
    phone.goto(f"{site}/notices/")
    phone.click(".notices a")
    phone.wait_for_selector("button[value=decline]")
    look(phone, "lobby-challenged")
    phone.click("button[value=sit]")
    comes(desk, "document.querySelectorAll('.rs:not(.free)').length === 2")
    assert desk.locator("#room-link").count() == 1, "the update leaves the link as it is"
    assert not desk.locator("button[value=refresh]").is_visible()
    desk.click("details.more summary")
    look(desk, "lobby-room")
    desk.click("button[value=swap]")
    desk.wait_for_load_state()
    for page in (phone, desk):
        page.click("button[value=ready]")
    wait_for(worker.tables.look, "a table waits", PATIENT_MS / 1000)
    comes(guest, "document.querySelector('#nobody') !== null")
    assert dict(TablePerson.objects.values_list("player__name", "number")) == {"ana": 1, "berto": 0}
    for page in (desk, phone):
        comes(page, "document.querySelectorAll('.clocks b').length === 2")
    by_seat = {0: phone, 1: desk}
    seat = company.asked()
    asked_page = by_seat[seat]
    comes(asked_page, MY_TURN)
    first_text = asked_page.locator(".clocks [data-left]").inner_text()
    comes(asked_page, f"document.querySelector('.clocks [data-left]').textContent !== '{first_text}'")
    for name, page in (("desk", desk), ("phone", phone)):
        look(page, f"lobby-clock-{name}")
    asked_page.context.set_offline(True)
    before = int(asked_page.locator(".clocks [data-left]").get_attribute("data-left"))
    asked_page.context.set_offline(False)
    asked_page.reload()
    comes(asked_page, MY_TURN)
    assert int(asked_page.locator(".clocks [data-left]").get_attribute("data-left")) <= before + 2  # The page rounds.
    answer(asked_page, touch=False)
    assert TablePerson.objects.get(number=seat).left_ms > (before - 60) * 1000
    for page in company.pages.values():
        page.context.close()
    assert company.complaints == []
