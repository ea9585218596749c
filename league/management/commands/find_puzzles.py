"""manage.py find_puzzles."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import Any

from django.core.management.base import CommandError

from league.domain.puzzles import finding
from league.management.base import LeagueCommand


class Command(LeagueCommand):
    """Puzzles of the league's own matches."""

    help = (
        "Look for puzzles in matches that were judged fairly since the last pass, and show them with those of PUZZLES. It runs at the "
        "lowest priority, for so many seconds and the match at hand; let a timer call it, where the pages are served. Only finished "
        "matches count that everybody may see."
    )
    example = "manage.py find_puzzles --seconds 300"

    def add_arguments(self, parser: Any) -> None:
        """Declare the arguments."""
        parser.add_argument("--seconds", type=float, default=300.0, help="begin no further match after so long (300)")

    def run(self, **options: Any) -> None:
        """One pass, told."""
        with suppress(OSError):
            os.nice(19)
        try:
            found = finding.look(options["seconds"], advance=lambda name: self.say(f"match {name}"))
        except finding.BusyError as error:
            raise CommandError(str(error)) from None
        left = "; judged matches wait for the next pass" if found.left else ""
        self.say(f"{found.made} new puzzles in {found.matches} matches, {found.dropped} taken out{left}")
