"""manage.py void_match"""

from __future__ import annotations

from typing import Any

from league.domain import matches, ratings
from league.domain.errors import Refused
from league.enums import MatchStatus
from league.management.base import LeagueCommand
from league.models import Match


class Command(LeagueCommand):
    """Strike out a result."""

    help = "Make a match void: it stays readable and counts for nobody; its pool is rated anew. A void match is left as it is."
    example = "manage.py void_match 8f3k2pq7ab --why 'played with a broken rules file'"

    def add_arguments(self, parser: Any) -> None:
        """Declare the arguments."""
        parser.add_argument("match", help="the id in the address of its page")
        parser.add_argument("--why", required=True, help="shown on its page")

    def run(self, **options: Any) -> None:
        """Void and rate anew."""
        match = Match.objects.select_related("pool").filter(public_id=options["match"]).first()
        if match is None:
            raise Refused(f"there is no match {options['match']!r}")
        if match.status == MatchStatus.VOID:
            self.say(f"match {match.public_id} is void already")
            return
        matches.void(match, actor="operator", why=options["why"])
        ratings.refresh(match.pool)
        self.say(f"match {match.public_id} is void")
