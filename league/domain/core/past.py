"""Which results counted at a past moment. Nothing is deleted: a result that was struck out later is still there, with the event that says when."""

from __future__ import annotations

from datetime import datetime

from django.db.models import Q, QuerySet
from django.db.models.functions import Substr

from league.enums import MatchStatus
from league.models import LeagueEvent, Match


def finished(matches: QuerySet[Match], at: datetime | None) -> QuerySet[Match]:
    """Those of `matches` that were finished, and not void, at that moment; now where it is None."""
    if at is None:
        return matches.filter(status=MatchStatus.FINISHED)
    struck = LeagueEvent.objects.filter(kind="match.moved", data__to="void", data__was="finished", at__gt=at)
    # A part of the one statement: of two, a match that is struck out in between would be in neither.
    later = struck.annotate(public_id=Substr("subject", len("match:") + 1)).values("public_id")
    counted_then = Q(status=MatchStatus.FINISHED) | Q(status=MatchStatus.VOID, public_id__in=later)
    return matches.filter(counted_then, finished__lte=at)
