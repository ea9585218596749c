"""manage.py lift_embargo."""

from __future__ import annotations

from league.domain.operators.actions import ACTIONS
from league.management.operating import ActionCommand


class Command(ActionCommand):
    """Show hidden replays."""

    action = ACTIONS["lift_embargo"]
