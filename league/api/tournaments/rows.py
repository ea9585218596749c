"""Tournaments, events and circuits with what a list shows of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.contrib.auth.models import User
from django.db.models import Prefetch, QuerySet

from league.domain.core.counts import count_of
from league.domain.matches import sight
from league.domain.tournaments import counting
from league.domain.tournaments.brackets import RoundMatches
from league.enums import MatchStatus
from league.models import Circuit, Entry, Event, Tournament


def listed(viewer: User | None) -> QuerySet[Tournament]:
    """Those that `viewer` may see. No query."""
    rows = Tournament.objects.select_related("owner__user", "pool")
    return sight.tournaments(rows, viewer).annotate(
        entry_count=count_of(Entry.objects.all(), "tournament"),
    )


def counted(rows: Sequence[Tournament]) -> Sequence[Tournament]:
    """With the numbers of their matches. Two queries at most."""
    counts = counting.count_matches(rows)
    for row in rows:
        vars(row).update(match_count=counts[row.pk].total(), finished_count=counts[row.pk][MatchStatus.FINISHED])
    return rows


def events(rows: QuerySet[Event], stages: QuerySet[Tournament]) -> QuerySet[Event]:
    """These events, each with those of these tournaments that are its own. A query for the events, one for the tournaments."""
    return rows.select_related("owner__user").prefetch_related(Prefetch("tournaments", stages))


def circuits() -> QuerySet[Circuit]:
    """Every circuit with its bots and its seasons. A query for each of the three."""
    return Circuit.objects.select_related("owner__user").prefetch_related("bots", "seasons")


def tell_round(found: RoundMatches) -> dict[str, Any]:
    """What is told of a round. Its matches are as they are told already, and there are many."""
    return {"number": found.number, "resting": found.resting, "matches": [vars(match) for match in found.matches]}
