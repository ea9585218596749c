"""The journal: the append-only record of what happened in the league."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from league.models import LeagueEvent, NoticeSource

DAY = timedelta(days=1)
# The kinds of lines about which players get notices (league.domain.notices.sources).
NOTICED = frozenset(
    {
        *("bot.failed", "bot.paused", "bot.stopped", "version.moved", "version.refused", "version.unbuilt", "pool.day"),
        *(
            "request.asked",
            "request.moved",
            "team.invited",
            "bot.offered",
            "match.challenged",
            "table.waits",
            "tournament.moved",
            "tournament.entered",
        ),
        *("assignment.due", "puzzle.day"),
        *("season.soon", "arena.soon", "arena.finished"),
        *("event.soon", "event.started", "event.finished", "event.entered"),
    }
)


def append(kind: str, subject: str, *, now: datetime, actor: str = "", **data: Any) -> LeagueEvent:
    """Append a line. `kind` is two words, such as "match.moved"; `subject` names a row, such as "match:8f3k2p"."""
    line = LeagueEvent(at=now, kind=kind, subject=subject, actor=actor, data=data)
    write([line])
    return line


def append_all(lines: Sequence[tuple[str, str, dict[str, Any]]], *, now: datetime, actor: str = "") -> None:
    """Append lines in one statement; each is (kind, subject, data)."""
    write([LeagueEvent(at=now, kind=kind, subject=subject, actor=actor, data=data) for kind, subject, data in lines])


def write(lines: Sequence[LeagueEvent]) -> None:
    """Append lines, and queue those about which players get notices."""
    LeagueEvent.objects.bulk_create(lines)
    if queued := [NoticeSource(line=line, due=line.at) for line in lines if line.kind in NOTICED]:
        NoticeSource.objects.bulk_create(queued)


def latest(subject: str, kinds: Sequence[str], most: int) -> list[LeagueEvent]:
    """Return the latest lines of these kinds about a row, newest first. One query, using the index on the subject."""
    return list(LeagueEvent.objects.filter(subject=subject, kind__in=kinds).order_by("-id")[:most])


def again_at(subject: str, kinds: Sequence[str], actor: str, most: int, *, now: datetime) -> datetime | None:
    """Return when `actor` may again add a line of these kinds about a row, with at most `most` lines a day; None: now.

    One query, using the index.
    """
    lines = LeagueEvent.objects.filter(subject=subject, kind__in=kinds, actor=actor, at__gt=now - DAY)
    latest = list(lines.order_by("-id").values_list("at", flat=True)[:most])
    return latest[-1] + DAY if len(latest) >= most else None


def latest_by(subject: str, kinds: Sequence[str], actor: str) -> LeagueEvent | None:
    """Return the latest line of these kinds that `actor` added about a row, or None. One query, using the index."""
    return LeagueEvent.objects.filter(subject=subject, kind__in=kinds, actor=actor).order_by("-id").first()
