"""The rules on the page of every game, in both languages, with the cards of a trick drawn."""

from __future__ import annotations

from itertools import product

import pytest
from django.template.defaultfilters import capfirst
from django.test import Client
from django.utils.html import escape

from engine import rulebook
from engine.game import games
from engine.rulebook.words import card_name
from tests.league.web.conftest import PATIENT_MS
from tests.support.parts import mostly_slow

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("key", "lang"),
    mostly_slow(
        product(games(), ("es", "en")),
        (("guinote", "es"), ("partnership", "en"), ("variable_trump", "es")).__contains__,
    ),
)
def test_the_page_tells_the_rules(client: Client, key: str, lang: str) -> None:
    page = client.get(f"/g/{key}/?tab=rules", headers={"accept-language": lang}).content.decode()
    trick = rulebook.worked_trick(key)
    for _, card in trick.plays:
        assert f"#card-{card}" in page
    for card in trick.example.legal:
        assert f"#card-{card}" in page
        assert f'aria-label="{card_name(card, lang)}"' in page, "a screen reader reads 'seven of cups', not '7c'"
    for step in rulebook.deal_steps(key, lang):
        assert escape(step.text) in page
    for line in rulebook.option_lines(key, lang, codes=False):
        assert f"<dt>{capfirst(escape(line.meaning))}</dt>" in page, "each option is named in words"
        assert f">{line.name}<" not in page
        assert f"{escape(line.allowed)}. " in page
    for line in rulebook.lines(key, lang):
        assert escape(line.meaning) in page
    if key == "variable_trump":
        assert "Mark Steere" in page


@pytest.mark.slow
@pytest.mark.parametrize(("width", "scheme"), [(360, "dark"), (1280, "light")])
def test_the_page_fits_the_screen(browser, live_server, tmp_path, width: int, scheme: str) -> None:
    page = browser.new_page(viewport={"width": width, "height": 800}, locale="es-ES", color_scheme=scheme)
    page.set_default_timeout(PATIENT_MS)
    for key in ("variable_trump", "guinote"):
        page.goto(f"{live_server.url}/g/{key}/?tab=rules")
        page.screenshot(path=tmp_path / f"rules-{key}-{width}-{scheme}.png", full_page=True)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.get_by_role("img", name="de", exact=False).count() >= 4
    page.close()
