"""Pages that change before one's eyes: a real browser, the real web server, results that arrive meanwhile."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.conf import settings

from league.domain.core import clock
from league.models import Match
from tests.league.web.conftest import PATIENT_MS, played
from tests.support import league as made
from tests.support.chromium import until
from tests.support.processes import wait_for

TEMPLATES = settings.BASE_DIR / "league" / "templates"


def test_no_page_loads_itself_anew() -> None:
    for path in TEMPLATES.glob("**/*.html"):
        assert "http-equiv" not in path.read_text(encoding="utf-8").lower(), path


@pytest.mark.slow
def test_a_page_that_hears_no_ping_connects_again(site: str, browser) -> None:
    context = browser.new_context()
    context.set_default_timeout(PATIENT_MS)
    page, streams = context.new_page(), []
    page.clock.install()
    page.on("request", lambda request: streams.append(request.url) if "topic=" in request.url else None)
    try:
        page.goto(f"{site}/status/")
        wait_for(lambda: page.evaluate("1") and len(streams) == 1, "the stream", 60)
        page.clock.fast_forward(39_000)
        assert len(streams) == 1
        page.clock.fast_forward(2_000)  # The server pings every 15 s of its own clock, which has not moved as far.
        wait_for(lambda: page.evaluate("1") and len(streams) == 2, "the next stream", 60)
    finally:
        context.close()


@pytest.mark.slow
def test_results_appear_where_somebody_looks(site: str, browser) -> None:
    league = played()
    cup = made.started(league.ana, [league.rufo, league.luna, league.sol], boards=2, name="Live cup")
    first, second, *_ = cup.matches.order_by("pk")
    context = browser.new_context(viewport={"width": 360, "height": 500}, locale="es-ES")
    context.set_default_timeout(PATIENT_MS)
    complaints: list[str] = []

    def look(path: str):
        page = context.new_page()
        page.on(
            "console", lambda message: complaints.append(message.text) if message.type in ("error", "warning") else None
        )
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(site + path)
        page.evaluate("window.stays = true")
        return page

    try:
        table = look(f"/t/{cup.slug}/")
        assert table.locator("progress").first.get_attribute("value") == "0"
        link = table.locator(f"main a[href='/m/{second.public_id}/']").first
        link.focus()
        link.evaluate("one => one.scrollIntoView({block: 'center'})")
        before = link.evaluate("one => one.getBoundingClientRect().top")
        game = look(f"/m/{second.public_id}/")
        assert game.locator("[data-state]").inner_text() == "en cola"

        made.play(Match.objects.get(pk=first.pk))
        table.locator("main progress[value='1']").first.wait_for(state="attached")
        assert "Live cup" in table.title()
        assert link.evaluate("one => one === document.activeElement"), "focus stays"
        until(table, f"Math.abs(document.activeElement.getBoundingClientRect().top - {before}) < 2")
        assert table.evaluate("window.scrollY") > 0
        table.locator("p[role=status]", has_text="La página se ha actualizado.").wait_for(state="attached")

        # The other page heard nothing of that; now its own match is over, and its table is there with all its parts
        made.play(Match.objects.get(pk=second.pk))
        game.locator("tute-replay .felt:not([hidden])").wait_for()
        assert game.locator("[data-state]").count() == 0
        assert game.locator("main").get_attribute("data-live") is None, "nothing more to follow"
        table.locator("main progress[value='2']").first.wait_for(state="attached")
        for page in (table, game):
            assert page.evaluate("window.stays"), "no page was loaded anew"
        assert complaints == []
    finally:
        context.close()


def test_a_site_that_switches_it_off_has_no_script_for_it(db: None, client, settings) -> None:
    assert 'data-live="matches"' in client.get("/status/").content.decode()
    settings.LIVE_LISTENERS = 0
    page = client.get("/status/").content.decode()
    assert "data-live" not in page
    assert "live.js" not in page


@pytest.mark.slow
@pytest.mark.usefixtures("_one_moment")
def test_every_wall_shows_the_same_step(transactional_db: None, live_server, browser) -> None:
    """Two pages that came at different moments: the table of the event beside the cards, and both at the step of the clock."""
    league = played()
    Match.objects.update(finished=clock.present() - timedelta(hours=1))
    complaints: list[str] = []
    contexts = [
        browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme, locale="es-ES")
        for width, scheme in ((1280, "light"), (360, "dark"))
    ]
    pages = []
    try:
        for context in contexts:
            context.set_default_timeout(PATIENT_MS)
            page = context.new_page()
            page.on(
                "console",
                lambda message: complaints.append(message.text) if message.type in ("error", "warning") else None,
            )
            page.on("pageerror", lambda error: complaints.append(str(error)))
            page.goto(f"{live_server.url}/tv/")
            page.locator("tute-replay.ready").wait_for()
            pages.append(page)
        # The tenth step of the deal, for both: from now on steps and the slot take as long as nobody waits
        for page in pages:
            page.evaluate(
                """() => { const tv = document.querySelector(".tv"); tv.dataset.step = tv.dataset.slot = 1e9;
                tv.dataset.first = Number(tv.dataset.first) + 10; }"""
            )
        numbers = []
        for page in pages:
            until(
                page,
                "document.querySelector('tute-replay').now === Number(document.querySelector('.tv').dataset.first)",
            )
            numbers.append(page.evaluate("document.querySelector('.say').textContent"))
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
            assert page.locator("aside table tbody tr").count() >= 2
            assert page.locator("header.top").is_hidden()
        assert numbers[0] == numbers[1] != ""
        page = pages[0]
        page.locator("[data-pause]").click()
        page.evaluate("document.querySelector('.tv').dataset.first = 0")
        assert page.locator("[data-pause]").get_attribute("aria-pressed") == "true"
        page.evaluate(
            "document.querySelector('.tv').dataset.begins = 0; document.querySelector('.tv').dataset.mark = 1"
        )
        page.locator("[data-pause]").click()
        page.locator(".tv:not([data-mark]) tute-replay.ready").wait_for()
        assert complaints == []
        assert league.cup.name in page.content()
    finally:
        for context in contexts:
            context.close()
