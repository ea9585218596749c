"""manage.py count_choices."""

from __future__ import annotations

from typing import Any

from league.domain.bots import choices
from league.management.base import LeagueCommand
from league.models import Pool


class Command(LeagueCommand):
    """Count the opening choices of matches for the explorer."""

    help = (
        "Add the public rated matches that the explorer lacks, for example those of an earlier release; with --rebuild, count all matches from "
        "their logs again. The league may go on."
    )
    example = "manage.py count_choices --game partnership --rebuild"

    def add_arguments(self, parser: Any) -> None:
        """Declare the arguments."""
        parser.add_argument("--game", help="only the pools of this game")
        parser.add_argument("--rebuild", action="store_true")

    def run(self, **options: Any) -> None:
        """Count each match in a transaction of its own."""
        pools = Pool.objects.order_by("pk")
        if options["game"]:
            pools = pools.filter(game=options["game"])
        count = sum(1 for pool in pools for _ in choices.recount(pool, again=options["rebuild"]))
        self.say(f"{count} matches counted in {len(pools)} pools")
