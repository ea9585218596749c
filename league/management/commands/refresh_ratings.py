"""manage.py refresh_ratings."""

from __future__ import annotations

from typing import Any

from league.domain.core.errors import Refused
from league.domain.ratings import ratings
from league.domain.upkeep import repair
from league.management.base import LeagueCommand
from league.management.repairs import print_report
from league.models import Pool


class Command(LeagueCommand):
    """Update the ratings."""

    help = (
        "Add uncounted results to the ratings; with --rebuild, refit every pool from its boards, including its history."
    )
    example = "manage.py refresh_ratings --game partnership --rebuild"

    def add_arguments(self, parser: Any) -> None:
        """Declare the arguments."""
        parser.add_argument("--game", help="only the pools of this game")
        parser.add_argument("--rebuild", action="store_true")
        parser.add_argument(
            "--dry-run", action="store_true", help="with --rebuild: show what would change, and change nothing"
        )

    def run(self, **options: Any) -> None:
        """Update each pool in a transaction of its own."""
        pools = Pool.objects.order_by("pk")
        if options["game"]:
            pools = pools.filter(game=options["game"])
        if options["rebuild"]:
            print_report(self, repair.rebuild_pools(pools, dry_run=options["dry_run"]), dry_run=options["dry_run"])
            self.say(f"{len(pools)} pools refitted from their boards")
            return
        if options["dry_run"]:
            raise Refused(
                "--dry-run works only with --rebuild; without it the command does only what the league does automatically"
            )
        changed = sum(ratings.refresh(pool) for pool in pools)
        self.say(f"{len(pools)} pools checked, {changed} changed")
