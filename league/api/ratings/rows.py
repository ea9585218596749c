"""Queries of pools and their histories with everything that responses show."""

from __future__ import annotations

from django.db.models import Count, Min, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce

from league.domain.core.counts import count_of
from league.enums import MatchStatus
from league.models import Match, Pool, PoolSums, Rating, RatingPoint


def pools() -> QuerySet[Pool]:
    """Return every pool, with the numbers of its bots and matches. No query."""
    waiting = Match.objects.filter(pool=OuterRef("pk"), status=MatchStatus.FINISHED, rated=True, counted=None)
    by_pool = waiting.order_by().values("pool")
    sums = PoolSums.objects.filter(pool=OuterRef("pk"))
    return Pool.objects.annotate(
        bot_count=count_of(Rating.objects.filter(listed=True), "pool"),
        uncounted=Coalesce(Subquery(by_pool.annotate(number=Count("pk")).values("number")), 0),
        uncounted_since=Subquery(by_pool.annotate(first=Min("finished")).values("first")),
        fitted_until=Subquery(sums.values("fitted_until")),
        ranked_until=Subquery(sums.values("ranked_until")),
    )


def points() -> QuerySet[RatingPoint]:
    """Return every point of all rating histories, with version and match. No query."""
    return RatingPoint.objects.select_related("version__bot__owner", "version__bot__team", "match")
