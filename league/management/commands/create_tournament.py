"""manage.py create_tournament"""

from __future__ import annotations

from typing import Any

import engine
from league.domain import pools, tournaments
from league.domain.errors import Refused
from league.management.base import LeagueCommand, the_player, the_version
from league.models import Tournament


class Command(LeagueCommand):
    """A round robin by hand."""

    help = "Create a round robin and, with --start, queue its matches. A name that exists is completed and started, not doubled."
    example = "manage.py create_tournament 'Spring cup' --owner ana --game partnership --boards 16 --bot rufo --bot lola:2 --start"

    def add_arguments(self, parser: Any) -> None:
        """Declare the arguments."""
        parser.add_argument("name")
        parser.add_argument("--owner", required=True)
        parser.add_argument("--game", required=True, help=", ".join(engine.games()))
        parser.add_argument("--players", type=int, help="seats at a table, where the game leaves a choice")
        parser.add_argument(
            "-o", "--option", action="append", default=[], metavar="NAME=VALUE", help="an option of the game"
        )
        parser.add_argument("--boards", type=int, help="boards of each match; without it what suits the table")
        parser.add_argument("--bot", action="append", default=[], help="bot or bot:number; may be repeated")
        parser.add_argument("--start", action="store_true")

    def run(self, **options: Any) -> None:
        """Create, enter, start."""
        owner = the_player(options["owner"])
        found = Tournament.objects.select_related("pool").filter(name=options["name"], owner=owner).first()
        if found is None:
            chosen = pools.parse_options(options["option"])
            found = tournaments.create(
                owner, options["name"], options["game"], chosen, options["boards"], players=options["players"]
            )
        elif found.pool.game != options["game"]:
            raise Refused(f"the tournament {found.name!r} exists and plays {found.pool.game}; choose another name")
        for text in options["bot"]:
            version = the_version(text)
            tournaments.enter(found, version if ":" in text else version.bot, actor=owner.name)
        if options["start"]:
            tournaments.start(found, actor=owner.name)
        self.say(
            f"{found.slug}: {found.pool.game}, {found.entries.count()} entries, {found.matches.count()} matches of "
            f"{found.boards} boards, {found.status}"
        )
