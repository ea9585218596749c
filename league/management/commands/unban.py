"""manage.py unban."""

from __future__ import annotations

from league.domain.operators.actions import ACTIONS
from league.management.operating import ActionCommand


class Command(ActionCommand):
    """End a ban."""

    action = ACTIONS["unban"]
