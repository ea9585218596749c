"""The drawn deck: the committed file is what the generator draws, and holds all that pages ask of it."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

from league.management.commands.draw_cards import DECK
from league.web.deck import art

SVG = "{http://www.w3.org/2000/svg}"


def test_the_committed_deck_is_the_drawn_one() -> None:
    assert DECK.read_text(encoding="utf-8") == art.sprite(), "run manage.py draw_cards"


def test_every_card_has_a_symbol_with_its_name() -> None:
    symbols = {symbol.get("id"): symbol for symbol in ElementTree.fromstring(art.sprite()).iter(f"{SVG}symbol")}
    cards = {f"card-{rank}{suit}" for suit in "oceb" for rank in "1234567SCR"}
    assert set(symbols) == cards | {"card-back"} | {f"suit-{suit}" for suit in "oceb"}
    title = symbols["card-Ro"].find(f"{SVG}title")
    assert title is not None
    assert title.text == "Rey de oros"


def test_the_deck_needs_no_style_and_no_script() -> None:
    text = art.sprite()
    assert "style=" not in text
    assert "<script" not in text
    used = {use.get("href") for use in ElementTree.fromstring(text).iter(f"{SVG}use")}
    assert used == {"#suit-o", "#suit-c", "#suit-e", "#suit-b"}
