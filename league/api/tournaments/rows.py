"""Queries of tournaments, events and circuits with everything that responses show."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.contrib.auth.models import User
from django.db.models import Prefetch, QuerySet

from league.domain.core.counts import count_of
from league.domain.matches import sight
from league.domain.tournaments import counting
from league.domain.tournaments.brackets import RoundMatches
from league.domain.tournaments.circuits import with_last_due
from league.enums import MatchStatus
from league.models import Bot, Circuit, Entry, Event, Tournament


def listed(viewer: User | None) -> QuerySet[Tournament]:
    """Return the tournaments that `viewer` may see. No query."""
    rows = Tournament.objects.select_related("owner__user", "pool")
    return sight.tournaments(rows, viewer).annotate(
        entry_count=count_of(Entry.objects.all(), "tournament"),
    )


def counted(rows: Sequence[Tournament]) -> Sequence[Tournament]:
    """Return these tournaments with the numbers of their matches. One query."""
    counts = counting.count_matches(rows)
    for row in rows:
        vars(row).update(match_count=counts[row.pk].total(), finished_count=counts[row.pk][MatchStatus.FINISHED])
    return rows


def events(rows: QuerySet[Event], stages: QuerySet[Tournament]) -> QuerySet[Event]:
    """Return these events, each with its tournaments among `stages`. One query for the events, one for the tournaments."""
    return rows.select_related("owner__user").prefetch_related(Prefetch("tournaments", stages))


def circuits() -> QuerySet[Circuit]:
    """Return every circuit with the names of its bots and the time of its latest season. One query for the circuits, one for the bots."""
    rows = with_last_due(Circuit.objects.select_related("owner__user"))
    return rows.prefetch_related(Prefetch("bots", Bot.objects.only("slug")))


def describe_round(row: RoundMatches) -> dict[str, Any]:
    """Return the response about a round, without a serializer: there are many matches, and they are plain values already."""
    return {"number": row.number, "resting": row.resting, "matches": [vars(match) for match in row.matches]}
