"""manage.py ban."""

from __future__ import annotations

from league.domain.operators.actions import ACTIONS
from league.management.operating import ActionCommand


class Command(ActionCommand):
    """Ban a player."""

    action = ACTIONS["ban"]
