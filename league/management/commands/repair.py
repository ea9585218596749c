"""manage.py repair."""

from __future__ import annotations

import re
from typing import Any

from django.utils.dateparse import parse_datetime

from league.domain.core.errors import Refused
from league.domain.upkeep import repair, restoring
from league.management.base import LeagueCommand
from league.management.repairs import print_report


class Command(LeagueCommand):
    """Repair results after a mistake in the rules, or replays after a disk fault."""

    help = (
        "After a mistake in the rules of a game: void the matches played by some revisions, play them again by the current rules, and refit the "
        "ratings. With --unrate, results only leave the ratings. With --replays, after a disk fault: restore damaged replays or rebuild them from "
        "their actions; no result changes. Running it twice changes nothing more."
    )
    example = "manage.py repair --game partnership --revisions 1..2 --why 'the last trick was not counted' --dry-run"

    def add_arguments(self, parser: Any) -> None:
        """Declare the arguments."""
        parser.add_argument(
            "--replays",
            action="store_true",
            help="restore damaged replays and repeat damaged analyses; allows only --dry-run besides",
        )
        parser.add_argument("--game")
        parser.add_argument("--revisions", metavar="FIRST..LAST", help="such as 1..2, or 3 alone")
        parser.add_argument("--why", help="shown on the pages of the matches")
        parser.add_argument("--before", metavar="TIME", help="only results before, such as 2026-11-21T12:00:00Z")
        parser.add_argument("--unrate", action="store_true", help="keep the results; they only leave the ratings")
        parser.add_argument("--dry-run", action="store_true", help="show what would change, and change nothing")

    def run(self, **options: Any) -> None:
        """Repair and print the report."""
        if options["replays"]:
            self._restore(dry_run=options["dry_run"])
            return
        if not (options["game"] and options["revisions"] and options["why"]):
            raise Refused(
                "choose what to repair: --game, --revisions and --why after a mistake in the rules; --replays after a disk fault"
            )
        words = re.fullmatch(r"(\d{1,9})(?:\.\.(\d{1,9}))?", options["revisions"])
        if not words:
            raise Refused(f"--revisions {options['revisions']!r} is not a range; write 1..2, or 3 alone")
        before = parse_datetime(options["before"]) if options["before"] else None
        if options["before"] and (before is None or before.tzinfo is None):
            raise Refused(f"--before {options['before']!r} is not a time with a zone, such as 2026-11-21T12:00:00Z")
        report = repair.repair_revisions(
            options["game"],
            int(words[1]),
            int(words[2] or words[1]),
            why=options["why"],
            actor="operator",
            before=before,
            unrate=options["unrate"],
            dry_run=options["dry_run"],
        )
        print_report(self, report, dry_run=options["dry_run"])

    def _restore(self, *, dry_run: bool) -> None:
        report = restoring.restore_replays(actor="operator", dry_run=dry_run)
        self.say("nothing was changed; without --dry-run this would happen:" if dry_run else "done:")
        for what, names in (("put back", report.put_back), ("played again from their actions", report.played)):
            for name in names:
                self.say(f"  {what}: {name}")
        for name in report.lost:
            match = name.partition(",")[0]
            again = f"manage.py rerun_match {match} --why 'its replay is lost' plays the match again"
            self.say(f"  cannot be restored: {name}; its result stands ({again})")
        for name in report.again:
            self.say(f"  damaged, a worker will make it again: {name}")
        if report.is_empty:
            self.say("  nothing: there is nothing to repair")
        if report.lost:
            raise Refused(
                f"{len(report.lost)} of {len(report.lost) + len(report.put_back) + len(report.played)} damaged replays cannot be restored; "
                "restore a backup of the database, or play their matches again (the commands are above)"
            )
