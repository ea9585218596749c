"""manage.py revalidate."""

from __future__ import annotations

from typing import Any

from league.domain.matches import validation
from league.management.base import LeagueCommand, find_version


class Command(LeagueCommand):
    """Repeat the validation of an upload."""

    help = "Repeat the validation of a version, after a void match or a rejection."
    example = "manage.py revalidate rufo:3"

    def add_arguments(self, parser: Any) -> None:
        """Declare the arguments."""
        parser.add_argument("version", help="bot or bot:number")

    def run(self, **options: Any) -> None:
        """Queue the validation."""
        version = find_version(options["version"])
        validation.validate_again(version)
        self.say(f"{version}: its validation is queued")
