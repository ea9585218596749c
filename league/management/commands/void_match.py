"""manage.py void_match."""

from __future__ import annotations

from league.domain.operators.actions import ACTIONS
from league.management.operating import ActionCommand


class Command(ActionCommand):
    """Void matches."""

    action = ACTIONS["void"]
