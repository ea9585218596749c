"""Tute in 3 minutes in the browser: cards are clicked, without scripts too, and the answer is judged below them."""

from __future__ import annotations

import json
import re

import pytest
from django.test import Client

import engine
from engine.lessons import lessons

SIZES = [(1280, 800), (390, 844)]


def test_each_answer_has_its_verdict_in_both_languages(client: Client, db: None) -> None:
    for lang, right, wrong in (("en", "Right:", "do not allow"), ("es", "Correcto:", "no permiten")):
        page = client.get("/learn/", headers={"accept-language": lang}).content.decode()
        assert len(re.findall('<input[^>]*class="right"', page)) == page.count(right) == len(lessons())
        answers = [answer for lesson in lessons() for answer in lesson.answers]
        assert page.count('class="verdict note') == len(answers)
        assert page.count(wrong) == sum(not answer.legal for answer in answers)


@pytest.mark.slow
@pytest.mark.parametrize(("width", "height", "scripts"), [(1280, 800, False), (390, 844, True)])
def test_a_click_on_a_card_shows_its_verdict(browser, live_server, width: int, height: int, scripts: bool) -> None:
    context = browser.new_context(
        viewport={"width": width, "height": height}, locale="en-GB", java_script_enabled=scripts
    )
    page = context.new_page()
    page.goto(f"{live_server.url}/learn/")
    lesson = page.locator("#follow")
    assert lesson.locator(".verdict:visible").count() == 0
    lesson.locator("label").nth(1).click()
    assert "do not allow" in lesson.locator(".verdict:visible").inner_text()
    lesson.locator("label").nth(0).click()
    assert lesson.locator(".verdict:visible").count() == 1
    assert "King of swords. Right: 7 points" in lesson.locator(".verdict:visible").inner_text()
    page.locator("#sing input").first.focus()
    page.keyboard.press("Space")
    assert "40 points" in page.locator("#sing .verdict:visible").inner_text()
    if scripts:
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    context.close()


@pytest.mark.slow
@pytest.mark.parametrize(("width", "height"), SIZES)
def test_a_researcher_walks_from_the_front_page_to_a_record(live, visit, tmp_path, width: int, height: int) -> None:
    """Environments, data, citation, and the record of a match by the API, with nothing but what the pages offer."""
    url, league = live
    visited = visit(f"{url}/", width=width, height=height, locale="en-GB")
    page = visited.page

    def picture(name: str) -> None:
        assert page.evaluate("document.documentElement.scrollWidth") <= width, name
        page.screenshot(path=tmp_path / f"{name}-{width}.png")

    page.click("a.door[href='/research/']")
    page.wait_for_url("**/research/")
    picture("door")
    page.get_by_role("link", name="PettingZoo").click()
    page.wait_for_url("**/docs/research/#environments")
    assert 0 <= page.locator("#environments").bounding_box()["y"] < height / 2, "the guide opens at its environments"
    picture("environments")
    page.go_back()

    page.click("main details.more summary")
    picture("data")
    with page.expect_download() as download:
        page.click("main a[href='/g/partnership/ratings.csv']")
    assert "rufo" in download.value.path().read_text(encoding="utf-8")
    with page.expect_download() as download:
        page.click("main a[href='/g/partnership/boards.jsonl']")
    boards = [json.loads(line) for line in download.value.path().read_text(encoding="utf-8").splitlines()]
    assert {board["match"] for board in boards} >= {league.clean.public_id}
    page.locator("main pre").scroll_into_view_if_needed()
    assert f"version = {{{engine.__version__}}}" in page.locator("main pre").inner_text()
    picture("citation")

    page.click("main a[href='/m/']")
    page.click(f"main a[href='/m/{league.clean.public_id}/'] >> nth=0")
    page.locator("tute-replay.ready").wait_for(state="attached")
    page.click(".files > summary")
    picture("files")
    with page.expect_download() as download:
        page.click(".files a[href$='.jsonl']")
    assert download.value.path().read_text(encoding="utf-8").count("\n") > 1
    page.click(f".files a[href='/api/v1/matches/{league.clean.public_id}']")
    page.wait_for_url("**/api/v1/matches/*")
    match = json.loads(page.locator("body").inner_text())
    assert match["id"] == league.clean.public_id
    assert visited.complaints == []
