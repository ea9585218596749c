"""The front page of a visitor and the page of a player, in a real browser and without one."""

from __future__ import annotations

import re
from datetime import date, timedelta

import pytest
from django.test import Client
from django.utils import timezone

from league.domain.core import clock
from league.domain.people import players
from league.domain.puzzles import shelf
from league.domain.tables import people
from league.domain.tournaments import events, tournaments
from league.enums import Entrance
from league.models import EntryRequest, Match, PuzzleAnswer, Table, TablePerson
from league.web.common import families
from league.web.pages import mine
from league.web.pages.puzzle_of_day import puzzle_of_day
from tests.league.pure.calendar.test_event_plan import GOOD
from tests.league.web.conftest import PATIENT_MS, played
from tests.league.web.page import Page
from tests.support import rows
from tests.support.league import NOW

SIZES = [(1280, 800), (390, 844)]
VISITOR = {"accept-language": "en"}


def test_a_visitor_finds_every_door(league) -> None:
    html = Client(headers=VISITOR).get("/").content.decode()
    page = Page(html)

    assert page.headings.count(1) == 1
    assert "Tute is the classic card game of Spain" in page.text
    assert 'action="/play/"' in html
    for door in (
        "/tv/",
        "/editor/",
        "/learn/",
        "/teach/",
        "/research/",
        "/run-your-own/",
        "/t/",
        "/puzzles/",
        "/overall/",
    ):
        assert door in page.links, door
    assert [key for key in families.game_order() if f"/g/{key}/" not in page.links] == []
    assert f"/t/{league.next_cup.slug}/" in page.links
    assert "csrfmiddlewaretoken" not in html, "the page could not be kept for others"


def test_what_is_open_can_be_entered_by_who_reads_it(league, owner, stranger) -> None:
    closed = tournaments.create(league.ana, "Closed", "brisca", entrance=Entrance.OWNER, now=NOW)
    event = events.create(league.ana, GOOD, [], wait=True, now=NOW)
    anybody = events.create(league.ana, {**GOOD, "name": "All"}, [], wait=True, entrance=Entrance.ANYBODY, now=NOW)
    page = Page(Client(headers=VISITOR).get("/").content.decode())
    assert f"/e/{anybody.slug}/" in page.links
    assert not {f"/t/{closed.slug}/", f"/e/{event.slug}/"} & set(page.links)
    for client, slugs in ((stranger, {"next-cup"}), (owner, {"next-cup", closed.slug})):
        assert {row.slug for row in client.get("/t/").context["open_tournaments"]} == slugs


def test_the_front_page_shows_a_finished_board_when_nothing_runs(league) -> None:
    Match.objects.filter(status="finished").update(finished=timezone.now() - timedelta(hours=3))
    page = Page(Client(headers=VISITOR).get("/").content.decode())

    assert "No match is running" not in page.text
    assert f"/m/{league.clean.public_id}/" in page.links
    assert "Replay" in page.text


def test_an_empty_league_has_a_front_page(db) -> None:
    page = Page(Client(headers=VISITOR).get("/").content.decode())

    assert "No match has been played yet." in page.text
    assert "No tournament takes entries now." in page.text


@pytest.mark.usefixtures("_one_moment")
def test_the_puzzle_of_the_day_changes_and_can_be_answered_without_a_token(league) -> None:
    days = [puzzle_of_day(date(2026, 11, 1) + timedelta(days=day)) for day in range(5)]
    today = puzzle_of_day(clock.present().date())
    assert today is not None
    visitor = Client(enforce_csrf_checks=True, headers=VISITOR)
    page = visitor.get("/").content.decode()
    answer = visitor.post(
        f"/puzzles/{today.id}/", {"do": today.choices[0].do}, headers={"sec-fetch-site": "same-origin"}
    )

    assert len({day.id for day in days if day}) > 1
    assert {day.game for day in days if day} == {"partnership"}, "the best-known game that has puzzles"
    assert today.text in page.replace("&#x27;", "'")
    assert answer.status_code == 200
    assert 'id="verdict"' in answer.content.decode()


def test_another_site_cannot_answer_a_puzzle_for_a_player(league) -> None:
    puzzle = next(iter(shelf.shelf().by_id.values()))
    ana = Client(enforce_csrf_checks=True)
    ana.force_login(league.ana.user)

    for headers in ({"sec-fetch-site": "cross-site"}, {"origin": "https://elsewhere.example"}, {}):
        assert ana.post(f"/puzzles/{puzzle.id}/", {"do": puzzle.best[0]}, headers=headers).status_code == 403
    assert not PuzzleAnswer.objects.exists()


def test_a_player_sees_what_waits(league, owner) -> None:
    request = EntryRequest.objects.create(
        bot=league.rufo.bot, asker=league.berto, tournament=league.next_cup, created=timezone.now()
    )
    html = owner.get("/").content.decode()
    page = Page(html)

    assert "Hola, ana" in page.text
    assert "berto pide inscribir a rufo" in page.text
    assert f'name="request" value="{request.pk}"' in html
    assert "/bots/rufo/" in page.links
    assert f"/m/{league.faulty.public_id}/" in page.links, "the last loss of rufo"
    assert f"/t/{league.next_cup.slug}/" in page.links


def test_a_player_goes_on_at_their_table(league, owner) -> None:
    table = Table.objects.create(
        public_id="abcdefghij",
        player=league.ana,
        pool=league.pool,
        boards=1,
        secret=b"0" * 32,
        created=timezone.now(),
        since=timezone.now(),
    )
    TablePerson.objects.create(table=table, number=0, player=league.ana)
    page = Page(owner.get("/").content.decode())

    assert people.present(league.ana) == table
    assert "/tables/abcdefghij/" in page.links
    assert "Tienes una mesa abierta." in page.text
    assert "/tables/abcdefghij/" not in Page(Client().get("/").content.decode()).links


def test_a_player_without_bots_is_led_to_the_editor(db) -> None:
    client = Client(headers=VISITOR)
    client.force_login(players.create("novice").user)
    page = Page(client.get("/").content.decode())

    assert "You have no bot yet." in page.text
    assert "/editor/" in page.links


@pytest.mark.parametrize(
    ("elos", "points"),
    [
        ([], ""),
        ([1000.0], ""),
        ([1000.0, 1020.0], "3.0,23.0 101.0,3.0"),
        ([5.0, 5.0, 5.0], "3.0,23.0 52.0,23.0 101.0,23.0"),
    ],
)
def test_a_trend_is_a_line_from_the_oldest_to_the_newest(elos: list[float], points: str) -> None:
    assert mine.trend(elos) == points


def test_a_long_trend_has_few_points() -> None:
    assert len(mine.trend([float(number) for number in range(1000)]).split()) < 50


@pytest.mark.slow
@pytest.mark.parametrize(("width", "height"), SIZES)
def test_a_visitor_walks_from_the_front_page(browser, live_server, tmp_path, width: int, height: int) -> None:
    """Use nothing but what the pages offer: the board in motion, the puzzle, a ladder, search, sign-up and the way back."""
    rows.once(played)
    Match.objects.filter(status="finished").update(finished=timezone.now() - timedelta(hours=3))
    context = browser.new_context(viewport={"width": width, "height": height}, locale="de-DE", reduced_motion="reduce")
    context.set_default_timeout(PATIENT_MS)
    page = context.new_page()
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.goto(f"{live_server.url}/")

    # A browser that asks for neither language gets English; the board stands in the first view and moves.
    assert page.locator("html").get_attribute("lang") == "en"
    board = page.locator("tute-replay.ready .felt")
    board.wait_for()
    assert board.bounding_box()["y"] < height
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.screenshot(path=tmp_path / f"front-{width}.png")
    page.locator("[data-pause]").click()
    assert page.locator("[data-pause]").get_attribute("aria-pressed") == "true"

    # The puzzle is answered in place.
    page.locator(".pick button").first.click()
    page.locator(".puzzle #verdict").wait_for()
    assert page.url == f"{live_server.url}/"

    # Ladders: the header at a desk, the bar at the thumb of a phone.
    bar = page.locator(".tabbar" if width < 500 else ".top nav")
    bar.get_by_role("link", name="Ladders", exact=True).click()
    page.locator("h1", has_text="Ladders").wait_for()
    assert page.evaluate("document.documentElement.scrollHeight") <= 5 * height
    assert page.locator("h2").first.inner_text() == "The best known"

    # Search, in the header or under More.
    if width < 500:
        page.locator(".tabbar summary").click()
        field = page.locator(".sheet input[type=search]")
    else:
        field = page.locator(".find input")
    field.fill("rufo")
    field.press("Enter")
    page.locator(".results a", has_text="rufo").first.click()
    page.wait_for_url("**/bots/rufo/")

    # Sign-up comes back to the page where one was.
    page.goto(page.url)
    if width < 500:
        page.locator(".top .prefs a", has_text="Log in").click()
        page.locator("main a", has_text="Sign up").click()
    else:
        page.locator(".top .prefs a", has_text="Sign up").click()
    page.fill("[name=name]", f"walker-{width}")
    page.fill("[name=password]", "a long walk through the pages")
    page.locator(".shows").click()
    assert page.locator("[name=password]").get_attribute("type") == "text"
    page.locator("main button.button:not(.plain)").click()
    page.wait_for_url("**/bots/rufo/")

    # And the front page is now one's own.
    page.locator(".brand").click()
    page.locator("h1", has_text=f"Hello, walker-{width}").wait_for()
    page.screenshot(path=tmp_path / f"home-{width}.png")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert faults == []
    context.close()


@pytest.mark.slow
def test_the_bar_of_a_phone_works_without_scripts(browser, live_server) -> None:
    rows.once(played)
    context = browser.new_context(viewport={"width": 320, "height": 740}, locale="es-ES", java_script_enabled=False)
    context.set_default_timeout(PATIENT_MS)
    page = context.new_page()
    page.goto(f"{live_server.url}/")

    page.locator(".tabbar summary").click()
    page.locator(".sheet").get_by_role("link", name="Torneos").click()
    page.wait_for_url("**/t/")
    for place in page.locator(".tabbar > a, .tabbar summary").all():
        box = place.bounding_box()
        assert box["height"] >= 44
        assert box["width"] >= 44
    context.close()


def test_every_section_is_marked_on_its_pages(league) -> None:
    visitor = Client(headers=VISITOR)
    for path, name in {
        "/play/": "Play",
        "/puzzles/": "Play",
        "/tv/": "Watch",
        "/m/": "Watch",
        f"/m/{league.clean.public_id}/": "Watch",
        "/g/": "Ladders",
        "/bots/rufo/": "Ladders",
        "/players/ana/": "Ladders",
        "/t/": "Tournaments",
        "/e/": "Tournaments",
        "/editor/": "Build",
        "/docs/": "Learn",
        "/teach/": "Learn",
    }.items():
        html = visitor.get(path, follow=True).content.decode()
        marked = re.findall(r'<a href="[^"]+" aria-current="true">([^<]+)</a>', html.split("<main")[0])
        assert marked == [name], path
