"""manage.py repair."""

from __future__ import annotations

import re
from typing import Any

from django.utils.dateparse import parse_datetime

from league.domain.core.errors import Refused
from league.domain.upkeep import repair
from league.management.base import LeagueCommand
from league.management.repairs import print_report


class Command(LeagueCommand):
    """After a mistake in the rules."""

    help = (
        "The rules of a game were wrong: strike out what was played by some of their revisions, play it again by the present rules, rate "
        "anew. With --unrate results only leave the ratings. Doing it twice changes nothing more; --dry-run changes nothing at all."
    )
    example = "manage.py repair --game partnership --revisions 1..2 --why 'the last trick was not counted' --dry-run"

    def add_arguments(self, parser: Any) -> None:
        """Declare the arguments."""
        parser.add_argument("--game", required=True)
        parser.add_argument("--revisions", required=True, metavar="FIRST..LAST", help="such as 1..2, or 3 alone")
        parser.add_argument("--why", required=True, help="shown on the pages of the matches")
        parser.add_argument("--before", metavar="TIME", help="only results before, such as 2026-11-21T12:00:00Z")
        parser.add_argument("--unrate", action="store_true", help="keep the results; they only leave the ratings")
        parser.add_argument("--dry-run", action="store_true", help="say what would change, and change nothing")

    def run(self, **options: Any) -> None:
        """Repair and tell."""
        words = re.fullmatch(r"(\d{1,9})(?:\.\.(\d{1,9}))?", options["revisions"])
        if not words:
            raise Refused(f"--revisions {options['revisions']!r} is no range; write 1..2, or 3 alone")
        before = parse_datetime(options["before"]) if options["before"] else None
        if options["before"] and (before is None or before.tzinfo is None):
            raise Refused(f"--before {options['before']!r} is no time with a zone, such as 2026-11-21T12:00:00Z")
        found = repair.repair_revisions(
            options["game"],
            int(words[1]),
            int(words[2] or words[1]),
            why=options["why"],
            actor="operator",
            before=before,
            unrate=options["unrate"],
            dry_run=options["dry_run"],
        )
        print_report(self, found, dry_run=options["dry_run"])
