"""The organiser of a cup of friends and a teacher, from the list of tournaments to the end, at a desk and on a phone, in both languages."""

from __future__ import annotations

from datetime import timedelta
from zoneinfo import ZoneInfo

import pytest
from django.test import Client

from league.domain.core import clock
from league.domain.tournaments import events, progress
from league.models import Event, Match
from tests.support import league as made

SIZES = [(1280, 800, "en-GB"), (390, 844, "es-ES")]


def _log_in(page, name: str, password: str = "a long password") -> None:
    page.fill("#id_username", name)
    page.fill("#id_password", password)
    page.click("main form button.button")


@pytest.mark.slow
@pytest.mark.parametrize(("width", "height", "locale"), SIZES)
def test_an_organiser_of_a_cup_of_friends(live, visit, tmp_path, width, height, locale) -> None:
    url, league = live
    look = {"width": width, "height": height, "locale": locale, "timezone_id": "Europe/Madrid"}
    visited = visit(f"{url}/accounts/login/?next=/t/", **look)
    page = visited.page
    _log_in(page, "ana")
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
    while match := Match.objects.filter(status="queued", tournament__event=event).first():
        made.play(match, winner=0)
    progress.advance(event.tournaments.get(), now=made.later(60))
    events.advance(event)
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
    _log_in(page, "ana")
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
