"""manage.py cancel_tournament."""

from __future__ import annotations

from league.domain.operators.actions import ACTIONS
from league.management.operating import ActionCommand


class Command(ActionCommand):
    """Cancel a tournament."""

    action = ACTIONS["cancel"]
