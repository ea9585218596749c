"""Matches and boards with what a list shows of them."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.db.models import Prefetch, QuerySet

from league.api.http.output import columns
from league.api.matches.serializers import LISTED, MatchOut, PartyOut
from league.domain.matches import sight
from league.models import Board, Match, Party, Sitting


def listed(viewer: User | None) -> QuerySet[Match]:
    """The matches that `viewer` may see, with the columns that a list shows. A query for the matches, one for their parties."""
    rows = Match.objects.select_related("pool", "tournament", "round").only(*columns(MatchOut))
    parties = _parties().only("match", *columns(PartyOut))
    return sight.matches(rows, viewer).prefetch_related(Prefetch("parties", parties, LISTED))


def whole(viewer: User | None) -> QuerySet[Match]:
    """The matches that `viewer` may see, with all that is shown of one. A query for the matches, one for their parties."""
    rows = Match.objects.select_related("pool", "tournament", "round")
    return sight.matches(rows, viewer).prefetch_related(Prefetch("parties", _parties()))


def _parties() -> QuerySet[Party]:
    return Party.objects.select_related("version__bot__owner").order_by("number")


def boards_of(rows: QuerySet[Board]) -> QuerySet[Board]:
    """These boards with their match and their sittings, without replays. A query for the boards, one for their sittings."""
    sittings = Sitting.objects.defer("replay").order_by("number")
    return rows.select_related("match").prefetch_related(Prefetch("sittings", sittings))
