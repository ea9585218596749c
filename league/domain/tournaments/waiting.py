"""What an event waits for: the matches of its running stages, those that could not be played, and why it ended where it could not go on."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Count, Q

from league.domain.tournaments import progress
from league.enums import MatchStatus, TournamentStatus
from league.models import Event, LeagueEvent, Match, Tournament

LEFT = Q(status__in=(MatchStatus.QUEUED, MatchStatus.LEASED, MatchStatus.RUNNING))


@dataclass(frozen=True)
class Wait:
    """A running tournament of an event. left: matches that wait or are being played now; stalls: those that have failed before."""

    tournament: Tournament
    left: int
    stalls: list[progress.Stall]

    @property
    def stuck(self) -> bool:
        """Whether it cannot be finished unless somebody does something."""
        return any(not stall.again for stall in self.stalls)


def waits(event: Event) -> list[Wait]:
    """Of each running tournament of the event, whose tournaments are read already. One query, and one more for each in which something was void."""
    running = [one for one in event.tournaments.all() if one.status == TournamentStatus.RUNNING]
    if not running:
        return []
    rows = Match.objects.filter(tournament__in=running).values("tournament").order_by()
    counts = {
        pk: (left, void)
        for pk, left, void in rows.annotate(
            left=Count("pk", filter=LEFT), void=Count("pk", filter=Q(status=MatchStatus.VOID))
        ).values_list("tournament", "left", "void")
    }
    found = []
    for one in sorted(running, key=lambda one: (one.stage or 0, one.group)):
        left, void = counts.get(one.pk, (0, 0))
        found.append(Wait(one, left, progress.stalled(one) if void else []))
    return found


def why_cancelled(event: Event) -> str:
    """Why an event could not go on, "" of one that goes on, is finished, or ended with a stage that was cancelled. One query at most."""
    if event.status != TournamentStatus.CANCELLED:
        return ""
    return _last_why(event, "event.refused")


def why_not_started(event: Event) -> str:
    """Why an event did not begin at its moment, "" where that never happened. One query."""
    return _last_why(event, "event.not_started")


def _last_why(event: Event, kind: str) -> str:
    told = LeagueEvent.objects.filter(subject=f"event:{event.slug}", kind=kind).order_by("-id").first()
    return str(told.data["why"]) if told else ""
