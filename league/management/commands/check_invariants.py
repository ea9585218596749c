"""manage.py check_invariants."""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import timedelta
from typing import Any

from django.core.management.base import CommandError

from league.domain.core import clock
from league.domain.upkeep import invariants
from league.management.base import LeagueCommand


class Command(LeagueCommand):
    """Check the invariants."""

    help = (
        "Check the tables: no board rated twice, nothing void rated, sums and ratings agree with the boards, no board without a finished "
        "match, no stuck lease. Changes nothing. Exit code 1 if something is wrong; each finding says what to do."
    )
    example = "manage.py check_invariants --hours 2"

    def add_arguments(self, parser: Any) -> None:
        """Declare the arguments."""
        parser.add_argument(
            "--hours", type=float, help="check only the boards of matches that finished in this time; by default all"
        )
        parser.add_argument("--json", action="store_true")

    def run(self, **options: Any) -> None:
        """Check and print the findings."""
        now = clock.now_or(None)
        since = None if options["hours"] is None else now - timedelta(hours=options["hours"])
        findings = invariants.check_all(since=since, now=now, actor="operator")
        if options["json"]:
            self.say(json.dumps([asdict(finding) for finding in findings]))
        else:
            for finding in findings:
                self.say(str(finding))
        if findings:
            raise CommandError(f"{len(findings)} invariants are violated")
        if not options["json"]:
            self.say("all invariants hold")
