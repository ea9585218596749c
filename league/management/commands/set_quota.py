"""manage.py set_quota."""

from __future__ import annotations

from typing import Any

from league.domain.core.errors import Refused
from league.domain.people import quotas
from league.management.base import LeagueCommand, find_player


class Command(LeagueCommand):
    """Another limit for one player."""

    help = "Give a player another limit than everybody has, or with `default` the one that everybody has. It is written in the journal."
    example = "manage.py set_quota ana boards 500000 --why 'the cup of her university'"

    def add_arguments(self, parser: Any) -> None:
        """Declare the arguments."""
        parser.add_argument("player")
        parser.add_argument("name", help=", ".join(quotas.KINDS))
        parser.add_argument("value", help="a whole number, or: default")
        parser.add_argument("--why", required=True, help="for the journal")

    def run(self, **options: Any) -> None:
        """Set it, and say where the player stands."""
        player, name, value = find_player(options["player"]), options["name"], options["value"]
        if value != "default" and not (value.isascii() and value.isdigit()):
            raise Refused("a limit is a whole number from 0 on, not {value}", value=value)
        quotas.set_quota(player, name, None if value == "default" else int(value), why=options["why"], actor="operator")
        found = quotas.limit(player, name)
        self.say(f"{player.name}: {name} {found.used} of {found.most}; the default is {found.default}")
