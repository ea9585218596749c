"""Matches and boards with what a list shows of them."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.db.models import Prefetch, QuerySet

from league.domain.matches import sight
from league.models import Board, Match, Party, Sitting

# long texts that lists do not show
LONG_TEXTS = ("faults", "stderr", "fault_detail")


def listed(viewer: User | None, *, whole: bool = False) -> QuerySet[Match]:
    """Those that `viewer` may see, with what a list shows of them, or one of them (`whole`). A query for the matches, one for their parties."""
    parties = Party.objects.select_related("version__bot__owner").order_by("number")
    rows = Match.objects.select_related("pool", "tournament", "round")
    return sight.matches(rows, viewer).prefetch_related(
        Prefetch("parties", parties if whole else parties.defer(*LONG_TEXTS))
    )


def boards_of(rows: QuerySet[Board]) -> QuerySet[Board]:
    """These boards with their match and their sittings, without replays. A query for the boards, one for their sittings."""
    sittings = Sitting.objects.defer("replay").order_by("number")
    return rows.select_related("match").prefetch_related(Prefetch("sittings", sittings))
