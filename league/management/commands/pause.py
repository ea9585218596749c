"""manage.py pause."""

from __future__ import annotations

from league.domain.operators.actions import ACTIONS
from league.management.operating import ActionCommand


class Command(ActionCommand):
    """Suspend a bot or a tournament."""

    action = ACTIONS["pause"]
