"""Tute in 3 minutes in the browser: cards are clicked, without scripts too, and the answer is judged below them."""

from __future__ import annotations

import re

import pytest
from django.test import Client

from engine.lessons import lessons


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
