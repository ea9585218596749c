"""manage.py create_tournament."""

from __future__ import annotations

from typing import Any

import engine
from league.domain.core.errors import Refused
from league.domain.ratings import pools
from league.domain.tournaments import enrolment, tournaments
from league.enums import DEFAULT_FORMAT, Seeding
from league.management.base import LeagueCommand, find_player, find_version
from league.models import EntryRequest, Tournament
from league.pure.formats import FORMATS


class Command(LeagueCommand):
    """Create a tournament."""

    help = "Create a tournament and, with --start, queue its matches. If a tournament of this name exists, add the bots and start it instead."
    example = "manage.py create_tournament 'Spring cup' --owner ana --game partnership --format swiss --set rounds=5 --bot rufo --bot lola:2 --start"

    def add_arguments(self, parser: Any) -> None:
        """Declare the arguments."""
        parser.add_argument("name")
        parser.add_argument("--owner", required=True)
        parser.add_argument("--game", required=True, help=", ".join(engine.games()))
        parser.add_argument("--players", type=int, help="number of players, if the game allows several")
        parser.add_argument(
            "-o", "--option", action="append", default=[], metavar="NAME=VALUE", help="an option of the game"
        )
        parser.add_argument("--format", default=DEFAULT_FORMAT, choices=list(FORMATS))
        parser.add_argument(
            "--set", action="append", default=[], metavar="NAME=VALUE", help="a parameter of the format"
        )
        parser.add_argument("--seeding", default=Seeding.RATING.value, help=", ".join(Seeding.values))
        parser.add_argument("--mixed", action="store_true", help="teams of two different bots")
        parser.add_argument(
            "--sealed", action="store_true", help="only bots that can play without any clock; all play that way"
        )
        parser.add_argument("--boards", type=int, help="boards per match; by default the usual number of the game")
        parser.add_argument("--bot", action="append", default=[], help="bot or bot:number; may be repeated")
        parser.add_argument("--start", action="store_true")

    def run(self, **options: Any) -> None:
        """Create the tournament, enter the bots, start it."""
        owner = find_player(options["owner"])
        tournament = Tournament.objects.select_related("pool").filter(name=options["name"], owner=owner).first()
        if tournament is None:
            tournament = tournaments.create(
                owner,
                options["name"],
                options["game"],
                pools.parse_options(options["option"]),
                options["boards"],
                players=options["players"],
                format=options["format"],
                parameters=pools.parse_options(options["set"]),
                seeding=options["seeding"],
                mixed=options["mixed"],
                sealed=options["sealed"],
            )
        elif (tournament.pool.game, tournament.format) != (options["game"], options["format"]):
            raise Refused(
                f"the tournament {tournament.name!r} exists and is a {tournament.format} of {tournament.pool.game}; choose another name"
            )
        for text in options["bot"]:
            version = find_version(text)
            if isinstance(
                enrolment.enter(tournament, version if ":" in text else version.bot, player=owner), EntryRequest
            ):
                self.say(f"{version.bot.slug}: waiting for the owner's permission")
        if options["start"]:
            tournaments.start_at_once(tournament, actor=owner.name)
        self.say(
            f"{tournament.slug}: {tournament.pool.game}, {tournament.entries.count()} entries, {tournament.matches.count()} matches of "
            f"{tournament.boards} boards, {tournament.status}"
        )
