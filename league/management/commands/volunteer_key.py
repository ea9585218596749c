"""manage.py volunteer_key."""

from __future__ import annotations

from typing import Any

from league.domain.core.errors import Refused
from league.domain.volunteers import keys
from league.management.base import LeagueCommand, find_player


class Command(LeagueCommand):
    """Create or end a key of a volunteer."""

    help = (
        "Create a key with which a player's computer works for the league (`tute volunteer`), and print it. It cannot be shown again. "
        "--end removes the key that begins with these characters; without a player, list all keys."
    )
    example = "manage.py volunteer_key ana --label cellar"

    def add_arguments(self, parser: Any) -> None:
        """Declare the arguments."""
        parser.add_argument("player", nargs="?")
        parser.add_argument("--label", default="command line", help="which computer it is for")
        parser.add_argument("--end", metavar="PREFIX", help="the first characters of the key to remove")

    def run(self, **options: Any) -> None:
        """Create, end or list."""
        if options["player"] is None:
            for row in keys.listed():
                state = (
                    "shut out"
                    if row.shut_out
                    else f"{row.agreed} repeated, {row.accepted} count, {row.held} unconfirmed"
                )
                self.say(f"{row.token.player.name}: {row.token.prefix}… ({row.token.label}): {state}")
            return
        player = find_player(options["player"])
        if options["end"] is None:
            self.say(keys.create(player, options["label"], actor="operator")[1])
            return
        prefix = options["end"].removeprefix("tute_").rstrip("…")
        rows = [row for row in keys.listed().filter(token__player=player) if row.token.prefix == prefix]
        if not rows:
            raise Refused("{name} has no key {prefix!r} of a volunteer", name=player.name, prefix=prefix)
        keys.end(rows[0], actor="operator")
        self.say(f"removed the key {prefix}… of {player.name}")
