"""manage.py publish_data."""

from __future__ import annotations

from datetime import date
from typing import Any

from league.domain.core.errors import Refused
from league.domain.upkeep import open_data
from league.management.base import LeagueCommand


class Command(LeagueCommand):
    """Write the open data of a month."""

    help = (
        "Write the missing files of open data of a month: the public matches of each game whose owners accept the licence. Complete files never "
        "change. The scheduler does this every night for the last month."
    )
    example = "manage.py publish_data --month 2026-10"

    def add_arguments(self, parser: Any) -> None:
        """Declare the arguments."""
        parser.add_argument("--month", help="this month (UTC); by default the last one")

    def run(self, **options: Any) -> None:
        """Write the files and print each one."""
        try:
            month = date.fromisoformat(f"{options['month']}-01") if options["month"] else None
        except ValueError as error:
            raise Refused(f"--month takes a month such as 2026-10, not {options['month']!r}") from error
        count = 0
        for file in open_data.write_missing(month):
            count += 1
            self.say(
                f"{file}: {file.matches} matches, {file.replays} replays, {file.bytes:,} bytes, sha256 {file.sha256}"
            )
        self.say(f"{count} files written")
