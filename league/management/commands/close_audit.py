"""manage.py close_audit."""

from __future__ import annotations

from league.domain.operators.actions import ACTIONS
from league.management.operating import ActionCommand


class Command(ActionCommand):
    """Close the case of an audit that differs or failed."""

    action = ACTIONS["conclude"]
