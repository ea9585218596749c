"""Queries of matches and boards with the columns that responses show."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.contrib.auth.models import User
from django.db.models import Prefetch, QuerySet

from league.api.http.output import column_names, describe
from league.api.matches.serializers import MatchOut, PartyOut
from league.domain.matches import sight
from league.models import Board, Match, Party, Sitting


def listed(viewer: User | None) -> QuerySet[Match, dict[str, Any]]:
    """Return the matches that `viewer` may see, with the columns for a list. No query."""
    rows: QuerySet[Match, dict[str, Any]] = sight.matches(Match.objects.all(), viewer).values(
        "id", *column_names(MatchOut)
    )
    return rows


def describe_matches(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the responses about rows of `listed`. One query, for their parties."""
    parties: dict[int, list[dict[str, Any]]] = {row["id"]: [] for row in rows}
    seated = Party.objects.filter(match__in=list(parties)).order_by("number")
    for party in seated.values("match", *column_names(PartyOut)):
        parties[party["match"]].append(describe(PartyOut, party))
    return [describe(MatchOut, {**row, "parties": parties[row["id"]]}) for row in rows]


def whole(viewer: User | None) -> QuerySet[Match]:
    """Return the matches that `viewer` may see, with all columns. One query for them, one for their parties."""
    parties = Party.objects.select_related("version__bot__owner", "version__bot__team").order_by("number")
    rows = Match.objects.select_related("pool", "tournament", "round")
    return sight.matches(rows, viewer).prefetch_related(Prefetch("parties", parties))


def boards_of(rows: QuerySet[Board]) -> QuerySet[Board]:
    """Return these boards with their match and their sittings. One query for the boards, one for their sittings."""
    sittings = Sitting.objects.order_by("number")
    return rows.select_related("match").prefetch_related(Prefetch("sittings", sittings))
