"""Requests of players on finished matches (judgements and consultations): what they have in common. League.domain.jobs does the work."""

from __future__ import annotations

from league.enums import JudgementStatus
from league.models import Consultation, Judgement, Player

FAILED_DAYS = 30  # A failure is kept for this time; after that the work may be asked for again
WAITING = (JudgementStatus.ASKED, JudgementStatus.WORKING)


def position_of_next(model: type[Judgement | Consultation], player: Player) -> int:
    """Return the position in the queue of what a player asks for next: the number of their requests that wait."""
    return model._default_manager.filter(asked_by=player, status__in=WAITING).count()
