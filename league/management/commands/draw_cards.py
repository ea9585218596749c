"""`manage.py draw_cards`: writes the deck that the pages use."""

from __future__ import annotations

from pathlib import Path

from django.core.management.base import BaseCommand

from league.web.deck.art import sprite

DECK = Path(__file__).resolve().parents[2] / "static" / "league" / "cards.svg"


class Command(BaseCommand):
    help = "Draw the forty cards into league/static/league/cards.svg. Example: manage.py draw_cards"

    def handle(self, *args: object, **options: object) -> None:
        DECK.write_text(sprite(), encoding="utf-8")
        self.stdout.write(f"wrote {DECK.name}: {DECK.stat().st_size} bytes")
