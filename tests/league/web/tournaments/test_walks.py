"""The organiser of a cup of friends and a teacher, from the list of tournaments to the end, at a desk and on a phone, in both languages."""

from __future__ import annotations

import csv
from datetime import timedelta
from zoneinfo import ZoneInfo

import pytest
from django.test import Client

from league.domain.core import clock
from league.domain.tournaments import events, progress, releases
from league.models import Event, Match
from tests.league.web.conftest import hashed
from tests.support import league as made
from tests.support.chromium import log_in

SIZES = [(1280, 800, "en-GB"), (390, 844, "es-ES")]


def _sign_up(page, name: str) -> None:
    page.fill("[name=name]", name)
    page.fill("[name=password]", "a long password")
    page.click("main form button.button")


def _play_out(event: Event) -> None:
    """Play every match of an event, as workers would."""
    while match := Match.objects.filter(status="queued", tournament__event=event).first():
        made.play(match, winner=0)
    progress.advance(event.tournaments.get(), now=made.later(60))
    events.advance(event)


@pytest.mark.slow
@pytest.mark.parametrize(("width", "height", "locale"), SIZES)
def test_an_organiser_of_a_cup_of_friends(live, visit, tmp_path, width, height, locale) -> None:
    url, league = live
    look = {"width": width, "height": height, "locale": locale, "timezone_id": "Europe/Madrid"}
    visited = visit(f"{url}/accounts/login/?next=/t/", **look)
    page = visited.page
    log_in(page, "ana")
    page.click("a.button[href='/t/new/']")
    page.wait_for_url("**/t/new/")
    assert page.input_value("#id_zone") == "Europe/Madrid"
    page.click("button[value=open]")
    page.locator(".faults").wait_for()
    assert page.evaluate("document.activeElement.className") == "note bad faults"
    assert page.get_attribute("#id_name", "aria-invalid") == "true"
    visited.complaints.clear()  # The browser complains about 422.
    page.fill("#id_name", "Cinco amigos")
    page.fill("#id_boards", "1")
    page.check("#id_private")
    page.locator(".prediction", has_text="5 bots").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.screenshot(path=tmp_path / f"new-{width}.png", full_page=True)
    page.click("button[value=open]")
    page.wait_for_url("**/e/**")
    link = page.input_value("#link")
    event = Event.objects.get()
    assert event.invitation in link
    friend = Client()
    friend.force_login(league.berto.user)
    friend.post(link.removeprefix(url))
    events.enter(event, league.luna.bot, league.berto)
    page.reload()
    page.screenshot(path=tmp_path / f"open-{width}.png", full_page=True)
    page.click("button[value=start]")
    page.locator(".phases [aria-current]").wait_for()
    _play_out(event)
    page.reload()
    page.locator(".ending h2", has_text="Cinco amigos").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.screenshot(path=tmp_path / f"end-{width}.png", full_page=True)
    assert visited.complaints == []


@pytest.mark.slow
def test_a_teacher_makes_a_task_that_closes_by_itself(live, visit, tmp_path) -> None:
    url, _league = live
    visited = visit(f"{url}/accounts/login/?next=/t/new/?game=subastado", timezone_id="Europe/Madrid")
    page = visited.page
    log_in(page, "ana")
    page.wait_for_url("**/t/new/**")
    page.select_option("#id_players", "4")
    page.locator("#id_mixture option[value=censor]").wait_for(state="attached")
    page.select_option("#id_mixture", "censor")
    page.fill("#id_name", "Clase 4B")
    page.fill("#id_description", "Para el viernes.")
    page.check("#id_private")
    closing = (clock.present() + timedelta(days=20)).strftime("%Y-%m-%d")
    page.fill("#id_due", f"{closing}T20:00")
    page.click("button[value=open]")
    page.wait_for_url("**/e/**")
    event = Event.objects.get()
    assert event.document["options"] == {"censor": True}
    assert event.document["players"] == 4
    assert event.due.astimezone(ZoneInfo("Europe/Madrid")).strftime("%Y-%m-%d %H") == f"{closing} 20", "typed in Madrid"
    assert "20:00" in page.locator("main time[data-as=due]").first.inner_text(), "shown in Madrid"
    page.screenshot(path=tmp_path / "class.png", full_page=True)
    assert visited.complaints == []


@pytest.mark.slow
@pytest.mark.parametrize(("width", "height", "locale"), SIZES)
def test_a_teacher_walks_from_the_front_page_to_the_results(live, visit, tmp_path, width, height, locale) -> None:
    """A visitor takes the teachers' door, and holds a tournament for a lesson: three students come by its link, one of them without a bot."""
    url, league = live
    look = {"width": width, "height": height, "locale": locale}
    for player in (league.berto, league.sol.bot.owner):
        player.user.password = hashed("a long password")
        player.user.save()

    def picture(page, name: str) -> None:
        assert page.evaluate("document.documentElement.scrollWidth") <= width, name
        page.screenshot(path=tmp_path / f"{name}-{width}.png", full_page=True)

    visited = visit(f"{url}/", **look)
    page = visited.page
    page.click("a.door[href='/teach/']")
    page.wait_for_url("**/teach/")
    picture(page, "door")
    page.click("main a.button")
    page.wait_for_url("**/accounts/login/**")
    picture(page, "account")
    page.click("main a[href^='/accounts/signup/']")
    _sign_up(page, "docente")
    page.wait_for_url("**/class/new/**")
    picture(page, "class")
    page.goto(f"{url}/t/")
    page.click("main a[href^='/t/new/']")
    page.wait_for_url("**/t/new/**")
    page.check("#id_private")
    page.fill("#id_name", "Clase 4B")
    page.fill("#id_boards", "1")
    picture(page, "form")
    page.click("button[value=open]")
    page.wait_for_url("**/e/**")
    link = page.input_value("#link")
    picture(page, "invitation")
    for number, (name, bot) in enumerate((("berto", "luna"), ("cira", "sol"), ("alumna", ""))):
        student = visit(link, **look, geolocation={"latitude": number, "longitude": 0}).page  # A browser of one's own.
        student.click("main a[href^='/accounts/login/']" if bot else "main a[href^='/accounts/signup/']")
        (log_in if bot else _sign_up)(student, name)
        student.wait_for_url(link)
        picture(student, f"invited-{name}")
        student.click("main form button.button")
        student.wait_for_url("**/e/*/")
        picture(student, f"joined-{name}")
        if bot:
            student.click("button[value=enter]")
            student.locator("button[value=leave]").first.wait_for()
        else:
            student.locator("main a[href^='/editor/']").first.wait_for()
    page.reload()
    picture(page, "class")
    page.click("button[value=start]")
    page.locator(".phases [aria-current]").wait_for()
    _play_out(Event.objects.get())
    page.reload()
    page.locator(".ending h2").wait_for()
    picture(page, "results")
    with page.expect_download() as download:
        page.click("main a[href$='/marks.csv']")
    rows = csv.DictReader(download.value.path().read_text(encoding="utf-8").splitlines())
    places = {row["player"]: row["place"] for row in rows}
    assert sorted(filter(None, places.values())) == ["1", "2"]
    assert places.keys() == {"berto", "cira", "alumna"}
    assert not places["alumna"], "a student without a bot stands in the list, without a place"
    assert visited.complaints == []


@pytest.mark.slow
@pytest.mark.parametrize(("width", "height", "locale"), SIZES)
def test_a_bot_enters_and_leaves_on_the_calendar_and_a_phone_gets_its_own_dates(
    live, visit, tmp_path, width, height, locale
) -> None:
    url, league = live
    midnight = clock.present().astimezone(ZoneInfo("Europe/Madrid")).replace(hour=0, minute=0, second=0, microsecond=0)
    document = {"name": "Copa", "game": "partnership", "stages": [{"format": "swiss", "boards": 1}]}
    terms = releases.ReleaseTerms("public", False, None, 0, midnight + timedelta(days=1, hours=20))
    events.create(league.berto, document, [], terms=terms, wait=True, entrance="anybody")
    look = {"width": width, "height": height, "locale": locale, "timezone_id": "Europe/Madrid"}
    visited = visit(f"{url}/accounts/login/?next=/calendar/", **look)
    page = visited.page
    log_in(page, "ana")
    line = page.locator(".agenda li", has_text="Copa")
    line.locator("time", has_text="Tomorrow, 20:00" if locale == "en-GB" else "Mañana, 20:00").wait_for()
    line.locator("button[value=enter]").click()
    line.locator("button[value=leave]").wait_for()
    page.screenshot(path=tmp_path / f"calendar-{width}.png", full_page=True)
    page.click("#own button[value=renew]")
    address = page.input_value("#own-link")
    assert "SUMMARY:Copa" in Client().get(address.removeprefix(url)).content.decode()
    line.locator("button[value=leave]").click()
    line.locator("button[value=enter]").wait_for()
    assert "SUMMARY:Copa" not in Client().get(address.removeprefix(url)).content.decode()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert visited.complaints == []
