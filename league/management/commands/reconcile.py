"""manage.py reconcile."""

from __future__ import annotations

from typing import Any

from league import tasks
from league.domain.upkeep import reconcile
from league.management.base import LeagueCommand


class Command(LeagueCommand):
    """One pass of the scheduler, by hand."""

    help = "Put right what was lost: expired leases, missing matches, tournaments that are over, uncounted results, hints. Safe to run at any time."
    example = "manage.py reconcile"

    def run(self, **options: Any) -> None:
        """One pass."""
        self.say(str(reconcile.reconcile()))
        tasks.wake()
