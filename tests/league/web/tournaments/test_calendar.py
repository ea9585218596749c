"""The calendar: its page, entering and leaving there, and its files."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from league.domain.arenas import arenas
from league.domain.bots import house
from league.domain.core import clock
from league.domain.tournaments import agenda, circuits, events, releases
from league.models import Circuit, Event, Player
from tests.league.pure.calendar.test_icalendar import unfolded
from tests.league.web.page import Page, faults
from tests.support import league as made
from tests.support.league import accepted

pytestmark = pytest.mark.usefixtures("_one_moment")


def signed_in(player: Player) -> Client:
    client = Client(headers={"accept-language": "en"})
    client.force_login(player.user)
    return client


def event(owner: Player, name: str, *, hours: float = 5, private: bool = False, game: str = "partnership") -> Event:
    """An event open to everybody that starts in some hours."""
    document = {"name": name, "game": game, "stages": [{"format": "swiss", "boards": 1}]}
    due = clock.present() + timedelta(hours=hours)
    terms = releases.ReleaseTerms("public", private, None, 0, due)
    return events.create(owner, document, [], terms=terms, wait=True, entrance="anybody", now=clock.present())


def circuit(owner: Player, name: str = "Liga", *, days: str = "fri", game: str = "partnership") -> Circuit:
    hours = {"days": days, "at": "20:00", "time_zone": "Europe/Madrid"}
    return circuits.create(owner, name, game, boards=1, **hours, now=clock.present())


def lines_of(client: Client, address: str) -> list[str]:
    answer = client.get(address)
    assert answer["Content-Type"] == "text/calendar; charset=utf-8"
    return unfolded(answer.content.decode())


def values(lines: list[str], name: str) -> list[str]:
    return [line.partition(":")[2] for line in lines if line.startswith(f"{name}:")]


def test_page_shows_what_comes_once_and_lets_a_bot_in_and_out(league):
    cup, liga = event(league.berto, "Copa"), circuit(league.berto)
    later = event(league.berto, "Lejos", hours=24 * 20, game="brisca")
    ana = signed_in(league.ana)
    page = Page(ana.get("/calendar/").content.decode())
    assert faults(page) == []
    assert page.text.index("Copa") < page.text.index("Later") < page.text.index("Lejos")
    assert page.text.count("Liga") <= 3, "its name and the label of its button: one date, not one for each week"

    for contest, do, verbs in (
        (cup, f"/e/{cup.slug}/enter/", ("enter", "leave")),
        (liga, f"/c/{liga.slug}/do/", ("join", "leave")),
    ):
        for verb, inside in zip(verbs, (True, False), strict=True):
            answer = ana.post(do, {"action": verb, "bot": "rufo", "next": "/calendar/?game=partnership"})
            assert answer.url == "/calendar/?game=partnership", contest
            assert ("rufo is entered." in ana.get("/calendar/").content.decode()) == inside, contest
    assert "Lejos" not in ana.get("/calendar/?game=partnership").content.decode()
    assert later.name in ana.get("/calendar/?game=brisca").content.decode()


def test_nobody_sees_a_private_event_but_in_their_own_calendar(league):
    secret = event(league.ana, "Secreto", private=True)
    releases.join(secret.slug, secret.invitation, league.berto, now=clock.present())
    for client in (Client(), signed_in(league.ana), signed_in(league.berto)):
        assert "Secreto" not in client.get("/calendar/").content.decode()
        assert "Secreto" not in client.get("/calendar/all.ics").content.decode()

    berto = signed_in(league.berto)
    assert Client().post("/calendar/link/").status_code == 302
    assert berto.get("/calendar/link/").status_code == 405
    berto.post("/calendar/link/", {"action": "renew"})
    first = Player.objects.get(name="berto").calendar_link
    answer = Client().get(f"/calendar/of/berto/{first}.ics")
    assert "SUMMARY:Secreto" in answer.content.decode()
    assert "no-store" in answer["Cache-Control"]
    assert f"/calendar/of/berto/{first}.ics" in berto.get("/calendar/").content.decode()
    assert first not in signed_in(league.ana).get("/calendar/").content.decode()

    berto.post("/calendar/link/", {"action": "renew"})
    second = Player.objects.get(name="berto").calendar_link
    assert Client().get(f"/calendar/of/berto/{first}.ics").status_code == 404
    assert Client().get(f"/calendar/of/ana/{second}.ics").status_code == 404
    berto.post("/calendar/link/", {"action": "remove"})
    for link in (second, "x", ""):
        assert Client().get(f"/calendar/of/berto/{link}.ics").status_code == 404


def test_file_keeps_the_key_of_what_moves_and_says_what_is_cancelled(league):
    cup = event(league.ana, "Copa")
    before = lines_of(Client(), "/calendar/partnership.ics")
    due = cup.due + timedelta(days=1)
    releases.change(cup, releases.ReleaseTerms("public", False, None, 0, due), actor="ana")
    moved = lines_of(Client(), "/calendar/partnership.ics")
    events.cancel(cup, actor="ana")
    gone = lines_of(Client(), "/calendar/all.ics")

    assert values(before, "UID") == values(moved, "UID") == values(gone, "UID") == [f"event-{cup.slug}@testserver"]
    assert [values(lines, "SEQUENCE") for lines in (before, moved, gone)] == [["0"], ["1"], ["2"]]
    assert values(moved, "DTSTART") == [f"{due:%Y%m%dT%H%M%SZ}"]
    assert [values(lines, "STATUS") for lines in (before, gone)] == [["CONFIRMED"], ["CANCELLED"]]
    assert Client().get("/calendar/nothing.ics").status_code == 404
    assert values(lines_of(Client(), "/calendar/brisca.ics"), "UID") == []


def test_a_league_stays_at_its_hour_of_the_wall_and_a_paused_one_is_cancelled(league):
    liga, now = circuit(league.ana), made.NOW.replace(year=2030, month=3, day=22)
    dates = agenda.public(now=now)
    hours = [f"{date.start:%m-%d %H}" for date in dates[:4]]
    assert hours == ["03-15 19", "03-22 19", "03-29 19", "04-05 18"], "summer time begins on 31 March"
    assert len({date.key for date in dates}) == len(dates)
    assert len(agenda.coming(dates, now=now)[0]) == 1
    circuits.set_active(liga, False, actor="ana", now=clock.present())
    lines = lines_of(Client(), "/calendar/all.ics")
    assert set(values(lines, "SEQUENCE")) == {"1"}
    assert set(values(lines, "STATUS")) == {"CANCELLED"}
    assert "Liga" not in Client().get("/calendar/").content.decode()


def test_a_crowd_of_leagues_hides_none_of_the_house_and_costs_no_queries(league, monkeypatch):
    monkeypatch.setattr("league.domain.tournaments.agenda.LOOKED", 2)
    circuit(house.player(now=made.NOW), "Casa")

    def count() -> int:
        with CaptureQueriesContext(connection) as queries:
            page = signed_in(league.ana).get("/calendar/").content.decode()
        assert "Casa" in page
        return len(queries)

    circuit(league.ana, "Liga")
    event(league.ana, "Copa")
    before = count()
    for number in range(3):
        circuit(league.ana, f"Otra cosa {number}{number}", days="mon,tue,wed,thu,fri,sat,sun")
        event(league.ana, f"Copa {number}{number}")
    assert count() == before
    monkeypatch.setattr("league.domain.tournaments.agenda.MOST_LINES", 1)
    page = signed_in(league.ana).get("/calendar/?game=partnership").content.decode()
    assert (page.count("<li><b><time"), "Casa" in page) == (2, True)
    assert Client().get("/calendar/all.ics").content.decode().count("Liga") <= 1


def test_a_start_that_is_dropped_is_cancelled_and_a_later_one_is_the_same_date(league):
    now = clock.present()
    cup, liga = event(league.ana, "Copa", hours=1), circuit(league.ana, days="mon,tue,wed,thu,fri,sat,sun")
    events.start_due(now=now + timedelta(hours=2))
    circuits.open_due(now=now + timedelta(days=1, hours=1))
    lines = lines_of(Client(), "/calendar/all.ics")
    items = {uid: place for place, uid in enumerate(values(lines, "UID"))}
    place = items[f"event-{cup.slug}@testserver"]
    assert (values(lines, "STATUS")[place], values(lines, "SEQUENCE")[place]) == ("CANCELLED", "1")
    assert values(lines, "DTSTART")[place] == f"{cup.due:%Y%m%dT%H%M%SZ}"
    season = liga.seasons.get()
    assert season.reason
    missed = items[f"circuit-{liga.slug}-{season.due:%Y%m%dT%H%M}@testserver"]
    assert values(lines, "STATUS")[missed] == "CANCELLED"
    assert values(lines, "STATUS").count("CANCELLED") == 2
    assert set(values(lines, "SEQUENCE")) == {"1"}

    cup.refresh_from_db()
    later = now + timedelta(days=2)
    for due, status, sequence in ((later, "CONFIRMED", "2"), (None, "CANCELLED", "3")):
        releases.change(cup, releases.ReleaseTerms("public", False, None, 0, due), actor="ana", now=now)
        lines = lines_of(Client(), "/calendar/all.ics")
        place = values(lines, "UID").index(f"event-{cup.slug}@testserver")
        assert (values(lines, "STATUS")[place], values(lines, "SEQUENCE")[place]) == (status, sequence)
        assert values(lines, "DTSTART")[place] == f"{later:%Y%m%dT%H%M%SZ}"


def test_an_arena_is_in_the_calendar_with_one_button(league):
    accepted(house.player(now=made.NOW), "greedy")
    start = clock.present() + timedelta(hours=1)
    arena = arenas.create("partnership", start, now=clock.present())
    ana = signed_in(league.ana)
    for action, inside in (("play", True), ("stop", False)):
        answer = ana.post(f"/arenas/{arena.slug}/do/", {"action": action, "next": "/calendar/"})
        assert answer.url == "/calendar/"
        page = ana.get("/calendar/").content.decode()
        assert faults(Page(page)) == []
        assert ("You are in." in page) == inside
    assert "Arena: Tute por parejas" in Client().get("/calendar/").content.decode()
    lines = lines_of(Client(), "/calendar/partnership.ics")
    assert values(lines, "UID") == [f"arena-{arena.slug}@testserver"]
    assert values(lines, "URL") == [f"http://testserver/arenas/{arena.slug}/"]
