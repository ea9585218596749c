"""manage.py create_arena."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from django.core.management import CommandError

import engine
from league.domain.arenas import arenas
from league.domain.core import clock
from league.domain.ratings import pools
from league.management.base import LeagueCommand


class Command(LeagueCommand):
    """Create an arena for people."""

    help = "Create an arena for people: who presses Play is paired again and again, with others or with bots. One game and hour are one arena."
    example = "manage.py create_arena partnership --start 2026-12-04T20:00 --zone Europe/Madrid"

    def add_arguments(self, parser: Any) -> None:
        """Declare the arguments."""
        parser.add_argument("game", help=", ".join(engine.games()))
        parser.add_argument("--start", help="time in UTC, 2026-12-04T20:00; by default now")
        parser.add_argument("--minutes", type=float, default=arenas.MINUTES, help="how long tables are drawn")
        parser.add_argument(
            "--zone", default="", help="time zone by whose clocks it repeats every week; by default once"
        )
        parser.add_argument("--clock", type=int, default=arenas.CLOCK_S, help="the most seconds for an answer")
        parser.add_argument("--players", type=int, help="number of players; by default that of the game")
        parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="an option of the game")

    def run(self, **options: Any) -> None:
        """Create the arena, and print its address."""
        try:
            start = datetime.fromisoformat(options["start"]) if options["start"] else clock.present()
        except ValueError as error:
            raise CommandError(f"{options['start']!r} is not a time; write 2026-12-04T20:00") from error
        start = start if start.tzinfo else start.replace(tzinfo=UTC)
        terms = {"minutes": options["minutes"], "time_zone": options["zone"], "clock_s": options["clock"]}
        rules = {"players": options["players"], "options": pools.parse_options(options["set"])}
        arena = arenas.create(options["game"], start, **terms, **rules, actor="operator")
        self.say(f"/arenas/{arena.slug}/ from {arena.start:%Y-%m-%d %H:%M} UTC")
