"""Queued matches that may not be played now, whoever's turn it is."""

from __future__ import annotations

from django.db.models import Exists, OuterRef, QuerySet

from league.enums import BotState, MatchKind
from league.models import Match, Party


def matches_on_hold(matches: QuerySet[Match]) -> QuerySet[Match]:
    """Those of `matches` at whose table a bot sits that waits for the first test of its pause (league.domain.matches.health)."""
    return matches.filter(_waits(), kind=MatchKind.TOURNAMENT)


def playable_matches(matches: QuerySet[Match]) -> QuerySet[Match]:
    """Those of `matches` that wait for no such test."""
    return matches.exclude(_waits(), kind=MatchKind.TOURNAMENT)


def _waits() -> Exists:
    paused = Party.objects.filter(match=OuterRef("pk"), version__bot__state=BotState.PAUSED, version__bot__retests=0)
    return Exists(paused.exclude(version__bot__paused_for=""))
