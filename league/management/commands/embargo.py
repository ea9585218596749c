"""manage.py embargo."""

from __future__ import annotations

from league.domain.operators.actions import ACTIONS
from league.management.operating import ActionCommand


class Command(ActionCommand):
    """Hide replays."""

    action = ACTIONS["embargo"]
