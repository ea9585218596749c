"""Past states of the results. Nothing is deleted: a voided result stays, with the event that says when it was voided."""

from __future__ import annotations

from datetime import datetime

from django.db.models import Q, QuerySet
from django.db.models.functions import Substr

from league.enums import MatchStatus
from league.models import LeagueEvent, Match


def finished(matches: QuerySet[Match], at: datetime | None) -> QuerySet[Match]:
    """Return those of `matches` that were finished and not void at that time; None means now."""
    if at is None:
        return matches.filter(status=MatchStatus.FINISHED)
    struck = LeagueEvent.objects.filter(kind="match.moved", data__to="void", data__was="finished", at__gt=at)
    # One statement: with two, a match voided in between would be in neither result.
    later = struck.annotate(public_id=Substr("subject", len("match:") + 1)).values("public_id")
    counted_then = Q(status=MatchStatus.FINISHED) | Q(status=MatchStatus.VOID, public_id__in=later)
    return matches.filter(counted_then, finished__lte=at)
