"""manage.py create_token."""

from __future__ import annotations

from typing import Any

from league.domain.people import tokens
from league.enums import OWN_SCOPES, TokenScope
from league.management.base import LeagueCommand, find_player


class Command(LeagueCommand):
    """Create an API key."""

    help = "Create an API key for a player and print it. It cannot be shown again."
    example = "manage.py create_token ana --label laptop"

    def add_arguments(self, parser: Any) -> None:
        """Declare the arguments."""
        parser.add_argument("player")
        parser.add_argument("--label", default="command line", help="what the key is for")
        parser.add_argument("--scope", default=TokenScope.MANAGE, choices=list(OWN_SCOPES), help="what it may do")
        parser.add_argument("--days", type=int, help="days until it expires; by default never")

    def run(self, **options: Any) -> None:
        """Create the key and print nothing else to stdout, for scripts."""
        player = find_player(options["player"])
        settings = {"scope": options["scope"], "days": options["days"]}
        _, key = tokens.create(player, options["label"], actor="operator", **settings)
        self.say(key)
