"""manage.py embargo."""

from __future__ import annotations

from league.domain.operators.actions import ACTIONS
from league.management.operating import ActionCommand


class Command(ActionCommand):
    """Hold back replays."""

    action = ACTIONS["embargo"]
