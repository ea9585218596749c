"""manage.py enter_house."""

from __future__ import annotations

from typing import Any

from league.domain.bots import house
from league.management.base import LeagueCommand


class Command(LeagueCommand):
    """The league's own bots."""

    help = "Upload the bots of bots/house for the player `house`, as anybody would. A bot whose files have not changed is left alone."
    example = "manage.py enter_house random greedy"

    def add_arguments(self, parser: Any) -> None:
        """Declare the arguments."""
        parser.add_argument("bots", nargs="*", metavar="bot", help="only these; all of them where none is named")

    def run(self, **options: Any) -> None:
        """Enter what is new."""
        for version, new in house.enter(options["bots"]):
            self.say(f"{version}: {'uploaded' if new else 'unchanged'}, {version.status}")
