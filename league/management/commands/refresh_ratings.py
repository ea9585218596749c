"""manage.py refresh_ratings"""

from __future__ import annotations

from typing import Any

from league.domain import ratings
from league.management.base import LeagueCommand
from league.models import Pool


class Command(LeagueCommand):
    """Ratings by hand."""

    help = (
        "Take uncounted results into the ratings; with --rebuild fit every pool anew from its boards, history included."
    )
    example = "manage.py refresh_ratings --game partnership --rebuild"

    def add_arguments(self, parser: Any) -> None:
        """Declare the arguments."""
        parser.add_argument("--game", help="only the pools of this game")
        parser.add_argument("--rebuild", action="store_true")

    def run(self, **options: Any) -> None:
        """Refresh each pool in a transaction of its own."""
        pools = Pool.objects.order_by("pk")
        if options["game"]:
            pools = pools.filter(game=options["game"])
        changed = sum(ratings.refresh(pool, rebuild=options["rebuild"]) for pool in pools)
        self.say(f"{len(pools)} pools looked at, {changed} changed")
