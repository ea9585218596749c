"""manage.py reconcile."""

from __future__ import annotations

from typing import Any

from league import tasks
from league.domain.upkeep import reconcile
from league.management.base import LeagueCommand


class Command(LeagueCommand):
    """Run one pass of the scheduler."""

    help = "Repair expired leases, missing matches, finished tournaments, uncounted results and lost hints. Safe to run at any time."
    example = "manage.py reconcile"

    def run(self, **options: Any) -> None:
        """Run one pass and print its report."""
        self.say(str(reconcile.reconcile()))
        tasks.wake()
