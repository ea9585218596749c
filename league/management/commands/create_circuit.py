"""manage.py create_circuit."""

from __future__ import annotations

from typing import Any

import engine
from league.domain.core import clock
from league.domain.ratings import pools
from league.domain.tournaments import circuits
from league.enums import DEFAULT_FORMAT
from league.management.base import LeagueCommand, find_player, find_version
from league.models import Circuit
from league.pure.formats import FORMATS


class Command(LeagueCommand):
    """Create a recurring league."""

    help = "Create a recurring league with divisions; bots join with --bot. If a league of this name exists, the bots join it."
    example = "manage.py create_circuit 'Friday league' --owner ana --game partnership --days fri --at 20:00 --zone Europe/Madrid --bot rufo"

    def add_arguments(self, parser: Any) -> None:
        """Declare the arguments."""
        parser.add_argument("name")
        parser.add_argument("--owner", required=True)
        parser.add_argument("--game", required=True, help=", ".join(engine.games()))
        parser.add_argument("--days", required=True, help="mon,thu or days of the month 1,15")
        parser.add_argument("--at", required=True, help="wall-clock time, 20:00")
        parser.add_argument("--zone", required=True, help="time zone, Europe/Madrid")
        parser.add_argument("--size", type=int, default=8, help="entries per division")
        parser.add_argument(
            "--moves", type=int, default=2, help="bots promoted and relegated between neighbouring divisions"
        )
        parser.add_argument("--format", default=DEFAULT_FORMAT, choices=list(FORMATS))
        parser.add_argument(
            "--set", action="append", default=[], metavar="NAME=VALUE", help="a parameter of the format"
        )
        parser.add_argument("--boards", type=int, help="boards per match; by default the usual number of the game")
        parser.add_argument("--fill", type=int, default=0, help="house bots fill a season up to this number of entries")
        parser.add_argument("--bot", action="append", default=[], help="a bot that joins; may be repeated")

    def run(self, **options: Any) -> None:
        """Create the league, let bots join, and print when the next season is due."""
        owner = find_player(options["owner"])
        circuit = Circuit.objects.filter(owner=owner, name=options["name"]).first()
        if circuit is None:
            circuit = circuits.create(
                owner,
                options["name"],
                options["game"],
                days=options["days"],
                at=options["at"],
                time_zone=options["zone"],
                size=options["size"],
                moves=options["moves"],
                format=options["format"],
                parameters=pools.parse_options(options["set"]),
                boards=options["boards"],
                fill=options["fill"],
            )
        for text in options["bot"]:
            if circuits.join(circuit, find_version(text).bot, player=owner) is not None:
                self.say(f"{text}: waiting for the owner's permission")
        due = circuits.calendar(circuit).next(clock.present())
        self.say(f"{circuit.slug}: {circuit.bots.count()} bots, next season due {due:%Y-%m-%d %H:%M} UTC")
