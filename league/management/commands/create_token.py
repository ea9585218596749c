"""manage.py create_token."""

from __future__ import annotations

from typing import Any

from league.domain.people import tokens
from league.enums import TokenScope
from league.management.base import LeagueCommand, find_player


class Command(LeagueCommand):
    """Make a key for the REST API."""

    help = "Create a token of a player and print its key. The key cannot be shown again."
    example = "manage.py create_token ana --label laptop"

    def add_arguments(self, parser: Any) -> None:
        """Declare the arguments."""
        parser.add_argument("player")
        parser.add_argument("--label", default="command line", help="what the token is for")
        parser.add_argument(
            "--scope", default=TokenScope.MANAGE, choices=list(TokenScope.values), help="what it may do"
        )
        parser.add_argument("--days", type=int, help="how long it is valid; for ever if left out")

    def run(self, **options: Any) -> None:
        """Create the token; stdout holds the key alone, for scripts."""
        player = find_player(options["player"])
        given = {"scope": options["scope"], "days": options["days"]}
        _, key = tokens.create(player, options["label"], actor="operator", **given)
        self.say(key)
