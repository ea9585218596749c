"""manage.py keep_replays."""

from __future__ import annotations

from collections import Counter
from typing import Any

from league.domain.upkeep import retention
from league.management.base import LeagueCommand


class Command(LeagueCommand):
    """Apply changed retention settings."""

    help = (
        "Apply changed KEEP_RATED_DAYS, KEEP_UNRATED_DAYS or KEEP_VALIDATION_DAYS to existing replays. New replays follow them automatically, "
        "and the scheduler deletes expired replays every night. Results are never deleted."
    )
    example = "manage.py keep_replays --dry-run"

    def add_arguments(self, parser: Any) -> None:
        """Declare the arguments."""
        parser.add_argument("--dry-run", action="store_true", help="show what would change, and change nothing")

    def run(self, **options: Any) -> None:
        """Set the new dates and print the counts."""
        changed = Counter(until is None for _, _, until in retention.apply_settings(dry_run=options["dry_run"]))
        self.say("nothing was changed; without --dry-run this would happen:" if options["dry_run"] else "done:")
        self.say(
            f"  kept for ever: {changed[True]} matches; kept until a day that has changed: {changed[False]} matches"
        )
