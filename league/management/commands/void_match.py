"""manage.py void_match."""

from __future__ import annotations

from typing import Any

from league.domain.core.errors import Refused
from league.domain.upkeep import repair
from league.management.base import LeagueCommand
from league.management.repairs import print_report
from league.models import Match


class Command(LeagueCommand):
    """Strike out a result."""

    help = (
        "Make matches void: they stay readable and count for nobody; their pools are rated anew. With --again they are played once more, "
        "on the same deals. A void match is left as it is; --dry-run changes nothing and shows the ratings before and after."
    )
    example = "manage.py void_match 8f3k2pq7ab --why 'played with a broken rules file' --again --dry-run"

    def add_arguments(self, parser: Any) -> None:
        """Declare the arguments."""
        parser.add_argument("match", nargs="+", help="the id in the address of its page")
        parser.add_argument("--why", required=True, help="shown on its page")
        parser.add_argument("--again", action="store_true", help="play them once more")
        parser.add_argument("--dry-run", action="store_true", help="say what would change, and change nothing")

    def run(self, **options: Any) -> None:
        """Void, play again, rate anew."""
        rows = {
            row.public_id: row
            for row in Match.objects.select_related("pool", "tournament").filter(public_id__in=options["match"])
        }
        for name in options["match"]:
            if name not in rows:
                raise Refused(f"there is no match {name!r}")
        chosen = [rows[name] for name in dict.fromkeys(options["match"])]
        found = repair.strike(
            chosen, why=options["why"], actor="operator", again=options["again"], dry_run=options["dry_run"]
        )
        print_report(self, found, dry_run=options["dry_run"])
