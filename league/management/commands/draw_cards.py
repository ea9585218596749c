"""manage.py draw_cards."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from league.management.base import LeagueCommand
from league.web.deck.art import sprite

DECK = Path(__file__).resolve().parents[2] / "static" / "league" / "cards.svg"


class Command(LeagueCommand):
    """Draw the deck of the pages."""

    help = "Draw the forty cards into league/static/league/cards.svg."
    example = "manage.py draw_cards"

    def run(self, **options: Any) -> None:
        """Write the file."""
        DECK.write_text(sprite(), encoding="utf-8")
        self.say(f"wrote {DECK.name}: {DECK.stat().st_size} bytes")
