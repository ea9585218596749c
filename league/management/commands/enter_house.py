"""manage.py enter_house."""

from __future__ import annotations

from typing import Any

from league.domain.bots import house
from league.management.base import LeagueCommand


class Command(LeagueCommand):
    """Upload the house bots."""

    help = "Upload the bots in bots/house for the player `house`. Bots with unchanged files are skipped."
    example = "manage.py enter_house random greedy"

    def add_arguments(self, parser: Any) -> None:
        """Declare the arguments."""
        parser.add_argument("bots", nargs="*", metavar="bot", help="only these; by default all")

    def run(self, **options: Any) -> None:
        """Upload new and changed bots."""
        for version, new in house.enter(options["bots"]):
            self.say(f"{version}: {'uploaded' if new else 'unchanged'}, {version.status}")
