"""The reasons why an event waits: matches of its running stages, matches that could not be played, and why it was cancelled."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Q

from league.domain.tournaments import progress
from league.enums import MatchStatus, TournamentStatus
from league.models import Event, LeagueEvent, Match, Tournament

UNPLAYED = Q(status__in=(MatchStatus.QUEUED, MatchStatus.LEASED, MatchStatus.RUNNING))


@dataclass(frozen=True)
class StageWait:
    """A running tournament of an event. unplayed: its queued and running matches; stalls: its void matches and their replacements."""

    tournament: Tournament
    unplayed: int
    stalls: list[progress.Stall]


def waits(event: Event) -> list[StageWait]:
    """Return the running tournaments of an event, which must have been loaded. One query, and another for each with a void match."""
    running = [row for row in event.tournaments.all() if row.status == TournamentStatus.RUNNING]
    if not running:
        return []
    rows = Match.objects.filter(tournament__in=running).values("tournament").order_by()
    counts = {
        pk: (unplayed, void)
        for pk, unplayed, void in rows.annotate(
            unplayed=Count("pk", filter=UNPLAYED), void=Count("pk", filter=Q(status=MatchStatus.VOID))
        ).values_list("tournament", "unplayed", "void")
    }
    stages = []
    for row in sorted(running, key=lambda row: (row.stage or 0, row.group)):
        unplayed, void = counts.get(row.pk, (0, 0))
        stages.append(StageWait(row, unplayed, progress.stalled(row) if void else []))
    return stages


def why_cancelled(event: Event) -> str:
    """Return why an event could not go on; "" if it is running or finished, or ended with a cancelled stage. At most one query."""
    if event.status != TournamentStatus.CANCELLED:
        return ""
    return _last_why(event, "event.refused")


def why_not_started(event: Event, *, since: datetime | None = None) -> str:
    """Return why an event did not start at its time; "" if it did, or if its time was changed since. One query."""
    return _last_why(event, "event.not_started", since)


def _last_why(event: Event, kind: str, since: datetime | None = None) -> str:
    rows = LeagueEvent.objects.filter(subject=f"event:{event.slug}", kind=kind)
    row = (rows if since is None else rows.filter(at__gte=since)).order_by("-id").first()
    return str(row.data["why"]) if row else ""
