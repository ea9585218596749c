"""manage.py resume."""

from __future__ import annotations

from league.domain.operators.actions import ACTIONS
from league.management.operating import ActionCommand


class Command(ActionCommand):
    """Resume a suspended bot or tournament."""

    action = ACTIONS["resume"]
