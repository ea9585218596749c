"""Walks through the pages of matches and bots as a person takes them, at a desk and on a phone, with a picture of each page."""

from __future__ import annotations

import pytest

from league.models import Party
from tests.league.web.conftest import PATIENT_MS, played, put, record
from tests.support import rows
from tests.support.chromium import log_in

SIZES = [(1280, 800), (390, 844)]
LONGEST = 5  # Screens of a page.


@pytest.fixture(params=list(zip(SIZES, ("light", "dark"), strict=True)), ids=["desk", "phone"])
def walker(browser, live_server, request, tmp_path):
    """A page of a browser, its address, and a function that takes a picture and looks whether the page fits."""
    (width, height), scheme = request.param
    context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme, locale="es-ES")
    context.set_default_timeout(PATIENT_MS)
    page, complaints = context.new_page(), []
    page.on(
        "console", lambda message: complaints.append(message.text) if message.type in ("error", "warning") else None
    )

    def look(name: str) -> None:
        page.screenshot(path=tmp_path / f"{name}-{width}-{scheme}.png")
        assert page.evaluate("document.getElementById('main').scrollWidth") <= width, name
        assert page.evaluate("document.documentElement.scrollHeight") <= LONGEST * height, name
        assert complaints == []

    yield page, live_server.url, look
    context.close()


@pytest.mark.slow
def test_a_spectator_watches_a_match_and_compares_its_seats(walker) -> None:
    page, url, look = walker
    league = rows.once(played)
    page.goto(f"{url}/m/")
    look("matches")
    page.click(f"table.matches a[href='/m/{league.clean.public_id}/']")
    page.locator("tute-replay.ready").wait_for(state="attached")
    look("match")
    page.click("[data-do=next-trick]")
    assert page.locator("ol.steps li[aria-current].trick").count() == 1
    page.click(".picks a:has-text('B')")
    page.locator("tute-replay.ready").wait_for(state="attached")
    assert "asientos B" in page.text_content("#table")
    for tab in ("boards", "about", "decisions"):
        page.click(f".tabs label[for=tab-{tab}]")
        assert page.locator(f".of-{tab}").is_visible()
        look(f"match-{tab}")
    page.click(".tabs a")
    page.locator(".trumps, .note").first.wait_for()
    look("board")


@pytest.mark.slow
def test_an_owner_reads_each_tab_of_a_bot(walker) -> None:
    page, url, look = walker
    league = rows.once(played)
    Party.objects.filter(match=league.faulty, version=league.rufo).update(wins=0, draws=0, losses=2)
    page.goto(f"{url}/accounts/login/?next=/bots/rufo/")
    log_in(page, "ana")
    page.wait_for_url(f"{url}/bots/rufo/")
    page.click(".brand")
    page.locator("#bots a[href='/bots/rufo/']").wait_for()
    look("home")
    page.click("#bots a[href='/bots/rufo/']")
    page.wait_for_url(f"{url}/bots/rufo/")
    look("bot")
    for tab in ("games", "matches", "versions", "settings"):
        page.goto(f"{url}/bots/rufo/?tab={tab}")
        look(f"bot-{tab}")


@pytest.mark.slow
def test_an_owner_goes_from_a_lost_match_to_the_editor(walker) -> None:
    page, url, look = walker
    league = rows.once(played)
    put(league.faulty, record("partnership", "walk", deals=1))
    Party.objects.filter(match=league.faulty, version=league.rufo).update(wins=0, draws=0, losses=2)
    page.goto(f"{url}/accounts/login/?next=/bots/rufo/")
    log_in(page, "ana")
    page.wait_for_url(f"{url}/bots/rufo/")
    page.click(f"main a[href^='/m/{league.faulty.public_id}/'] >> nth=0")
    page.locator("tute-replay.ready").wait_for(state="attached")
    page.click("[data-do=next-trick]")
    look("lost-match")
    page.click("#open-here")
    page.wait_for_url("**/editor/?at=*")
    assert f"{league.faulty.public_id}.1.0." in page.url
    page.wait_for_selector(".code-editor")
    page.locator("button[value=here]").wait_for()
    look("lost-decision")
