"""How many matches of each status tournaments have, for lists."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from django.db.models import Count

from league.models import Match, Tournament
from league.service import marks
from league.service.remembered import Remembered

MOST = 20_000  # tournaments that a process remembers
_counts: Remembered[int, Counter[str]] = Remembered(MOST)


def count_matches(tournaments: Iterable[Tournament]) -> dict[int, Counter[str]]:
    """By tournament the number of its matches in each status. One query, and one more where any of them has changed since this process looked."""
    return _counts.of_many({one.pk: marks.of_tournament(one.pk) for one in tournaments}, _count)


def _count(missing: Mapping[int, object]) -> dict[int, Counter[str]]:
    found: dict[int, Counter[str]] = {pk: Counter() for pk in missing}
    # None of them is an audit or a try, so an index has it all
    rows = Match.work.filter(tournament__in=list(missing)).order_by().values_list("tournament", "status")
    for pk, status, number in rows.annotate(found=Count("pk")):
        if pk is not None:
            found[pk][status] = number
    return found
