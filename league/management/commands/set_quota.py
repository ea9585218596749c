"""manage.py set_quota."""

from __future__ import annotations

from league.domain.operators.actions import ACTIONS
from league.management.operating import ActionCommand


class Command(ActionCommand):
    """Change a limit of a player."""

    action = ACTIONS["quota"]
