"""manage.py enter_house."""

from __future__ import annotations

from typing import Any

from league.domain.bots import house
from league.management.base import LeagueCommand


class Command(LeagueCommand):
    """The league's own bots."""

    help = "Upload the bots of bots/house for the player `house`, as anybody would. A bot whose files have not changed is left alone."
    example = "manage.py enter_house"

    def run(self, **options: Any) -> None:
        """Enter what is new."""
        for version, new in house.enter():
            self.say(f"{version}: {'uploaded' if new else 'unchanged'}, {version.status}")
