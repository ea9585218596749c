"""Matches with what a list shows of them."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.db.models import Prefetch, QuerySet

from league.domain.matches import sight
from league.models import Match, Party

# long texts that lists do not show
LONG_TEXTS = ("faults", "stderr", "fault_detail")


def listed(viewer: User | None, *, whole: bool = False) -> QuerySet[Match]:
    """Those that `viewer` may see, with what a list shows of them, or one of them (`whole`). A query for the matches, one for their parties."""
    parties = Party.objects.select_related("version__bot__owner").order_by("number")
    return sight.matches(Match.objects.select_related("pool", "tournament", "round"), viewer).prefetch_related(
        Prefetch("parties", parties if whole else parties.defer(*LONG_TEXTS))
    )
