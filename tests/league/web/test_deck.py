"""The drawn deck holds all that pages ask of it."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

from league.settings import BASE_DIR

DECK = (BASE_DIR / "league" / "static" / "league" / "cards.svg").read_text(encoding="utf-8")
SVG = "{http://www.w3.org/2000/svg}"


def test_every_card_has_a_symbol_with_its_name() -> None:
    symbols = {symbol.get("id"): symbol for symbol in ElementTree.fromstring(DECK).iter(f"{SVG}symbol")}
    cards = {f"card-{rank}{suit}" for suit in "oceb" for rank in "1234567SCR"}
    assert set(symbols) == cards | {"card-back"} | {f"suit-{suit}" for suit in "oceb"}
    title = symbols["card-Ro"].find(f"{SVG}title")
    assert title is not None
    assert title.text == "Rey de oros"


def test_the_deck_needs_no_style_and_no_script() -> None:
    assert "style=" not in DECK
    assert "<script" not in DECK
    used = {use.get("href") for use in ElementTree.fromstring(DECK).iter(f"{SVG}use")}
    assert used == {"#suit-o", "#suit-c", "#suit-e", "#suit-b"}
