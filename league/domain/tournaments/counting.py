"""Counts of matches by status, for lists of tournaments."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from django.db.models import Count

from league.models import Match, Tournament


def count_matches(tournaments: Iterable[Tournament]) -> dict[int, Counter[str]]:
    """Return for each tournament the number of its matches in each status. One query, answered by an index."""
    counts: dict[int, Counter[str]] = {tournament.pk: Counter() for tournament in tournaments}
    # Counting ids, or a condition on the kind, would read the rows; `work` also has audits and tries, but none belong to a tournament.
    rows = Match.work.filter(tournament__in=list(counts)).order_by().values_list("tournament", "status")
    for pk, status, number in rows.annotate(number=Count("*")):
        if pk is not None:
            counts[pk][status] = number
    return counts
