"""The append-only record of what happened in the league."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from league.models import LeagueEvent


def append(kind: str, subject: str, *, now: datetime, actor: str = "", **data: Any) -> LeagueEvent:
    """Add one line. `kind` is a word pair like "match.moved", `subject` names one row like "match:8f3k2p"."""
    return LeagueEvent.objects.create(at=now, kind=kind, subject=subject, actor=actor, data=data)
